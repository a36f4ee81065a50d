// Applies a checked file to a stage, in two steps: the plan compares the file with the store and writes nothing, which
// is the whole dry run; `apply` carries out the plan. Applying a file twice writes nothing the second time.
import { canonicalJson } from '../../foundation/ids/index.ts';
import type { JsonObject } from '../../protocol/wire/index.ts';
import { writeKey } from '../administration/index.ts';
import {
  type CatalogueDocument,
  type ModelDocument,
  type ModelProviderDocument,
  resolveListedIds,
} from '../catalogue/index.ts';
import { changedSettings } from '../keys/index.ts';
import { loadModelList } from '../model-list/index.ts';
import { withoutFormerKeyTexts } from './applied-file.ts';
import { isListedModels } from './catalogue-schema.ts';
import { changedMembers } from './changed-members.ts';
import { guardrailReferenceIssues, modelReferenceIssues } from './check-references.ts';
import { completeCatalogue } from './complete-catalogue.ts';
import { isSame } from './complete-entry.ts';
import type { FilledMembers } from './complete-providers.ts';
import { keyMembers } from './describe-changes.ts';
import type { GatewayFile } from './gateway-file.ts';
import { planKeys } from './plan-keys.ts';
import { planWorkspace } from './plan-workspace.ts';
import {
  type ApplyStep,
  type CreatedKey,
  changeOf,
  describe,
  type FileApplyOptions,
  type PlannedChange,
  type PlanningContext,
} from './planning.ts';
import { formatProblem, type Problem, sortProblems, toProblem } from './problems.ts';
import { withoutUnchanged, writtenPlace } from './without-unchanged.ts';
import { isMapping } from './yaml-source.ts';

export interface GatewayFilePlan {
  /** The new catalogue. */
  readonly catalogue: CatalogueDocument;
  /** Ids of the models that the file makes. */
  readonly modelIds: ReadonlySet<string>;
  readonly changes: readonly PlannedChange[];
  /** Fields of the catalogue that the file omits, and that are not stored yet. */
  readonly filled: readonly FilledMembers[];
  /** Requests of the file without effect, one line each with the reason. */
  readonly notes: readonly string[];
  /** Keys of the file that were revoked and that the file does not revoke, as `key ci of team`. */
  readonly revokedKeys: readonly string[];
  /** Applies the plan. Throws ApplyInterrupted. */
  apply(): Promise<ApplyReport>;
}

export interface ApplyReport {
  readonly changes: PlannedChange[];
  readonly createdKeys: CreatedKey[];
  readonly notes: readonly string[];
}

/**
 * Thrown when the store cannot be changed to match the file, because a key is taken, credit shards would be lost, or an
 * activated revision would change.
 */
export class GatewayFileRefused extends Error {
  override readonly name = 'GatewayFileRefused';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => formatProblem(problem, 'the file')).join('; '));
    this.problems = problems;
  }
}

/**
 * Thrown when a part of the file was applied before something failed. The keys in the report may have been stored and
 * cannot be made again, so show them. Applying the file once more does the rest.
 */
export class ApplyInterrupted extends Error {
  override readonly name = 'ApplyInterrupted';
  readonly report: ApplyReport;
  constructor(report: ApplyReport, cause: unknown) {
    super(`the file was applied in part: ${cause instanceof Error ? cause.message : 'unknown failure'}`, { cause });
    this.report = report;
  }
}

/** Thrown when the catalogue has changed since the writer of the file read it. Nothing was written. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
  constructor() {
    super('the catalogue has changed meanwhile');
  }
}

/** Applies a file. Throws GatewayFileRefused before anything is written, ApplyInterrupted after that. */
export const applyGatewayFile = async (options: FileApplyOptions): Promise<ApplyReport> =>
  (await planGatewayFile(options)).apply();

/** Plans a file, and only reads. Throws GatewayFileRefused. */
export async function planGatewayFile(input: FileApplyOptions): Promise<GatewayFilePlan> {
  const modelList = input.modelList ?? (await loadModelList());
  const options = { ...input, modelList, region: input.region ?? input.readVariable?.('AWS_REGION') };
  const { readBefore } = options;
  const former = readBefore === undefined ? await options.stores.catalogues.read() : readBefore.catalogue;
  const { document: target, filled, issues: faults } = completeCatalogue(options.file, sourcesOf(options, former));
  const catalogue = onStored(options, target, former);
  const modelIds = new Set(catalogue.models.map(({ id }) => id));
  const planning: PlanningContext = {
    ...options,
    modelIds,
    issues: [...faults],
    notes: [],
    revokedKeys: [],
    placeOf: (path) => path,
  };
  // Other files name all their models, which the reader has checked.
  if (faults.length === 0 && options.file.models.some(isListedModels)) {
    planning.issues.push(...modelReferenceIssues(options.file, target));
  }
  if (options.file.guardrails === undefined) {
    const known = new Set(catalogue.guardrails?.map(({ id }) => id));
    planning.issues.push(...guardrailReferenceIssues(options.file, known));
  }
  const steps = [planCatalogue(planning, former, catalogue)];
  const fileWithIds = withModelIds(options.file, target.models);
  const file = changedPart(options, fileWithIds, target);
  const placeOf: PlanningContext['placeOf'] = (path) => writtenPlace(path, file, fileWithIds);
  const rest: PlanningContext = { ...planning, file, issues: [], placeOf };
  for (const [index, workspace] of file.workspaces.entries()) {
    steps.push(...(await planWorkspace(rest, workspace, ['workspaces', index])));
  }
  steps.push(...(await planKeySteps(rest)), ...(await planAccess(rest)));
  const { notes, revokedKeys } = planning;
  const issues = [...planning.issues, ...rest.issues.map((issue) => ({ ...issue, path: placeOf(issue.path) }))];
  if (issues.length > 0) {
    throw new GatewayFileRefused(sortProblems(issues.map((issue) => toProblem(issue, options.lineOf?.(issue.path)))));
  }
  const changes = steps.flatMap(({ planned }) => planned);
  const idsOfFile = new Set(target.models.map(({ id }) => id));
  return { catalogue, modelIds: idsOfFile, changes, filled, notes, revokedKeys, apply: () => carryOut(steps, notes) };
}

async function carryOut(steps: readonly ApplyStep[], notes: readonly string[]): Promise<ApplyReport> {
  const report: ApplyReport = { changes: [], createdKeys: [], notes };
  try {
    for (const { planned, write, createdKey } of steps) {
      // The key is reported before it is written, because a write whose answer is lost may have been made.
      if (createdKey !== undefined) report.createdKeys.push(createdKey);
      const done = planned.every(({ change }) => change === 'unchanged') ? [] : await write();
      report.changes.push(
        ...planned.map(({ resource, change: expected, members }, index) => {
          const change = done[index] ?? expected;
          return { resource, change, members: change === 'changed' ? members : [] };
        }),
      );
    }
  } catch (error) {
    throw new ApplyInterrupted(report, error);
  }
  return report;
}

function planCatalogue(
  planning: PlanningContext,
  former: CatalogueDocument | undefined,
  next: CatalogueDocument,
): ApplyStep {
  const { file, stores, nowMs, readBefore } = planning;
  const members = changedMembers(former && shownCatalogue(former), shownCatalogue(next));
  return {
    planned: [describe('catalogue', former === undefined ? 'created' : changeOf(members), members)],
    write: async () => [(await stores.catalogues.write(completed, nowMs)).change],
  };
  function completed(stored: CatalogueDocument | undefined): CatalogueDocument {
    if (readBefore !== undefined && canonicalJson(stored ?? null) !== canonicalJson(former ?? null)) {
      throw new ChangedMeanwhile();
    }
    return onStored(planning, completeCatalogue(file, sourcesOf(planning, stored)).document, stored);
  }
}

type Sources = Pick<PlanningContext, 'modelList' | 'region' | 'nowMs' | 'former'>;

/** Returns the catalogue of the file, or the stored catalogue with the file's changes since it was last applied. */
function onStored(sources: Sources, target: CatalogueDocument, stored: CatalogueDocument | undefined) {
  const { former } = sources;
  if (former === undefined || stored === undefined) return target;
  const { document } = completeCatalogue(former.file, sourcesOf(sources, stored));
  // A model that only a later list has is new in the file.
  const models = document.models.filter(({ id }) => former.modelIds.has(id));
  return mergeCatalogue({ former: { ...document, models }, next: target, stored });
}

/** Returns the workspaces and access that differ from the file that was read or applied before. */
function changedPart(
  { readBefore, former }: FileApplyOptions,
  file: GatewayFile,
  { models }: CatalogueDocument,
): GatewayFile {
  if (readBefore !== undefined) return withoutUnchanged(file, withModelIds(readBefore.file, models));
  if (former === undefined) return file;
  return withoutUnchanged(withoutFormerKeyTexts(file, former), withModelIds(former.file, models));
}

/** Plans the access rules. A file with `access` replaces all rules; a file without it leaves the rules unchanged. */
async function planAccess({ file: { access: rules }, stores: { access } }: PlanningContext): Promise<ApplyStep[]> {
  if (rules === undefined) return [];
  const former = await access.read();
  const members = changedMembers({ access: former }, { access: rules });
  const change = former.length === 0 && rules.length > 0 ? 'created' : changeOf(members);
  return [{ planned: [describe('access', change, members)], write: async () => [await access.write(rules)] }];
}

const sourcesOf = (
  { modelList: list, region, nowMs }: Omit<Sources, 'former'>,
  former: CatalogueDocument | undefined,
) => ({
  former,
  list,
  region,
  nowMs,
});

/**
 * Returns the catalogue without its items of the list, because the way in which a file writes models changes nothing.
 */
const shownCatalogue = ({ models, listed: _listed, ...rest }: CatalogueDocument): unknown => ({
  ...rest,
  models: models.map(({ written: _written, providers, ...model }) => ({
    ...model,
    providers: providers.map(({ written: _writtenOfEntry, ...entry }) => entry),
  })),
});

async function planKeySteps(planning: PlanningContext): Promise<ApplyStep[]> {
  const { file, placeOf, stores, randomness, nowMs, keepsRevoked = false } = planning;
  const keyInputs = { file, placeOf, keys: stores.keys, cell: stores.cell, randomness, nowMs, keepsRevoked };
  const plan = await planKeys(keyInputs);
  planning.issues.push(...plan.issues);
  planning.notes.push(...plan.notes);
  planning.revokedKeys.push(...plan.revokedKeys);
  return plan.keys.map(({ former, wanted, createdText }): ApplyStep => {
    const { name, workspace } = wanted;
    const isChanged = former !== undefined && changedSettings(former, wanted).length > 0;
    const change = former === undefined ? 'created' : isChanged ? 'changed' : 'unchanged';
    return {
      planned: [describe(`key ${name} of ${workspace}`, change, keyMembers(former, wanted))],
      write: async () => [await writeKey(stores.keys, former, wanted, nowMs)],
      createdKey: createdText === undefined ? undefined : { workspace, name, key: createdText },
    };
  });
}

// Replaces bare names in the lists of models that a workspace or a key may call by the ids that are stored and
// compared.

/** Returns the file with ids. A name that means several models stays unchanged, because it was refused. */
function withModelIds<File extends Pick<GatewayFile, 'workspaces'>>(
  file: File,
  models: readonly { readonly id: string }[],
): File {
  const ids = new Set(models.map(({ id }) => id));
  const idOf = (name: string, among: readonly string[] | undefined): string => {
    const [id, ...others] = resolveListedIds(name, ids, among);
    return id === undefined || others.length > 0 ? name : id;
  };
  const resolved = <Owner extends { models?: unknown }>(owner: Owner, among?: readonly string[]): Owner =>
    Array.isArray(owner.models) ? { ...owner, models: owner.models.map((name) => idOf(name, among)) } : owner;
  const workspaces = file.workspaces.map((each) => {
    const workspace = resolved(each);
    const among = Array.isArray(workspace.models) ? workspace.models : undefined;
    return { ...workspace, keys: each.keys.map((key) => resolved(key, among)) };
  });
  return { ...file, workspaces };
}

// Merges the file's changes since it was last applied into the catalogue that operators have stored since, for a start.
// Pure. All three catalogues are complete, so a field that a file omits has the same value in both versions of the
// file.

/** `former` is from the file as it was last applied, `next` from the file as it is now. */
interface CatalogueVersions<Part> {
  readonly former: Part;
  readonly next: Part;
  readonly stored: Part;
}

function mergeCatalogue({ former, next, stored }: CatalogueVersions<CatalogueDocument>): CatalogueDocument {
  const providers = mergeItems('id', former.providers, next.providers, stored.providers, mergeFields);
  const guardrails = mergeItems(
    'id',
    former.guardrails ?? [],
    next.guardrails ?? [],
    stored.guardrails ?? [],
    mergeFields,
  );
  const listed = isSame(former.listed, next.listed) ? stored.listed : next.listed;
  const models = mergeItems('id', former.models, next.models, stored.models, mergeModel);
  return {
    service: mergeFields({ former: former.service, next: next.service, stored: stored.service }),
    providers,
    models: withProviders(models, new Set(providers.map(({ id }) => id))),
    ...(guardrails.length === 0 ? {} : { guardrails }),
    ...(listed === undefined ? {} : { listed }),
  };
}

/** Fields that have one of several forms, of which parts cannot be mixed. */
const wholeFields: readonly string[] = ['auth', 'alerts'];

type FieldMerge = <Part extends object>(versions: CatalogueVersions<Part>) => Part;

const mergeFields: FieldMerge = ({ former, next, stored }) => {
  const [before, after, current] = [former, next, stored] as unknown as [JsonObject, JsonObject, JsonObject];
  // Fields of one kind have no meaning in another.
  if (before.kind !== after.kind || current.kind !== after.kind) return isSame(before, after) ? stored : next;
  const names = new Set([...Object.keys(current), ...Object.keys(after)]);
  const fields = [...names].flatMap((name): [string, unknown][] => {
    const versions = { former: before[name], next: after[name], stored: current[name] };
    const value = mergeValue(name, versions);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(fields) as typeof next;
};

function mergeValue(name: string, { former, next, stored }: CatalogueVersions<unknown>): unknown {
  if (isSame(former, next)) return stored;
  const isByField = !wholeFields.includes(name) && isMapping(former) && isMapping(next) && isMapping(stored);
  return isByField ? mergeFields({ former, next, stored }) : next;
}

/**
 * Merges lists. An item that operators removed is restored if the file changed it, and stays removed otherwise. If the
 * file's order changed, it determines the order of the items, with the items of operators last.
 */
function mergeItems<Name extends string, Item extends { readonly [name in Name]: string }>(
  name: Name,
  former: readonly Item[],
  next: readonly Item[],
  stored: readonly Item[],
  merge: (versions: CatalogueVersions<Item>) => Item,
): Item[] {
  const byName = (items: readonly Item[]) => new Map(items.map((item) => [item[name], item]));
  const [before, after, current] = [byName(former), byName(next), byName(stored)];
  const isOrderSame = isSame([...before.keys()], [...after.keys()]);
  const [first, second] = isOrderSame ? [current, after] : [after, current];
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((key) => {
    const versions = { former: before.get(key), next: after.get(key), stored: current.get(key) };
    const item = mergeItem(versions, merge);
    return item === undefined ? [] : [item];
  });
}

function mergeItem<Item>(
  { former, next, stored }: CatalogueVersions<Item | undefined>,
  merge: (versions: CatalogueVersions<Item>) => Item,
): Item | undefined {
  if (former === undefined && next === undefined) return stored;
  if (former === undefined || next === undefined) return next;
  if (stored === undefined) return isSame(former, next) ? undefined : next;
  return merge({ former, next, stored });
}

type Listable = Pick<ModelDocument | ModelProviderDocument, 'written'>;

function mergeModel({ former, next, stored }: CatalogueVersions<ModelDocument>): ModelDocument {
  const providers = mergeItems('provider', former.providers, next.providers, stored.providers, mergeListable);
  return { ...mergeListable({ former, next, stored }), providers };
}

/** Merges values together with the origin of each, the file or the model list. */
function mergeListable<Part extends Listable & object>(versions: CatalogueVersions<Part>): Part {
  const { former, next, stored } = versions;
  const merged = mergeFields(versions);
  if (isSame(former.written, next.written) && isSame(former, next)) return merged;
  const [before, after] = [valuesOf(former), valuesOf(next)];
  const isFromFile = (name: string) =>
    !isSame(before[name], after[name]) || isWritten(former, name) !== isWritten(next, name);
  const names = new Set([...(stored.written ?? []), ...(next.written ?? [])]);
  const written = [...names].filter((name) => isWritten(isFromFile(name) ? next : stored, name));
  const { written: _merged, ...rest } = merged;
  return (next.written === undefined && stored.written === undefined ? rest : { ...rest, written }) as Part;
}

const isWritten = ({ written }: Listable, name: string): boolean => written?.includes(name) === true;

const valuesOf = (part: object): JsonObject => {
  const { supported_params: params, ...values } = part as JsonObject;
  return { ...values, ...(params as JsonObject | undefined) };
};

/** Removes entries of a provider that the file removed, including those that operators added to it. */
const withProviders = (models: readonly ModelDocument[], ids: ReadonlySet<string>): ModelDocument[] =>
  models.flatMap((model) => {
    const providers = model.providers.filter(({ provider }) => ids.has(provider));
    return providers.length === 0 && model.providers.length > 0 ? [] : [{ ...model, providers }];
  });
