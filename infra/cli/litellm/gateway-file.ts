// Converts a file of LiteLLM to a gateway file. The result is read like every gateway file. A part that the gateway
// cannot accept becomes a comment, so that the rest can start.
import { isMapping, type Path, readWithList, yamlText } from '../../../shared/configuration/gateway-file/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { readDeployment } from './deployments.ts';
import { importModels } from './models.ts';
import { ImportedProviders } from './providers.ts';
import { type ImportNote, LiteLlmSource, type Mapping } from './source.ts';

interface ImportedFile {
  readonly text: string;
  readonly notes: readonly ImportNote[];
}

/** Region for providers of AWS that name none. */
const regionDefault = 'us-east-1';
/** Maximum number of rounds, each of which leaves out at least one item. */
const roundsMax = 200;

/** Converts a file. Rejects with an Error with one line for the terminal. */
export async function importLiteLlm(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ImportedFile> {
  const source = new LiteLlmSource(text, variables);
  if (!Array.isArray(source.look(['model_list']))) throw new Error('is no file of LiteLLM: it has no model_list');
  const context = { source, providers: new ImportedProviders(source), list: await loadModelList() };
  const deployments = source
    .list(['model_list'])
    .flatMap((_item, at) => readDeployment(context, ['model_list', at]) ?? []);
  const guardrails = importGuardrails(source);
  const models = importModels(context, deployments);
  const ids = models.flatMap(({ item }) => ('id' in item ? [item.id] : []));
  const parts: Parts = {
    service: importService(source),
    models,
    providers: context.providers.list().map((item) => ({ item })),
    guardrails: guardrails.map(({ path, guardrail }) => ({ path, item: guardrail })),
    workspace: importWorkspace(
      source,
      guardrails.filter(({ isDefault }) => isDefault).map(({ guardrail: { id } }) => id),
      ids,
    ),
  };
  const file = await startable(source, parts);
  const notes = source.notes(reasonFor);
  return { text: `${head(notes)}${file}`, notes };
}

interface Part {
  /** Path in the file of LiteLLM; absent if several of its items made it. */
  readonly path?: Path;
  readonly item: unknown;
}
interface Parts {
  readonly service: Mapping | undefined;
  readonly providers: readonly Part[];
  readonly models: readonly Part[];
  readonly guardrails: readonly Part[];
  readonly workspace: Mapping;
}

/** Leaves out the items that the reader of gateway files refuses, with its reason as a comment. */
async function startable(source: LiteLlmSource, all: Parts): Promise<string> {
  let parts = all;
  for (let round = 0; round < roundsMax; round += 1) {
    const text = fileText(parts);
    const read = await readWithList(text, { region: regionDefault });
    if (read.ok) return text;
    const faulty = read.problems.flatMap(({ path, message }) => {
      const [, section, index] = /^(models|guardrails)\[(\d+)\]/.exec(path) ?? [];
      return section === undefined
        ? []
        : [{ section: section as 'models' | 'guardrails', index: Number(index), message }];
    });
    const [first] = faulty;
    const [problem] = read.problems;
    if (first === undefined) throw new Error(`cannot become a gateway file: ${problem?.path}: ${problem?.message}`);
    const outside = parts[first.section][first.index];
    source.note(outside?.path ?? [first.section], `is left out: ${first.message}`);
    parts = { ...parts, [first.section]: parts[first.section].filter((_part, at) => at !== first.index) };
  }
  throw new Error(`cannot become a gateway file: more than ${roundsMax} of its items are refused`);
}

function fileText({ service, providers, models, guardrails, workspace }: Parts): string {
  const itemsOf = (parts: readonly Part[]) => parts.map(({ item }) => item);
  const ids = new Set(guardrails.map(({ item }) => (item as { readonly id: string }).id));
  const guardrailIds = ((workspace.guardrails as readonly string[] | undefined) ?? []).filter((id) => ids.has(id));
  const { guardrails: _named, ...rest } = workspace;
  return yamlText({
    ...(service && { service }),
    providers: itemsOf(providers),
    models: itemsOf(models),
    ...(guardrails.length > 0 && { guardrails: itemsOf(guardrails) }),
    workspaces: [{ ...rest, ...(guardrailIds.length > 0 && { guardrails: guardrailIds }) }],
  });
}

function head(notes: readonly ImportNote[]): string {
  const lines = [
    'Made of a file of LiteLLM. credit_usd is what the workspace may spend in all: set yours.',
    ...(notes.length === 0 ? [] : ['By the line of that file, what is not here as it was there:']),
    ...notes.map(({ line, text }) => `line ${line}: ${text}`),
  ];
  return lines.map((line) => `# ${line.replace(/[\r\n\u2028\u2029]+/g, ' ')}\n`).join('');
}

// Converts guardrails with a counterpart: guardrails of Amazon Bedrock, words, patterns, and personal data that is
// found without a service.

interface ImportedGuardrail {
  readonly path: Path;
  readonly guardrail: Mapping & { readonly id: string };
  /** Whether it applies to every call. */
  readonly isDefault: boolean;
}

/** Presidio's types that the gateway finds in its own process. */
const personalTypes: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: 'email',
  PHONE_NUMBER: 'phone',
  CREDIT_CARD: 'card',
  IBAN_CODE: 'iban',
  IP_ADDRESS: 'ip',
};
const everyPersonalType = ['email', 'phone', 'card', 'iban', 'ip'];

function importGuardrails(source: LiteLlmSource): readonly ImportedGuardrail[] {
  return source.list(['guardrails']).flatMap((_item, at): readonly ImportedGuardrail[] => {
    const path: Path = ['guardrails', at];
    const parameter = (name: string): Path => [...path, 'litellm_params', name];
    const name = source.text([...path, 'guardrail_name']) ?? `guardrail-${at + 1}`;
    const kind = String(source.look(parameter('guardrail')));
    const body = bodies[kind]?.(source, parameter);
    if (body === undefined) {
      source.use(path);
      source.note(
        path,
        `${name} (${kind}) is left out: kinds of the gateway are bedrock, http, words, patterns and pii`,
      );
      return [];
    }
    source.use(parameter('guardrail'));
    const id = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64);
    const isDefault = source.use(parameter('default_on')) === true;
    if (!isDefault) source.note(path, `${id} checks the calls of keys and workspaces that name it in their guardrails`);
    return [{ path, guardrail: { id, ...body, on: directions(source, parameter('mode')) }, isDefault }];
  });
}

function directions(source: LiteLlmSource, path: Path): readonly string[] {
  const written = [source.use(path)].flat();
  const isInput = written.some((mode) => mode === 'pre_call' || mode === 'during_call');
  const isOutput = written.includes('post_call');
  return isInput === isOutput ? ['input', 'output'] : isInput ? ['input'] : ['output'];
}

type Body = (source: LiteLlmSource, parameter: (name: string) => Path) => Mapping | undefined;

const bodies: Readonly<Record<string, Body>> = {
  bedrock(source, parameter) {
    const guardrail = source.text(parameter('guardrailIdentifier'));
    const version = source.text(parameter('guardrailVersion'));
    if (guardrail === undefined || version === undefined) return undefined;
    const region = source.text(parameter('aws_region_name')) ?? 'us-east-1';
    return { kind: 'bedrock', guardrail, version, region };
  },
  presidio(source, parameter) {
    const entities = source.use(parameter('pii_entities_config'));
    for (const name of ['presidio_analyzer_api_base', 'presidio_anonymizer_api_base']) source.use(parameter(name));
    if (!isMapping(entities)) {
      source.note(parameter('guardrail'), 'what has a fixed form is found in the process; names and places are not');
      return { kind: 'pii', types: everyPersonalType, action: 'mask' };
    }
    const types = Object.keys(entities).flatMap((type) => personalTypes[type] ?? []);
    const unknown = Object.keys(entities).filter((type) => personalTypes[type] === undefined);
    if (unknown.length > 0) source.note(parameter('pii_entities_config'), `no counterpart for ${unknown.join(', ')}`);
    const isBlocked = Object.values(entities).includes('BLOCK');
    if (isBlocked && Object.values(entities).includes('MASK')) {
      source.note(parameter('pii_entities_config'), 'a guardrail has one action: all of these types block');
    }
    return types.length === 0 ? undefined : { kind: 'pii', types, action: isBlocked ? 'block' : 'mask' };
  },
  litellm_content_filter(source, parameter) {
    const words = source
      .list(parameter('blocked_words'))
      .flatMap((item) => (isMapping(item) && typeof item.keyword === 'string' ? [item] : []));
    const patterns = source
      .list(parameter('patterns'))
      .flatMap((item) => (isMapping(item) && typeof item.pattern === 'string' ? [item] : []));
    const [list, member] = words.length > 0 ? [words, 'blocked_words'] : [patterns, 'patterns'];
    if (list.length === 0) return undefined;
    source.use(parameter(member));
    const action = list.every((item) => item.action === 'MASK') ? 'mask' : 'block';
    if (words.length > 0) return { kind: 'words', words: words.map(({ keyword }) => keyword), action };
    const namedPatterns = patterns.map(({ name, pattern }, at) => ({
      name: String(name ?? `pattern-${at + 1}`),
      regex: pattern,
    }));
    return { kind: 'patterns', patterns: namedPatterns, action };
  },
};

// Converts budgets and limits of LiteLLM's settings. Limits of the proxy become limits of one key, and limits of its
// users become limits of the keys that members create.

const keyName = 'litellm';
const workspaceId = 'litellm';
/** Credit of the workspace; LiteLLM's calls need none. */
const creditUsd = '1000.00';
const memberKeysMax = 10;

/** Places of a budget of all calls, and of a budget of each user. */
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

function importWorkspace(source: LiteLlmSource, guardrails: readonly string[], models: readonly string[]): Mapping {
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
  const hasKeyLimits = at.length > 1;
  const [rpm, tpm, concurrency] = hasKeyLimits
    ? [number('rpm_limit'), number('tpm_limit'), number('max_parallel_requests')]
    : [];
  const keyModels = hasKeyLimits ? source.list([...at, 'models']).filter((name) => models.includes(String(name))) : [];
  if (keyModels.length > 0) source.use([...at, 'models']);
  return {
    ...(keyModels.length > 0 && { models: keyModels }),
    ...(rpm && { rpm: Math.ceil(rpm) }),
    ...(tpm && { tpm: Math.ceil(tpm) }),
    ...(concurrency && { concurrency: Math.ceil(concurrency) }),
    ...spendLimit(source, [...at, 'max_budget'], [...at, 'budget_duration']),
  };
}

/** Seconds by the unit of a duration of LiteLLM, such as 30d, 24h or 1mo. */
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

/** Reads the limits of all calls together. */
function importService(source: LiteLlmSource): Mapping | undefined {
  const concurrency = source.number(['general_settings', 'global_max_parallel_requests']);
  return concurrency === undefined ? undefined : { concurrency: Math.ceil(concurrency) };
}

/** Names the replacement of settings that have no counterpart; the others have no replacement. */
function reasonFor(path: Path): string {
  const names = path.filter((step) => typeof step === 'string').map(String);
  const found = Object.entries(reasons).find(([name]) => names.at(-1) === name || names[0] === name);
  return found?.[1] ?? 'has no counterpart';
}

const ownStorage = 'the gateway keeps its data in its own folder or tables';
const observed = 'see OTEL_EXPORTER_OTLP_ENDPOINT for traces, /metrics for Prometheus, service.alerts for alerts';
const retried = 'a call tries each entry of its model within its time, and passes over entries that failed lately';
const reasons: Readonly<Record<string, string>> = {
  master_key: 'keys are made anew and printed at the first start; the console has an operator key',
  database_url: ownStorage,
  store_model_in_db: ownStorage,
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
