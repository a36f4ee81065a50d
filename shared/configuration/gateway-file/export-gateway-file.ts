// Exports the store as a gateway file. It contains no secret: keys have only their limits, and keys of BYOK connections
// have the names that the file gave them. Applied to the same store, the file changes nothing.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { formatUsd } from '../../foundation/money/index.ts';
import { collect } from '../../foundation/parallel/index.ts';
import { type OperatorStores, readWorkspaces } from '../administration/index.ts';
import type { ConnectionStore } from '../byok/index.ts';
import type {
  CatalogueDocument,
  GuardrailDocument,
  ModelDocument,
  ModelProviderDocument,
  ProviderDocument,
} from '../catalogue/index.ts';
import {
  contentLogFault,
  effectiveContentLog,
  initialKey,
  type KeyRecord,
  type WrittenKey,
  writtenKey,
} from '../keys/index.ts';
import { loadModelList, type ModelList } from '../model-list/index.ts';
import type { FunctionRecord } from '../stored-functions/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { guardrailReferenceIssues, modelReferenceIssues } from './check-references.ts';
import { isSame, upstreamModelOf } from './complete-entry.ts';
import { expandListedModels } from './expand-listed-models.ts';
import { guardrailDefaults } from './guardrail-schema.ts';
import { knownEntries, modalitiesOf } from './list-differences.ts';
import { formatPath, type Issue, type Path } from './problems.ts';
import { bareProvider } from './provider-schema.ts';
import { yamlText } from './yaml-text.ts';

interface ExportStores extends Pick<OperatorStores, 'workspaceStore' | 'keys' | 'access'> {
  readonly functionStore: Pick<OperatorStores['functionStore'], 'list' | 'readContent'>;
  readonly connectionStore: Pick<ConnectionStore, 'read'>;
}

interface ExportedFile {
  readonly file: Readonly<Record<string, unknown>>;
  /** Stored data that a file cannot contain, one line each. */
  readonly notes: readonly string[];
}

/** Exports the file. `isFull` includes the values that the kind of a provider and the model list fill in. */
export async function exportGatewayFile(
  stores: ExportStores,
  catalogue: CatalogueDocument | undefined,
  { isFull = false }: { readonly isFull?: boolean } = {},
): Promise<ExportedFile> {
  const keys = await collect(stores.keys.list());
  const functions = await collect(stores.functionStore.list());
  const notes: string[] = [];
  const workspaces: unknown[] = [];
  for (const workspace of await readWorkspaces(stores)) {
    const isInWorkspace = ({ workspace: owner }: { readonly workspace: string }) => owner === workspace.id;
    const exportedFunctions = functions.filter(isInWorkspace).sort((a, b) => (a.id < b.id ? -1 : 1));
    workspaces.push({
      ...(namesFirst(workspace) as object),
      keys: keysInFile(keys.filter(isInWorkspace), workspace, notes),
      byok: { connections: await connectionsInFile(stores, workspace.id) },
      functions: await Promise.all(exportedFunctions.map((record) => functionInFile(record, stores))),
    });
  }
  notes.push(...leaveOutMissing({ workspaces }, catalogue));
  const access = await stores.access.read();
  const written =
    catalogue === undefined
      ? { providers: [], models: [] }
      : catalogueInFile(catalogue, isFull ? undefined : await loadModelList());
  const file = { ...(namesFirst(written) as object), workspaces, ...(access.length === 0 ? {} : { access }) };
  return { file, notes };
}

export const gatewayFileText = (file: ExportedFile['file']): string => yamlText(file);

const connectionsInFile = async ({ connectionStore }: ExportStores, workspace: string) =>
  (await connectionStore.read(workspace)).map(({ provider, policy, budgetPicoUsd, keySource }) => ({
    provider,
    key: keySource ?? { env: variableName(workspace, provider) },
    policy,
    budget_usd: formatUsd(budgetPicoUsd),
  }));

/** Returns a name such as `BYOK_TEAM_A_ACME`, for a connection of a release that did not store the place of its key. */
const variableName = (workspace: string, provider: string): string =>
  `BYOK_${workspace}_${provider}`.toUpperCase().replace(/[^A-Z0-9]/g, '_');

/**
 * Returns the keys of the file, which identifies keys by their name. Several active keys with one name are one item, if
 * they have the same limits.
 */
function keysInFile(records: readonly KeyRecord[], workspace: WorkspaceDocument, notes: string[]): unknown[] {
  const active = records.filter(({ status, replacedBy }) => status === 'active' && replacedBy === null);
  const byName = Map.groupBy(active, ({ name }) => name);
  const names = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return names.flatMap(([name, namesakes]) => {
    const lostNames = namesakes.flatMap(({ contentLog }) => narrowingLost(workspace, contentLog) ?? []);
    if (lostNames.length > 0) {
      notes.push(`key ${name} of ${workspace.id} is left out, and stays as it is stored: its ${lostNames[0]}`);
      return [];
    }
    const entries = namesakes.map((record) =>
      Object.fromEntries(Object.entries(writtenKey(withEffect(record, workspace))).filter(isTold)),
    );
    if (new Set(entries.map(canonicalJson)).size === 1) return entries.slice(0, 1);
    notes.push(`keys ${name} of ${namesakes[0]?.workspace} differ in their limits and are left out`);
    return [];
  });
}

/** Returns why a file could not contain the content log of a key that narrows the content log of its workspace. */
function narrowingLost(
  { content_log: workspaceLog }: WorkspaceDocument,
  keyLog: KeyRecord['contentLog'],
): string | undefined {
  const fault = contentLogFault(workspaceLog, keyLog);
  if (fault === undefined) return undefined;
  const isNarrower = canonicalJson(effectiveContentLog(workspaceLog, keyLog)) !== canonicalJson(workspaceLog);
  return isNarrower ? `content_log.${fault.member} ${fault.message}` : undefined;
}

/**
 * If a workspace was narrowed later, settings of its keys may be a fault in a file. They are omitted, so that they stay
 * as they are.
 */
const withEffect = (record: KeyRecord, { content_log }: WorkspaceDocument): KeyRecord =>
  contentLogFault(content_log, record.contentLog) === undefined ? record : { ...record, contentLog: null };

/** Fields that are always written; other fields only if they differ from their default. */
const alwaysExported: readonly string[] = ['name', 'rpm', 'spend_limit_usd'] satisfies (keyof WrittenKey)[];
const isTold = ([member, value]: readonly [string, unknown]): boolean =>
  alwaysExported.includes(member) || canonicalJson(initialKey[member as keyof WrittenKey]) !== canonicalJson(value);

async function functionInFile(record: FunctionRecord, { functionStore }: ExportStores): Promise<unknown> {
  const { id, kind, status, active, revisions } = record;
  const contents = await Promise.all(
    [...revisions.values()].map(async (revision) => {
      const { kind: _kind, ...content } = (await functionStore.readContent(record, revision)).content;
      return { id: revision.id, state: revision.state, ...content };
    }),
  );
  return { id, kind, status, active, revisions: contents };
}

const nameMembers = ['id', 'from', 'slug', 'version', 'provider', 'display_name', 'service', 'providers', 'models'];

/** Moves names to the front, because documents are stored with their fields in alphabetical order. */
function namesFirst(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesFirst);
  if (typeof value !== 'object' || value === null) return value;
  const names = nameMembers.filter((name) => Object.hasOwn(value, name));
  const entries = Object.entries(value).map(([name, member]) => [name, namesFirst(member)] as const);
  return Object.fromEntries([...names.map((name) => [name, undefined] as const), ...entries]);
}

// Omits from an export the parts of workspaces that refer to a model, provider or guardrail that no longer exists. A
// file with them would be refused; omitted parts stay as they are stored.

type Item = Record<PropertyKey, unknown>;

interface Exported {
  readonly workspaces: readonly unknown[];
}

/** Changes the file. Returns a line for each part that it omits. */
function leaveOutMissing(file: Exported, catalogue: CatalogueDocument | undefined): string[] {
  const known = { providers: catalogue?.providers ?? [], models: catalogue?.models ?? [] };
  const guardrails = new Set(catalogue?.guardrails?.map(({ id }) => id));
  const issues = [...modelReferenceIssues(file, known), ...guardrailReferenceIssues(file, guardrails)];
  if (issues.length === 0) return [];
  const parts = [...new Map(issues.map((issue) => [formatPath(partOf(issue.path)), issue])).values()];
  const workspaces = parts.filter((issue) => isWorkspace(partOf(issue.path)));
  // The last parts are removed first, so that the positions of the others stay valid. Parts inside workspaces are
  // removed once no workspace has to be removed.
  const first = (workspaces.length > 0 ? workspaces : parts).toSorted((a, b) => lastStep(b) - lastStep(a));
  const lines = first.map((issue) => leaveOut(file, issue));
  return [...lines, ...leaveOutMissing(file, catalogue)].sort();
}

/**
 * Number of steps of the path to the omitted part: a name in the list of models, a key, a connection, a revision. A
 * key, and a workspace whose guardrail no longer exists, are omitted completely, because another store would make them
 * without the restriction.
 */
const stepsByList: Readonly<Record<string, number>> = { guardrails: 2, models: 4, keys: 4, byok: 5, functions: 6 };
const partOf = (path: Path): Path => path.slice(0, stepsByList[String(path[2])]);
const isWorkspace = (part: Path): boolean => part.length === stepsByList.guardrails;
const lastStep = ({ path }: Issue): number => Number(partOf(path).at(-1)) || 0;

function leaveOut(file: Exported, { path, message }: Issue): string {
  const part = partOf(path);
  const [workspace, owner, holder] = [part.slice(0, 2), part.slice(0, 4), part.slice(0, -1)].map((to) =>
    itemAt(file, to),
  );
  const item = itemAt(file, part);
  const last = part.at(-1) ?? '';
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder?.[last];
  const isRevision = part.length === stepsByList.functions;
  if (isRevision && owner?.active === item?.id) delete owner?.active;
  const functionText = isRevision ? ` of function ${String(owner?.id)}` : '';
  const id = String(workspace?.id);
  const name = isWorkspace(part) ? `workspace ${id}` : `${nameOf(part, item)}${functionText} of ${id}`;
  return `${name} is left out, and stays as it is stored: ${message.split('; ')[0]}`;
}

function nameOf([, , list]: Path, item: Item | undefined): string {
  if (list === 'keys') return `key ${String(item?.name)}`;
  if (list === 'byok') return `byok connection to ${String(item?.provider)}`;
  return list === 'functions' ? `revision ${String(item?.id)}` : `${String(item)} in the list of models`;
}

const itemAt = (file: Exported, path: Path): Item | undefined =>
  path.reduce<unknown>((item, step) => (item as Item | undefined)?.[step], file) as Item | undefined;

// Writes the catalogue as a part of a gateway file, for exports. Values that applying the file would fill in again may
// be omitted.

type Members = Record<string, unknown>;

/**
 * Without `list` everything is written. The service is always written completely, because absent fields of it keep
 * their stored values.
 */
export function catalogueInFile(
  catalogue: CatalogueDocument,
  list: ModelList | undefined,
): Readonly<Record<'service' | 'providers' | 'models', unknown> & { readonly guardrails?: unknown }> {
  const { service, providers, models, guardrails } = catalogue;
  return {
    service,
    providers: providers.map((provider) => providerInFile(provider, list !== undefined)),
    models: list === undefined ? models.map(wholeModel) : shortModels(catalogue, list),
    ...(guardrails === undefined
      ? {}
      : { guardrails: guardrails.map((one) => guardrailInFile(one, list !== undefined)) }),
  };
}

const guardrailInFile = (guardrail: GuardrailDocument, isShort: boolean): Members =>
  isShort ? without({ ...guardrail }, guardrailDefaults) : { ...guardrail };

/**
 * Omits the status of an enabled provider. A file with this status would enable the provider again if it was disabled
 * since.
 */
function providerInFile({ status, ...provider }: ProviderDocument, isShort: boolean): Members {
  const members: Members = status === 'enabled' ? provider : { ...provider, status };
  return isShort ? without(members, bareProvider(provider), ['id', 'kind', 'region', 'credentials']) : members;
}

/** Removes the fields that are equal in the other document. */
const without = (members: Members, same: Members, required: readonly string[] = []): Members =>
  Object.fromEntries(
    Object.entries(members).filter(([name, value]) => required.includes(name) || !isSame(value, same[name])),
  );

const wholeModel = ({ written: _written, providers, ...model }: ModelDocument): Members => ({
  ...model,
  providers: providers.map(({ written: _writtenOfEntry, ...entry }) => entry),
});

/** Returns the models in their order, with an item of the list in place of the first model that it adds. */
function shortModels(catalogue: CatalogueDocument, list: ModelList): Members[] {
  const itemById = listedItems(catalogue, list);
  const items = new Set<Members>();
  for (const model of catalogue.models) {
    const short = shortModel(model, catalogue.providers, list);
    const item = itemById.get(model.id);
    items.add(item !== undefined && isBare(short, item) ? item.inFile : short);
  }
  // These are items whose models all differ from the list.
  return [...items.union(new Set([...itemById.values()].map(({ inFile }) => inFile)))];
}

interface ListedItem {
  readonly inFile: Members;
  readonly from: string;
  /** The provider's name for the model. */
  readonly upstream: string | undefined;
}

/**
 * Returns items by the stored models that each item adds. If the list has further such models by now, the item names
 * the stored models.
 */
function listedItems({ providers, models, listed = [] }: CatalogueDocument, list: ModelList): Map<string, ListedItem> {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const storedIds = new Set(models.map(({ id }) => id));
  const itemById = new Map<string, ListedItem>();
  for (const { from, only, as } of listed) {
    const listedModels = expandListedModels({ from, only, as }, [], {
      former: undefined,
      list,
      byId,
      report: () => {},
    });
    // The list may have more such models by now, which an earlier item also adds.
    const storedModels = listedModels.filter(({ id }) => storedIds.has(id) && !itemById.has(id));
    const names = storedModels.map(({ providers: [entry] }) => entry?.upstream_model);
    const inFile = withoutUndefined({ from, only: storedModels.length === listedModels.length ? only : names, as });
    for (const [at, { id }] of storedModels.entries()) itemById.set(id, { inFile, from, upstream: names[at] });
  }
  return itemById;
}

/** True if the model equals the model that an item of the list adds, at any time. */
const isBare = (
  { id: _id, created: _created, providers, ...others }: Members,
  { from, upstream }: ListedItem,
): boolean =>
  Object.keys(others).length === 0 &&
  (providers as readonly Members[]).length === 1 &&
  (providers as readonly Members[]).every(
    ({ provider, upstream_model = upstream, ...more }) =>
      provider === from && upstream_model === upstream && Object.keys(more).length === 0,
  );

function shortModel(model: ModelDocument, providers: readonly ProviderDocument[], list: ModelList): Members {
  const { written: _written, ...members } = model;
  const known = knownEntries({ providers }, model, list);
  const entries = model.providers.map((entry) => {
    const provider = providers.find(({ id }) => id === entry.provider);
    const upstream_model =
      provider && upstreamModelOf(model.id, { ...entry, upstream_model: undefined }, provider, list);
    return shortEntry(entry, { upstream_model, ...known.find((one) => one.entry === entry)?.members });
  });
  const longest = Math.max(0, ...model.providers.map(({ context_length }) => context_length));
  const hasVision = model.providers.some(({ supported_params: { vision } }) => vision);
  const modalities = modalitiesOf(known) ?? (hasVision ? ['text', 'image'] : ['text']);
  const same = { display_name: model.id, context_length: longest, modalities, auto: false };
  return { ...without(members, same), providers: entries };
}

function shortEntry({ written: _written, ...entry }: ModelProviderDocument, known: Members): Members {
  const { supported_params, ...members } = entry;
  const filled = {
    tools: false,
    vision: false,
    json_mode: false,
    json_schema: false,
    streaming: true,
    max_output_tokens: entry.context_length,
    ...{ rate_limit_rpm: null, rate_limit_tpm: null, rate_limit_tpd: null },
    ...withoutUndefined(known),
  };
  const params = without({ ...supported_params }, filled);
  return {
    ...without(members, filled),
    ...(Object.values(params).every((value) => value === undefined) ? {} : { supported_params: params }),
  };
}
