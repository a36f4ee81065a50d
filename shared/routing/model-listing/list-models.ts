// Lists the models a workspace can route to, as wire objects. A missing credential does not count in the list. It
// causes provider_not_configured on use, while `routable: false` means model_not_routable on use.

import type { HealthFigures, Statistics } from '../../accounting/provider-health/index.ts';
import {
  type Candidate,
  type Catalogue,
  type CatalogueModel,
  hasClientInterface,
  serves,
  unitPriceMembers,
} from '../../configuration/catalogue/index.ts';
import type { WorkspaceDocument } from '../../configuration/workspaces/index.ts';
import { autoModelId, listedInterfaceIds } from '../../foundation/constants/index.ts';
import {
  autoModelObject,
  type CallSize,
  type FunctionModelObject,
  type ModelListObject,
  type ModelObject,
  noStats,
  type ProviderEntryObject,
  type StatsObject,
  type UnitPricesObject,
} from '../../protocol/wire/index.ts';
import { callPrices, comparedPrice } from '../billing/index.ts';
import { type ByokConnection, findVisible, isBillable, mayBringKey, satisfies } from '../planner/index.ts';

/** Value for a price that is not set. An entry without prices cannot be billed. */
const noPrice = '0';

/** The workspace's settings that decide which entries its calls can use. */
type ListingWorkspace = Pick<WorkspaceDocument, 'models' | 'data_policy' | 'features'>;

export interface ListingInput {
  readonly catalogue: Catalogue;
  readonly statistics: Statistics;
  readonly workspace: ListingWorkspace;
  /** Connections of the workspace, needed only for entries without prices. */
  readonly connections: readonly ByokConnection[];
}

export function listModels(input: ListingInput, functions: readonly FunctionModelObject[]): ModelListObject {
  const visible = [...input.catalogue.models.values()].flatMap((model) => toVisibleObject(model, input) ?? []);
  return { object: 'list', data: [autoModelObject, ...visible, ...functions] };
}

/** Returns the model; undefined when the workspace has none with the id. */
export function findModel(id: string, input: ListingInput): typeof autoModelObject | ModelObject | undefined {
  if (id === autoModelId) return autoModelObject;
  const model = findVisible(id, input);
  return model && toVisibleObject(model, input);
}

/**
 * Returns undefined for a model of which the workspace could use no entry, whatever is switched on. The model is then
 * not listed.
 */
function toVisibleObject(
  model: CatalogueModel,
  { statistics, workspace, connections }: ListingInput,
): ModelObject | undefined {
  const { models, data_policy: policy, features } = workspace;
  if (models !== 'all' && !models.includes(model.model.id)) return undefined;
  const isAllowed = ({ provider }: Candidate) => satisfies(provider.data_policy, policy);
  const isUsable = (candidate: Candidate) =>
    isAllowed(candidate) &&
    (isBillable(candidate) || mayBringKey(candidate, { isEnabled: features.byok, connections }));
  if (!model.candidates.some(isUsable)) return undefined;
  const isRoutable = (candidate: Candidate) => candidate.provider.status === 'enabled' && isUsable(candidate);
  return toModelObject(model, statistics, isRoutable);
}

function toModelObject(
  { model, candidates }: CatalogueModel,
  statistics: Statistics,
  isRoutable: (candidate: Candidate) => boolean,
): ModelObject {
  const cheapest = cheapestOf(candidates.filter(isRoutable));
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: 'gw',
    display_name: model.display_name,
    context_length: model.context_length,
    input_price_per_million: cheapest?.entry.input_price_per_million ?? noPrice,
    output_price_per_million: cheapest?.entry.output_price_per_million ?? noPrice,
    ...(cheapest && unitPricesOf(cheapest)),
    modalities: model.modalities,
    routable: candidates.some(isRoutable),
    ...apisOf(candidates),
    providers: withoutPools(candidates).map((candidate) => toProviderEntry(candidate, isRoutable(candidate))),
    stats: toStats(statistics.modelFigures(model.id)),
  };
}

/** Returns each entry once, however many credentials it has. */
const withoutPools = (candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.filter(({ provider: { credential = 1 } }) => credential === 1);

/** Returns the interfaces, without the interfaces that OpenAI's SDKs expect of every model. */
function apisOf(candidates: readonly Candidate[]): Pick<ModelObject, 'apis' | 'translated_apis'> {
  const apis = listedInterfaceIds.filter((id) => candidates.some((candidate) => serves(candidate, id)));
  const translated = apis.filter((id) => !candidates.some((candidate) => hasClientInterface(candidate, id)));
  return {
    ...(apis.every((id) => id === 'chat-completions') ? {} : { apis }),
    ...(translated.length === 0 ? {} : { translated_apis: translated }),
  };
}

const toStats = (figures: HealthFigures | undefined): StatsObject =>
  figures === undefined
    ? noStats
    : {
        median_latency_ms: figures.medianLatencyMs ?? noStats.median_latency_ms,
        throughput_rpm: String(figures.throughputRpm),
        uptime: String(figures.uptime),
      };

/**
 * Returns the candidate that is tried first if there are no preferences. The list shows its price for the smallest
 * call.
 */
function cheapestOf(candidates: readonly Candidate[]): Candidate | undefined {
  const billable = candidates.filter(isBillable);
  const priceOf = comparedPrice(billable, oneOfEach, (candidate) => callPrices(candidate, oneOfEach, () => false));
  const [cheapest] = billable.toSorted((a, b) => Number(priceOf(a) > priceOf(b)) - Number(priceOf(a) < priceOf(b)));
  return cheapest;
}

/** Size of the smallest call: one token of input, one token of output, and one of each unit that may have a price. */
const oneOfEach: CallSize = {
  maxOutputTokens: 1,
  isOutputOpen: false,
  choices: 1,
  predictionBytes: 0,
  textBytes: 1,
  mediaTokens: 0,
  claudeToolTokens: 0,
  hasMediaElsewhere: false,
  contexts: 1,
  answersMax: 1,
  units: { images: { count: 1 }, characters: 1, seconds: 1, requests: 1 },
};

const unitPricesOf = ({ entry }: Pick<Candidate, 'entry'>): UnitPricesObject =>
  Object.fromEntries(
    unitPriceMembers.flatMap((member) => (entry[member] === undefined ? [] : [[member, entry[member]]])),
  );

function toProviderEntry({ provider, entry }: Candidate, routable: boolean): ProviderEntryObject {
  const { tools, vision, json_mode, json_schema } = entry.supported_params;
  return {
    provider: provider.id,
    provider_display_name: provider.display_name,
    input_price_per_million: entry.input_price_per_million ?? noPrice,
    output_price_per_million: entry.output_price_per_million ?? noPrice,
    ...unitPricesOf({ entry }),
    context_length: entry.context_length,
    routable,
    supported_params: { tools, vision, json_mode, json_schema },
    rate_limit_rpm: entry.rate_limit_rpm,
    rate_limit_tpm: entry.rate_limit_tpm,
    rate_limit_tpd: entry.rate_limit_tpd,
    max_output_tokens: entry.max_output_tokens,
  };
}
