// Checks across sections: duplicate names, unknown names, and values that a provider's kind does not fill in.
import { autoModelId } from '../../foundation/constants/index.ts';
import { resolveListedIds } from '../catalogue/index.ts';
import { type ProviderKind, providerKinds } from '../model-list/index.ts';
import { checkFunction } from './check-functions.ts';
import {
  checkKnown,
  checkModel as checkNamedModel,
  checkUnique,
  entries,
  type KnownModels,
  member,
  type Node,
  namesIn,
  type Report,
  textOf,
} from './node.ts';
import type { Issue } from './problems.ts';
import { apisOfKind } from './provider-schema.ts';

interface Known {
  readonly providers: ReadonlySet<string>;
  /**
   * Ids of models; undefined when the file takes models from the list, so that all of them are known only when it is
   * applied.
   */
  readonly models: ReadonlySet<string> | undefined;
  /** Providers without a kind, for which nothing is filled in. */
  readonly withoutKind: ReadonlySet<string>;
  /** Interfaces by provider. */
  readonly apis: ReadonlyMap<string, readonly string[]>;
}

/** Returns issues for names of models that are not in the file's catalogue. */
export function modelReferenceIssues(
  file: { readonly workspaces: readonly unknown[] },
  { providers, models }: Readonly<Record<'providers' | 'models', readonly { readonly id: string }[]>>,
): Issue[] {
  const issues: Issue[] = [];
  const idsOf = (items: readonly { readonly id: string }[]) => new Set(items.map(({ id }) => id));
  const known = { providers: idsOf(providers), models: idsOf(models), withoutKind: new Set<string>(), apis: new Map() };
  const workspaces: Node = { value: file.workspaces, path: ['workspaces'] };
  for (const workspace of entries(workspaces)) {
    checkWorkspace(workspace, known, ({ path }, message) => void issues.push({ path, message }));
  }
  return issues;
}

export function referenceIssues(value: unknown): Issue[] {
  const issues: Issue[] = [];
  const report: Report = ({ path }, message) => void issues.push({ path, message });
  const file: Node = { value, path: [] };
  const [providers, models, guardrails, workspaces] = [
    member(file, 'providers'),
    member(file, 'models'),
    member(file, 'guardrails'),
    member(file, 'workspaces'),
  ];
  for (const list of [providers, models, guardrails, workspaces]) checkUnique([list], 'id', report);
  // A key is found only by its own id, so one key cannot belong to two workspaces.
  checkUnique(
    entries(workspaces).map((workspace) => member(workspace, 'keys')),
    'key',
    report,
  );

  for (const provider of entries(providers)) checkProvider(provider, report);
  const isFromList = (model: Node) => member(model, 'from').value !== undefined;
  const plain = entries(providers).filter((provider) => member(provider, 'kind').value === undefined);
  const known = {
    providers: namesIn(providers, 'id'),
    models: entries(models).some(isFromList) ? undefined : namesIn(models, 'id'),
    withoutKind: new Set(plain.flatMap((provider) => textOf(member(provider, 'id')) ?? [])),
    apis: new Map(entries(providers).map((provider) => [textOf(member(provider, 'id')) ?? '', apisOf(provider)])),
  };
  for (const model of entries(models)) checkModel(model, known, report);
  for (const workspace of entries(workspaces)) checkWorkspace(workspace, known, report);
  if (guardrails.value !== undefined) checkGuardrails(workspaces, namesIn(guardrails, 'id'), report);
  return issues;
}

/** Returns issues for names of unknown guardrails, if the file leaves the stored guardrails unchanged. */
export function guardrailReferenceIssues(file: object, known: ReadonlySet<string>): Issue[] {
  const issues: Issue[] = [];
  const report: Report = ({ path }, message) => void issues.push({ path, message });
  checkGuardrails(member({ value: file, path: [] }, 'workspaces'), known, report);
  return issues;
}

function checkGuardrails(workspaces: Node, known: ReadonlySet<string>, report: Report): void {
  const owners = entries(workspaces).flatMap((workspace) => [workspace, ...entries(member(workspace, 'keys'))]);
  for (const at of owners.flatMap((owner) => entries(member(owner, 'guardrails')))) {
    checkKnown(at, known, 'guardrail', 'guardrails', report);
  }
}

function apisOf(provider: Node): readonly string[] {
  const written = entries(member(provider, 'apis')).flatMap((api) => textOf(api) ?? []);
  const kind = textOf(member(provider, 'kind'));
  return written.length > 0 ? written : apisOfKind(isKind(kind) ? kind : undefined);
}

const isKind = (kind: string | undefined): kind is ProviderKind =>
  kind !== undefined && Object.hasOwn(providerKinds, kind);

function checkProvider(provider: Node, report: Report): void {
  const kind = textOf(member(provider, 'kind'));
  if (kind !== undefined && !isKind(kind)) return;
  const known = kind && providerKinds[kind];
  const [baseUrl, auth] = [member(provider, 'base_url'), member(provider, 'auth')];
  const hasPool = member(provider, 'credentials').value !== undefined;
  if (baseUrl.value === undefined && known?.baseUrl === undefined) {
    report(baseUrl, known === undefined ? 'is required' : `is required at kind ${kind}, such as ${known.example}`);
  }
  if (auth.value === undefined && known?.auth?.scheme === 'written' && !hasPool) {
    report(auth, `is required at kind ${kind}, such as ${known.auth.example}`);
  }
}

function checkModel(model: Node, known: Known, report: Report): void {
  checkKnown(member(model, 'from'), known.providers, 'provider', 'providers', report);
  const providers = member(model, 'providers');
  checkContextLength(model, entries(providers), known, report);
  checkUnique([providers], 'provider', report);
  for (const entry of entries(providers)) {
    checkKnown(member(entry, 'provider'), known.providers, 'provider', 'providers', report);
    checkPrices(entry, report);
    const provider = textOf(member(entry, 'provider'));
    if (provider === undefined) continue;
    if (!mayBeListed(entry, known)) checkRequired(entry, report);
    const apis = known.apis.get(provider);
    for (const api of apis === undefined ? [] : entries(member(entry, 'apis'))) {
      if (apis?.includes(textOf(api) ?? '') === true) continue;
      report(api, `is none of the apis of provider ${provider}: ${apis?.join(', ')}`);
    }
  }
}

/** True if the model list may have the entry, because its provider has a kind, or it names an item of the list. */
const mayBeListed = (entry: Node, known: Known): boolean =>
  !known.withoutKind.has(textOf(member(entry, 'provider')) ?? '') || member(entry, 'list_model').value !== undefined;

/** Checks an entry for which nothing is filled in. It reports one line per entry, however much is missing. */
function checkRequired(entry: Node, report: Report): void {
  const missing = ['input_price_per_million', 'output_price_per_million']
    .map((name) => ({ name, at: member(entry, name) }))
    .filter(({ at }) => at.value === undefined);
  const [first, ...others] = missing;
  if (first === undefined) return;
  if (others.length === 0) report(first.at, 'is required');
  else report(entry, `${missing.map(({ name }) => name).join(' and ')} are required where its provider has no kind`);
}

function checkContextLength(model: Node, all: readonly Node[], known: Known, report: Report): void {
  const contextLength = member(model, 'context_length');
  if (contextLength.value !== undefined || member(model, 'from').value !== undefined) return;
  const isFilled = (entry: Node) => member(entry, 'context_length').value !== undefined || mayBeListed(entry, known);
  if (!all.some(isFilled)) report(contextLength, 'is required, here or in an entry of providers');
}

function checkPrices(entry: Node, report: Report): void {
  const [input, output] = [member(entry, 'input_price_per_million'), member(entry, 'output_price_per_million')];
  if (input.value === undefined || output.value === undefined) return;
  if ((input.value === null) === (output.value === null)) return;
  const unset = input.value === null ? input : output;
  report(unset, 'must be set, or the other price must be null as well: half a price cannot be billed');
}

function checkWorkspace(workspace: Node, known: Known, report: Report): void {
  const { models: all } = known;
  const listed = entries(member(workspace, 'models')).flatMap((at) => textOf(at) ?? []);
  const workspaceModels =
    all && listed.length > 0 ? listed.flatMap((name) => resolveListedIds(name, all, undefined)) : undefined;
  checkModelChoice(workspace, all && { all, workspaceModels: undefined }, report);
  const keys = member(workspace, 'keys');
  checkUnique([keys], 'name', report);
  for (const key of entries(keys)) checkModelChoice(key, all && { all, workspaceModels }, report);
  const presets = member(workspace, 'presets');
  checkUnique([presets], 'slug', report);
  for (const preset of entries(presets)) checkUnique([member(preset, 'versions')], 'version', report);
  const connections = member(member(workspace, 'byok'), 'connections');
  // A workspace has one stored credential for a provider, because a call could not choose between two.
  checkUnique([connections], 'provider', report);
  for (const connection of entries(connections)) {
    // A connection to a provider that is no longer in the file can still be removed.
    if (member(connection, 'state').value === 'absent') continue;
    checkKnown(member(connection, 'provider'), known.providers, 'provider', 'providers', report);
  }
  const callable = all && { all: new Set([...all, autoModelId]), workspaceModels };
  checkUnique([member(workspace, 'functions')], 'id', report);
  for (const declared of entries(member(workspace, 'functions'))) checkFunction(declared, callable, report);
}

function checkModelChoice(owner: Node, models: KnownModels | undefined, report: Report): void {
  for (const at of entries(member(owner, 'models'))) {
    if (at.value === autoModelId) {
      report(at, `is always available; list the models that ${autoModelId} may choose from`);
    } else checkNamedModel(at, models, report);
  }
}
