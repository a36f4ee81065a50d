// Budgets and limits of LiteLLM's settings: those of the proxy become limits of one key, those of its users of the keys that
// members make.
import type { Path } from '../../../shared/configuration/gateway-file/index.ts';
import type { LiteLlmSource, Mapping } from './source.ts';

const keyName = 'litellm';
const workspaceId = 'litellm';
/** LiteLLM's calls need no credit. */
const creditUsd = '1000.00';
const memberKeysMax = 10;

/** Where a budget of all calls, and one of each user, may stand. */
const keyPlaces: readonly Path[] = [
  ['litellm_settings'],
  ['litellm_settings', 'default_key_generate_params'],
  ['general_settings', 'default_key_generate_params'],
];
const memberPlaces: readonly { readonly at: Path; readonly budget: string; readonly duration: string }[] = [
  { at: ['litellm_settings', 'default_internal_user_params'], budget: 'max_budget', duration: 'budget_duration' },
  { at: ['general_settings', 'default_internal_user_params'], budget: 'max_budget', duration: 'budget_duration' },
  { at: ['litellm_settings'], budget: 'max_internal_user_budget', duration: 'internal_user_budget_duration' },
  { at: ['general_settings'], budget: 'max_internal_user_budget', duration: 'internal_user_budget_duration' },
];

export function importWorkspace(
  source: LiteLlmSource,
  guardrails: readonly string[],
  models: readonly string[],
): Mapping {
  const key = Object.assign({}, ...keyPlaces.map((at) => keyLimits(source, at, models)).toReversed());
  const members = memberPlaces
    .map(({ at, budget, duration }) => spendLimit(source, [...at, budget], [...at, duration]))
    .find((limit) => limit !== undefined);
  return {
    id: workspaceId,
    credit_usd: creditUsd,
    ...(guardrails.length > 0 && { guardrails }),
    ...(members && { member_keys: { max: memberKeysMax, ...members } }),
    keys: [{ name: keyName, ...key }],
  };
}

function keyLimits(source: LiteLlmSource, at: Path, models: readonly string[]): Mapping {
  const number = (name: string) => source.number([...at, name]);
  const isOfKeys = at.length > 1;
  const [rpm, tpm, concurrency] = isOfKeys
    ? [number('rpm_limit'), number('tpm_limit'), number('max_parallel_requests')]
    : [];
  const named = isOfKeys ? source.list([...at, 'models']).filter((name) => models.includes(String(name))) : [];
  if (named.length > 0) source.use([...at, 'models']);
  return {
    ...(named.length > 0 && { models: named }),
    ...(rpm && { rpm: Math.ceil(rpm) }),
    ...(tpm && { tpm: Math.ceil(tpm) }),
    ...(concurrency && { concurrency: Math.ceil(concurrency) }),
    ...spendLimit(source, [...at, 'max_budget'], [...at, 'budget_duration']),
  };
}

/** By the days of a duration of LiteLLM, such as 30d, 24h or 1mo. */
const secondsByUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, mo: 2_592_000 };
const periods = [
  { days: 1, reset: 'daily', words: 'a day' },
  { days: 7, reset: 'weekly', words: 'a week' },
  { days: 31, reset: 'monthly', words: 'a month' },
] as const;

function spendLimit(source: LiteLlmSource, budget: Path, duration: Path): Mapping | undefined {
  const isWritten = source.look(budget) !== undefined;
  const amount = source.number(budget);
  const written = source.text(duration);
  if (amount === undefined) {
    if (isWritten) source.note(budget, 'is no limit: an amount above 0 is one');
    return undefined;
  }
  const limit = { spend_limit_usd: amount.toFixed(6).replace(/0{1,4}$/, '') };
  if (written === undefined) return limit;
  const [, count, unit = ''] = /^(\d+)(s|mo|m|h|d|w)$/.exec(written.trim()) ?? [];
  const days = (Number(count) * (secondsByUnit[unit] ?? Number.NaN)) / 86_400;
  const period = periods.find((one) => days <= one.days);
  if (period === undefined) {
    source.note(duration, 'the longest period of a limit is a month: this one never starts anew');
    return limit;
  }
  const isSame = days === period.days || written === '30d' || written === '1mo';
  const begins = 'which begins at midnight UTC, for all at the same time';
  source.note(
    duration,
    isSame
      ? `${written} becomes ${period.words}, ${begins}`
      : `${written} becomes ${period.words}, the next longer period, ${begins}`,
  );
  return { ...limit, spend_limit_reset: period.reset };
}

/** Of all calls together. */
export function importService(source: LiteLlmSource): Mapping | undefined {
  const concurrency = source.number(['general_settings', 'global_max_parallel_requests']);
  return concurrency === undefined ? undefined : { concurrency: Math.ceil(concurrency) };
}

/** What takes the place of settings that have no counterpart; the others have none at all. */
export function reasonFor(path: Path): string {
  const names = path.filter((step) => typeof step === 'string').map(String);
  const found = Object.entries(reasons).find(([name]) => names.at(-1) === name || names[0] === name);
  return found?.[1] ?? 'has no counterpart';
}

const stored = 'the gateway keeps its data in its own folder or tables';
const observed = 'see OTEL_EXPORTER_OTLP_ENDPOINT for traces, /metrics for Prometheus, service.alerts for alerts';
const retried = 'a call tries each entry of its model within its time, and passes over entries that failed lately';
const reasons: Readonly<Record<string, string>> = {
  master_key: 'keys are made anew and printed at the first start; the console has an operator key',
  database_url: stored,
  store_model_in_db: stored,
  cache: 'a request asks for a stored answer: cache: { enabled: true }',
  cache_params: 'a request asks for a stored answer: cache: { enabled: true }',
  drop_params: 'a field that no provider of the model takes is refused by name, or left out and reported',
  callbacks: observed,
  success_callback: observed,
  failure_callback: observed,
  alerting: observed,
  num_retries: retried,
  max_retries: retried,
  allowed_fails: retried,
  cooldown_time: retried,
  retry_policy: retried,
  request_timeout: 'a provider has first_chunk_timeout_ms, a stage its budget',
  timeout: 'a provider has first_chunk_timeout_ms, a stage its budget',
  stream_timeout: 'a provider has first_chunk_timeout_ms, a stage its budget',
  routing_strategy: 'entries are tried by weight, then by price, health and latency',
  content_policy_fallbacks: 'a refusal of a model is an answer, and no other model is asked',
  environment_variables: 'set them where the gateway starts',
  api_version: 'the address of version v1 needs none',
  temperature: 'a preset of the workspace sets it, or the client',
};
