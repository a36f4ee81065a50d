// Builds the new catalogue from a file and the stored catalogue: complete providers and models, with all absent fields
// filled in. A value that cannot be filled in is a problem of the file.
import type {
  CatalogueDocument,
  ModelDocument,
  ModelProviderDocument,
  ProviderDocument,
  ServiceDocument,
} from '../catalogue/index.ts';
import { type ListedModel, type ModelList, type ProviderKind, providerKindNames } from '../model-list/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import { type CatalogueInFile, type EntryInFile, isListedModels, type ModelInFile } from './catalogue-schema.ts';
import { completeMembers, entryMembers, listedMembers, upstreamModelOf, withTokenPrices } from './complete-entry.ts';
import {
  type CatalogueSources,
  type CompletionReport,
  completeProviders,
  type FilledMembers,
} from './complete-providers.ts';
import { writtenModels } from './expand-listed-models.ts';
import { type Issue, type Path, quote, suggest } from './problems.ts';

interface CompletedCatalogue {
  readonly document: CatalogueDocument;
  /** Filled-in values that are not stored yet. */
  readonly filled: readonly FilledMembers[];
  readonly issues: readonly Issue[];
}

const serviceDefaults: ServiceDocument = { function_execution: 'enabled', function_concurrency: 200, queue_ms: 2_000 };

export function completeCatalogue(file: CatalogueInFile, sources: CatalogueSources): CompletedCatalogue {
  const issues: Issue[] = [];
  const report = (path: Path, message: string) => void issues.push({ path, message });
  const filled = new Map<string, FilledMembers>();
  const fill: CompletionReport['fill'] = (place, origin, members) => {
    if (Object.keys(members).length > 0) filled.set(place, { place, origin, members });
  };
  const providers = completeProviders(file, sources, { report, fill });
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const formerById = new Map(sources.former?.models.map((model) => [model.id, model]));
  const listed = file.models.filter(isListedModels);
  const models = writtenModels(file.models, { ...sources, byId, report }).map(({ model, path }) =>
    completeModel(model, path, { ...sources, byId, former: formerById.get(model.id), report, fill }),
  );
  return {
    document: {
      service: completeService(file, sources),
      providers,
      models,
      ...guardrailsOf(file, sources),
      ...(listed.length === 0 ? {} : { listed }),
    },
    filled: [...filled.values()],
    issues,
  };
}

/** Returns the service; its absent fields keep their stored values. */
const completeService = ({ service }: CatalogueInFile, { former }: CatalogueSources): ServiceDocument => ({
  ...(former?.service ?? serviceDefaults),
  ...withoutUndefined(service),
});

/** Returns the guardrails; a guardrail is removed only if the file says so. */
function guardrailsOf({ guardrails: inFile }: CatalogueInFile, { former }: CatalogueSources) {
  const guardrails = inFile ?? former?.guardrails ?? [];
  return guardrails.length === 0 ? {} : { guardrails };
}

interface ModelSources extends Omit<CatalogueSources, 'former'>, CompletionReport {
  readonly former: ModelDocument | undefined;
  readonly byId: ReadonlyMap<string, ProviderDocument>;
}

function completeModel(written: ModelInFile, path: Path, sources: ModelSources): ModelDocument {
  const { former, byId, nowMs, fill, list } = sources;
  const completed = written.providers.flatMap((entry, index) => {
    const provider = byId.get(entry.provider);
    return provider === undefined
      ? []
      : [completeEntry(written, entry, provider, [...path, 'providers', index], sources)];
  });
  const entries = completed.map(({ entry }) => entry);
  const listed = completed.flatMap(({ modalities }) => modalities ?? []);
  const longest = entries.length === 0 ? 0 : Math.max(...entries.map(({ context_length }) => context_length));
  const hasVision = entries.some(({ supported_params }) => supported_params.vision);
  const completion = completeMembers(
    { modalities: written.modalities },
    former && { values: { modalities: former.modalities }, written: former.written },
    listed.length === 0 ? undefined : { modalities: [...new Set(listed)] },
  );
  fill(`models[${written.id}]`, originOf(list), completion.filled);
  return {
    id: written.id,
    display_name: written.display_name ?? written.id,
    created: written.created ?? former?.created ?? Math.floor(nowMs / 1_000),
    context_length: written.context_length ?? longest,
    modalities: (completion.values.modalities as string[] | undefined) ?? (hasVision ? ['text', 'image'] : ['text']),
    auto: written.auto,
    ...(written.prompt_cache === undefined ? {} : { prompt_cache: written.prompt_cache }),
    providers: entries,
    ...(completion.written === undefined ? {} : { written: [...completion.written] }),
  };
}

const originOf = ({ date }: ModelList): string => `model list of ${date}`;

interface CompletedEntry {
  readonly entry: ModelProviderDocument;
  /** Modalities in the model list. */
  readonly modalities: readonly string[] | undefined;
}

function completeEntry(
  model: ModelInFile,
  written: EntryInFile,
  provider: ProviderDocument,
  path: Path,
  { former: formerModel, list, report, fill }: ModelSources,
): CompletedEntry {
  const storedEntry = formerModel?.providers.find((entry) => entry.provider === provider.id);
  const upstream_model = upstreamModelOf(model.id, written, provider, list);
  const { list_model } = written;
  const isSameModel = storedEntry?.upstream_model === upstream_model && storedEntry.list_model === list_model;
  const former = isSameModel ? storedEntry : undefined;
  const listed = findListed(list, provider, model.id, { upstream_model, list_model });
  if (list_model !== undefined && listed === undefined) {
    report([...path, 'list_model'], unlistedName(list_model, provider, list));
    return { entry: { ...written, upstream_model } as ModelProviderDocument, modalities: undefined };
  }
  const {
    values: completed,
    filled,
    written: ownMembers,
  } = completeMembers(
    entryMembers(written),
    former && { values: entryMembers(former), written: former.written },
    listed && listedMembers(listed, provider),
  );
  fill(`models[${model.id}].providers[${provider.id}]`, originOf(list), filled);
  const values = withTokenPrices(completed);
  const context = (values.context_length as number | undefined) ?? model.context_length;
  const missing = missingMembers({ ...values, context_length: context }, { provider, upstream_model, listed, list });
  if (missing !== undefined) report([...path, ...missing.path], missing.message);
  const { tools = false, vision = false, json_mode = false, json_schema = false, tools_in_streams, ...rest } = values;
  const context_length = context ?? 0;
  const max_output_tokens = (rest.max_output_tokens as number | undefined) ?? context_length;
  const { default_output_tokens } = written;
  // If bounds are missing, they are reported instead.
  const isAbove = (default_output_tokens ?? 0) > max_output_tokens;
  if (missing === undefined && isAbove) {
    report([...path, 'default_output_tokens'], `must be at most max_output_tokens, ${max_output_tokens}`);
  }
  const { extras } = written.supported_params;
  const entry = {
    ...written,
    ...rest,
    upstream_model,
    context_length,
    max_output_tokens,
    supported_params: {
      ...{ tools, vision, json_mode, json_schema },
      ...(tools_in_streams === undefined ? {} : { tools_in_streams }),
      ...(extras === undefined ? {} : { extras }),
    },
    streaming: rest.streaming ?? true,
    written: ownMembers === undefined ? undefined : [...ownMembers],
  } as ModelProviderDocument;
  return { entry, modalities: listed?.modalities };
}

type NamedEntry = Pick<ModelProviderDocument, 'upstream_model' | 'list_model'>;

/**
 * Finds the model in the list. A deployment may have any name. Then the file names the model of the list, or the
 * model's own name identifies it.
 */
export function findListed(
  list: ModelList,
  { kind, region }: Pick<ProviderDocument, 'kind' | 'region'>,
  modelId: string,
  { upstream_model: upstreamModel, list_model: listModel }: NamedEntry,
) {
  if (listModel !== undefined) return findNamed(list, listModel, kind, region);
  if (kind === undefined) return undefined;
  const found = list.find(kind, upstreamModel, region);
  if (found !== undefined || !list.namesDeployments(kind)) return found;
  return list.find(kind, modelId.slice(modelId.indexOf('/') + 1));
}

function findNamed(list: ModelList, name: string, kind: ProviderKind | undefined, region: string | undefined) {
  const found = kind && list.find(kind, name, region);
  if (found !== undefined) return found;
  const slash = name.indexOf('/');
  const other = providerKindNames.find((one) => one === name.slice(0, slash));
  return other && list.find(other, name.slice(slash + 1), region);
}

function unlistedName(name: string, { kind }: Pick<ProviderDocument, 'kind'>, list: ModelList): string {
  const names = kind === undefined ? [] : list.names(kind);
  const hint = names.length === 0 ? '' : `; ${suggest(name, names)}`;
  return `the model list has no ${quote(name)}: write a name of the provider's kind, or KIND/NAME${hint}`;
}

// Required fields of an entry that neither the file nor the model list has.

const requiredMembers = ['input_price_per_million', 'output_price_per_million', 'context_length'] as const;

interface EntryInput {
  readonly provider: Pick<ProviderDocument, 'id' | 'kind' | 'apis'>;
  readonly upstream_model: string;
  readonly listed: ListedModel | undefined;
  readonly list: Pick<ModelList, 'names'>;
}

/** Returns one problem for all missing fields, if there are any. */
function missingMembers(
  values: Readonly<Record<string, unknown>>,
  { provider, upstream_model, listed, list }: EntryInput,
): { readonly path: Path; readonly message: string } | undefined {
  const missing = requiredMembers.filter((member) => values[member] === undefined);
  const { id, kind } = provider;
  if (missing.length > 0 && kind !== undefined) {
    const names = list.names(kind);
    const hint = names.length === 0 ? '' : `; ${suggest(upstream_model, names)}`;
    const unlisted = `the model list has no ${quote(upstream_model)} of kind ${kind}`;
    return { path: [], message: `${unlisted}, so ${missing.join(', ')} must be written, or list_model${hint}` };
  }
  if (Array.isArray(values.apis) && values.apis.length === 0 && listed !== undefined) {
    const listedApis = listed.apis.join(', ');
    return {
      path: ['apis'],
      message: `is empty: the model is served by ${listedApis}, and ${id} by ${provider.apis.join(', ')}`,
    };
  }
  return undefined;
}
