// The rules of planning again, seen from one candidate: how many checks does it pass? The error is that of the last
// check that any candidate reached. This planner is slow, counts in floats, and shares no line with the real planner.
import type { ModelDocument, ModelProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { Configuration, PlannedBody } from './arbitrary-configurations.ts';

export interface Runner {
  readonly name: string;
  readonly model: ModelDocument;
  readonly entry: ModelProviderDocument;
}

const hurdles = [
  'model_not_routable',
  'data_policy_loosening_forbidden',
  'no_policy_compliant_provider',
  'feature_unsupported',
  'structured_output_unsupported',
  'byok_no_eligible_connection',
  'price_cap_exceeded',
  'provider_not_configured',
] as const;

/** Returns an error code, or the candidates that pass every check, in no particular order. */
export function naiveVerdict(body: PlannedBody, configuration: Configuration): string | readonly Runner[] {
  const only = [body.provider?.only ?? []].flat();
  if (only.some((id) => configuration.document.providers.every((provider) => provider.id !== id)))
    return 'invalid_request';
  const { models } = configuration.workspace;
  const visible = configuration.document.models.filter(({ id }) => models === 'all' || models.includes(id));
  // If the whole catalogue marks no model, every model counts as marked.
  const isMarked = ({ auto }: ModelDocument) => auto || configuration.document.models.every((model) => !model.auto);
  const candidateModels = visible.filter((model) =>
    body.model === 'auto' ? isMarked(model) : model.id === body.model,
  );
  if (candidateModels.length === 0 && body.model !== 'auto') return 'unknown_model';
  const runners = candidateModels.flatMap((model) =>
    model.providers.map((entry): Runner => ({ name: `${model.id}@${entry.provider}`, model, entry })),
  );
  const falls = runners.map((runner) => hurdlesOf(runner, body, configuration).indexOf(false));
  const finishers = runners.filter((_, at) => falls[at] === -1);
  return finishers.length > 0 ? finishers : (hurdles[Math.max(0, ...falls)] ?? 'impossible');
}

/** Returns whether the candidate passes each check, in the order of the checks. */
export function hurdlesOf(runner: Runner, body: PlannedBody, configuration: Configuration): readonly boolean[] {
  const { keys, configured } = configuration;
  const hasKey = keys.connected.includes(runner.entry.provider);
  const hasPrices =
    typeof runner.entry.input_price_per_million === 'string' &&
    typeof runner.entry.output_price_per_million === 'string';
  return [
    isWanted(runner, body) && (hasPrices || hasKey || keys.isRequired),
    !isLoosening(body, configuration),
    isCompliant(runner, body, configuration),
    isAble(runner, body),
    body.response_format?.type === 'json_schema' ? runner.entry.supported_params.json_schema : true,
    keys.isRequired ? hasKey : true,
    isAffordable(runner, body),
    hasKey || configured.includes(runner.entry.provider),
  ];
}

function isWanted({ entry }: Runner, { provider = {} }: PlannedBody): boolean {
  if (provider.ignore?.includes(entry.provider)) return false;
  if (provider.only !== undefined && ![provider.only].flat().includes(entry.provider)) return false;
  const namesAreAll = provider.allow_fallbacks === false && provider.order !== undefined && provider.order.length > 0;
  return !namesAreAll || (provider.order?.includes(entry.provider) ?? false);
}

function isLoosening({ provider = {} }: PlannedBody, { workspace: { data_policy: law } }: Configuration): boolean {
  const escapesRegions = law.data_residency && provider.data_residency?.find((id) => !law.data_residency?.includes(id));
  return (
    (law.zdr === true && provider.zdr === false) ||
    (law.data_collection === 'deny' && provider.data_collection === 'allow') ||
    Boolean(escapesRegions)
  );
}

function isCompliant(
  { entry }: Runner,
  { provider = {} }: PlannedBody,
  { document, workspace }: Configuration,
): boolean {
  const declared = document.providers.find(({ id }) => id === entry.provider)?.data_policy ?? {};
  return [workspace.data_policy, provider].every(
    (policy) =>
      (policy.zdr !== true || declared.zdr === true) &&
      (policy.data_collection !== 'deny' || declared.data_collection === 'deny') &&
      (policy.data_residency === undefined ||
        (declared.data_residency ?? ['nowhere']).every((region) => policy.data_residency?.includes(region))),
  );
}

function isAble({ entry, model }: Runner, body: PlannedBody): boolean {
  const text = JSON.stringify(body);
  const lacks: readonly (readonly [boolean | undefined, boolean])[] = [
    [body.tools && body.tools.length > 0, entry.supported_params.tools],
    [text.includes('"image_url"'), entry.supported_params.vision],
    [text.includes('"input_audio"'), model.modalities.includes('audio')],
    [text.includes('"json_object"'), entry.supported_params.json_mode],
    [body.stream, entry.streaming],
  ];
  return lacks.every(([isAsked, isThere]) => !isAsked || isThere);
}

function isAffordable({ entry }: Runner, { provider = {} }: PlannedBody): boolean {
  const { max_price: cap } = provider;
  const { prompt, completion } = typeof cap === 'number' ? { prompt: cap, completion: cap } : (cap ?? {});
  const costs = (price: string | null) => (price === null ? Number.POSITIVE_INFINITY : Number(price));
  return (
    costs(entry.input_price_per_million) <= (prompt ?? Number.POSITIVE_INFINITY) &&
    costs(entry.output_price_per_million) <= (completion ?? Number.POSITIVE_INFINITY)
  );
}

/** Returns whether the request has no written order; only a written order outranks cooling. */
export const namesNoOrder = ({ provider }: PlannedBody): boolean => (provider?.order ?? []).length === 0;

/** Returns whether the request has neither `sort` nor `order`; only then do rules about long prompts apply. */
const asksForNoOrder = ({ provider }: PlannedBody): boolean =>
  (provider?.sort ?? null) === null && (provider?.order ?? []).length === 0;

/** Returns whether the first candidate comes before the second: the first rule in which they differ decides. */
export function mayPrecede(first: Runner, second: Runner, body: PlannedBody, configuration: Configuration): boolean {
  const cools = ({ entry }: Runner) => namesNoOrder(body) && configuration.cooling.includes(entry.provider);
  if (cools(first) !== cools(second)) return cools(second);
  const overflows = ({ entry }: Runner) =>
    asksForNoOrder(body) && JSON.stringify(body).includes('x'.repeat(100)) && entry.context_length < 20;
  if (overflows(first) !== overflows(second)) return overflows(second);
  const { order = [], sort = 'price' } = body.provider ?? {};
  const place = ({ entry }: Runner) => [...order, entry.provider].indexOf(entry.provider);
  const rank = (runner: Runner) => (order.includes(runner.entry.provider) ? place(runner) : order.length);
  if (rank(first) !== rank(second)) return rank(first) < rank(second);
  const [left, right] = [configuration.stats[first.name], configuration.stats[second.name]];
  const latency = [left?.medianLatencyMs ?? 1e9, right?.medianLatencyMs ?? 1e9] as const;
  if (sort === 'latency' && latency[0] !== latency[1]) return latency[0] < latency[1];
  const throughput = [left?.throughputRpm ?? 0, right?.throughputRpm ?? 0] as const;
  if (sort === 'throughput' && throughput[0] !== throughput[1]) return throughput[0] > throughput[1];
  const prices = ({ entry }: Runner) => [entry.input_price_per_million, entry.output_price_per_million];
  const isPriced = (runner: Runner) => !prices(runner).includes(null);
  if (isPriced(first) !== isPriced(second)) return isPriced(first);
  const total = (runner: Runner) => prices(runner).reduce((sum, price) => sum + Number(price), 0);
  if (total(first) !== total(second)) return total(first) < total(second);
  const all = configuration.document.models.flatMap(({ id, providers }) =>
    providers.map(({ provider }) => `${id}@${provider}`),
  );
  return all.indexOf(first.name) < all.indexOf(second.name);
}
