// The catalogue in the form of a gateway file, for exports. Values that applying it would fill in again may be omitted.
import type {
  CatalogueDocument,
  GuardrailDocument,
  ModelDocument,
  ModelProviderDocument,
  ProviderDocument,
} from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import { written } from '../value-forms/index.ts';
import { isSame, upstreamModelOf } from './complete-entry.ts';
import { expandListedModels } from './expand-listed-models.ts';
import { guardrailDefaults } from './guardrail-schema.ts';
import { knownEntries, modalitiesOf } from './list-differences.ts';
import { bareProvider } from './provider-schema.ts';

type Members = Record<string, unknown>;

/**
 * `list`: without it all is written. The service is always written whole, because absent fields of it keep their stored
 * values.
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

/** Omits the status of an enabled provider: a file with it would enable one again that was disabled since. */
function providerInFile({ status, ...provider }: ProviderDocument, isShort: boolean): Members {
  const members: Members = status === 'enabled' ? provider : { ...provider, status };
  return isShort ? without(members, bareProvider(provider), ['id', 'kind', 'region', 'credentials']) : members;
}

/** Removes the fields that are the same in the other one. */
const without = (members: Members, same: Members, required: readonly string[] = []): Members =>
  Object.fromEntries(
    Object.entries(members).filter(([name, value]) => required.includes(name) || !isSame(value, same[name])),
  );

const wholeModel = ({ written: _written, providers, ...model }: ModelDocument): Members => ({
  ...model,
  providers: providers.map(({ written: _writtenOfEntry, ...entry }) => entry),
});

/** In their order, with an item of the list in place of the first model that it adds. */
function shortModels(catalogue: CatalogueDocument, list: ModelList): Members[] {
  const itemById = listedItems(catalogue, list);
  const items = new Set<Members>();
  for (const model of catalogue.models) {
    const short = shortModel(model, catalogue.providers, list);
    const item = itemById.get(model.id);
    items.add(item !== undefined && isBare(short, item) ? item.inFile : short);
  }
  // One whose models all differ from the list.
  return [...items.union(new Set([...itemById.values()].map(({ inFile }) => inFile)))];
}

interface ListedItem {
  readonly inFile: Members;
  readonly from: string;
  /** The provider's name for the model. */
  readonly upstream: string | undefined;
}

/** Items by the stored models that each adds. Where the list has more of them by now, they are named. */
function listedItems({ providers, models, listed = [] }: CatalogueDocument, list: ModelList): Map<string, ListedItem> {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const stored = new Set(models.map(({ id }) => id));
  const itemById = new Map<string, ListedItem>();
  for (const { from, only, as } of listed) {
    const listedModels = expandListedModels({ from, only, as }, [], {
      former: undefined,
      list,
      byId,
      report: () => {},
    });
    // The list may have more of them by now, which an item before it makes too.
    const storedModels = listedModels.filter(({ id }) => stored.has(id) && !itemById.has(id));
    const names = storedModels.map(({ providers: [entry] }) => entry?.upstream_model);
    const inFile = written({ from, only: storedModels.length === listedModels.length ? only : names, as });
    for (const [at, { id }] of storedModels.entries()) itemById.set(id, { inFile, from, upstream: names[at] });
  }
  return itemById;
}

/** Whether it equals what an item of the list adds, at whatever time. */
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
    ...written(known),
  };
  const params = without({ ...supported_params }, filled);
  return {
    ...without(members, filled),
    ...(Object.values(params).every((value) => value === undefined) ? {} : { supported_params: params }),
  };
}
