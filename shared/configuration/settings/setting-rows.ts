// Lists the settings of keys and workspaces, a row each, by their names in a gateway file. Schemas, items, options,
// columns and forms are generated from these rows, in their order.
import { functionCallsDefault } from '../../foundation/constants/index.ts';

/** Kinds of values. Each reader of the rows has one map of them. */
export type SettingKind =
  | ('count' | 'usd' | 'reset' | 'instant' | 'validity' | 'models' | 'ids' | 'tags' | 'contentLog' | 'narrowedLog')
  | ('demand' | 'collection' | 'regions' | 'refusal' | 'switch');

export interface Setting {
  readonly kind: SettingKind;
  /** Name in records of keys, if it differs. */
  readonly name?: string;
  /** Attribute in the items of keys, if it differs. */
  readonly attribute?: string;
  /** Text in the API description. */
  readonly description?: string;
  /** Lowest role that may set the value, if the owner of a key may not. */
  readonly role?: 'editor';
  /** Option of the command line. */
  readonly option: readonly [flags: `--${string}`, help: string];
  /** Meaning of an absent value, in the help and in an empty field. */
  readonly absent?: string;
  /**
   * Column in lists of the command line; `leftOut`: columns with lower numbers are dropped first in a narrow terminal.
   */
  readonly column?: {
    readonly title: string;
    readonly align?: 'right' | 'decimal';
    readonly isFlexible?: boolean;
    readonly leftOut?: number;
  };
  /** Title of the field in forms of the console. */
  readonly title: string;
  /** Text in the empty field, if it is not `absent`. */
  readonly placeholder?: string;
  /** Note below the field. */
  readonly note?: string;
  /** Set if the console lists a count: its unit for a key, the title of its column for a workspace. */
  readonly listed?: string;
}

export type SettingRows = Readonly<Record<string, Setting>>;

export const keySettings = {
  rpm: {
    kind: 'count',
    attribute: 'requests_per_minute',
    description: 'Requests per minute. Null: no limit.',
    option: ['--rpm <N>', 'requests per minute'],
    absent: 'no limit',
    column: { title: 'rpm', align: 'right' },
    title: 'Requests per minute',
    listed: 'per minute',
  },
  tpm: {
    kind: 'count',
    attribute: 'tokens_per_minute',
    description: 'Tokens per minute. Null: no limit.',
    option: ['--tpm <N>', 'tokens per minute'],
    absent: 'no limit',
    column: { title: 'tpm', align: 'right', leftOut: 2 },
    title: 'Tokens per minute',
    listed: 'tokens per minute',
  },
  concurrency: {
    kind: 'count',
    description: 'Calls in flight. Null: the default of the service.',
    option: ['--concurrency <N>', 'calls in flight'],
    absent: 'the default of the service',
    column: { title: 'concurrent', align: 'right', leftOut: 2 },
    title: 'Concurrent calls',
    listed: 'concurrent',
  },
  spend_limit_usd: {
    kind: 'usd',
    name: 'spendLimitUsd',
    option: ['--spend-limit <USD>', 'what the key may spend'],
    absent: 'no limit',
    column: { title: 'spend limit', align: 'decimal' },
    title: 'Spend limit in USD',
  },
  spend_limit_reset: {
    kind: 'reset',
    name: 'spendLimitReset',
    description: 'When the spending that counts against the limit starts again (UTC). Null: never.',
    option: ['--spend-limit-reset <P>', 'when the spend limit resets: daily, weekly or monthly (UTC)'],
    absent: 'never',
    column: { title: 'reset' },
    title: 'Spend limit resets',
  },
  expires_at: {
    kind: 'instant',
    name: 'expiresAtMs',
    attribute: 'expires_at_ms',
    option: ['--expires <WHEN>', '2027-01-01, 2027-01-01T12:00:00Z, or a length of time such as 90d'],
    absent: 'never',
    column: { title: 'expires' },
    title: 'Expires',
  },
  models: {
    kind: 'models',
    option: ['--models <IDS>', 'ids with commas between them'],
    absent: 'all of the workspace',
    column: { title: 'models', isFlexible: true },
    title: 'Models',
    note: 'Catalogue ids with commas between them.',
  },
  tags: {
    kind: 'tags',
    option: ['--tag <NAME=VALUE>', 'on each of its calls; may be repeated'],
    absent: 'no tags',
    column: { title: 'tags', isFlexible: true, leftOut: 1 },
    title: 'Tags',
    placeholder: 'none',
    note: 'On each call with this key, whatever a request says under the same names: team=search, feature=rerank.',
  },
  content_log: {
    kind: 'narrowedLog',
    name: 'contentLog',
    description: 'Which bodies of its calls are kept: never more than the workspace keeps. Null: as the workspace.',
    role: 'editor',
    option: [
      '--content-log <KEEP>',
      'keeps less of its calls than the workspace does: 7d, or 7d:0.1 for a tenth of them',
    ],
    absent: 'as the workspace',
    title: 'Bodies of calls are kept for',
    placeholder: 'not narrowed',
  },
  guardrails: {
    kind: 'ids',
    description: 'They check its calls beside those of its workspace.',
    option: ['--guardrails <IDS>', 'ids with commas between them, beside those of the workspace'],
    absent: 'no others',
    column: { title: 'guardrails', isFlexible: true, leftOut: 1 },
    title: 'Guardrails',
    placeholder: 'those of the workspace alone',
    note: 'Ids with commas between them, which check its calls beside those of the workspace.',
  },
} as const satisfies SettingRows;

/** Settings of workspaces. A dot separates a setting from its field. */
export const workspaceSettings = {
  spend_limit_usd: {
    kind: 'usd',
    option: ['--spend-limit <USD>', 'a cap on all that it spends'],
    absent: 'no limit',
    title: 'Spend limit in USD',
  },
  tpm: {
    kind: 'count',
    description: 'Tokens per minute. Null: no limit.',
    option: ['--tpm <N>', 'its tokens per minute'],
    absent: 'no limit',
    column: { title: 'tpm', align: 'right', leftOut: 2 },
    title: 'Tokens per minute',
    listed: 'Tokens per minute',
  },
  concurrency: {
    kind: 'count',
    option: ['--concurrency <N>', 'its calls in flight'],
    absent: 'no limit of its own',
    column: { title: 'concurrent', align: 'right', leftOut: 2 },
    title: 'Concurrent calls',
    listed: 'Calls at once',
  },
  function_concurrency: {
    kind: 'count',
    option: [
      '--function-concurrency <N>',
      `its calls of functions in flight; in a new workspace ${functionCallsDefault}`,
    ],
    absent: 'no limit of its own',
    column: { title: 'concurrent functions', align: 'right', leftOut: 1 },
    title: 'Concurrent calls of functions',
    placeholder: `no limit; ${functionCallsDefault} in a new workspace`,
  },
  models: {
    kind: 'models',
    option: ['--models <IDS>', 'ids with commas between them, or all'],
    column: { title: 'models', isFlexible: true },
    title: 'Models',
    placeholder: 'all; or ids with commas between them',
  },
  guardrails: {
    kind: 'ids',
    description: 'They check all its calls. Null: none.',
    option: ['--guardrails <IDS>', 'they check all its calls; ids with commas between them, or none'],
    title: 'Guardrails',
    placeholder: 'none; or ids with commas between them',
  },
  'data_policy.zdr': {
    kind: 'demand',
    option: ['--zdr <SWITCH>', 'on: only providers that keep nothing; off: not enforced'],
    title: 'Only providers that keep nothing (zero data retention)',
  },
  'data_policy.data_collection': {
    kind: 'collection',
    option: ['--data-collection <POLICY>', 'deny: only providers that do not train; allow, or none'],
    title: 'Only providers that do not train on what they get',
  },
  'data_policy.data_residency': {
    kind: 'regions',
    option: ['--data-residency <REGIONS>', 'only providers there, such as eu,us; none: anywhere'],
    title: 'Only in these regions',
    placeholder: 'any; or such as eu, us',
  },
  'idempotency.zdr': {
    kind: 'refusal',
    option: [
      '--idempotency-zdr <RULE>',
      'refuse: no Idempotency-Key under zdr, so that no answer is stored for one; none: stored for its retry alone',
    ],
    title: 'Refuse an Idempotency-Key where nothing may be kept',
  },
  'features.byok': {
    kind: 'switch',
    option: ['--byok <SWITCH>', 'on: its own keys of providers may be used'],
    title: 'Own provider keys',
  },
  'features.presets': {
    kind: 'switch',
    option: ['--presets <SWITCH>', 'on: its presets may be used'],
    title: 'Presets',
  },
  content_log: {
    kind: 'contentLog',
    description: 'Which bodies of calls are kept. Null: none.',
    option: [
      '--content-log <KEEP>',
      'keeps the bodies of its calls: 1d, 7d, 30d, 90d, 365d; 30d:0.1 those of a tenth; none: none from now on',
    ],
    title: 'Bodies of calls are kept for',
    placeholder: 'not kept',
  },
  'member_keys.max': {
    kind: 'count',
    option: ['--member-keys <N>', 'how many keys a member may make; none: none'],
    title: 'Keys that a member may make',
    placeholder: 'none',
  },
  'member_keys.rpm': {
    kind: 'count',
    option: ['--member-rpm <N>', 'requests per minute of each of these keys, at most'],
    title: 'Requests per minute of each of these keys',
    placeholder: 'no limit',
  },
  'member_keys.concurrency': {
    kind: 'count',
    option: ['--member-concurrency <N>', 'calls in flight of each, at most'],
    title: 'Concurrent calls of each',
    placeholder: 'the default of the service',
  },
  'member_keys.spend_limit_usd': {
    kind: 'usd',
    option: ['--member-spend-limit <USD>', 'what each may spend, at most'],
    title: 'Spend limit in USD of each',
    placeholder: 'no limit',
  },
  'member_keys.spend_limit_reset': {
    kind: 'reset',
    option: ['--member-spend-limit-reset <P>', 'when its spend limit resets: daily, weekly or monthly'],
    title: 'Spend limit resets',
    placeholder: 'never',
  },
  'member_keys.expires_in': {
    kind: 'validity',
    option: ['--member-expires-in <TIME>', 'when each ends at the latest: 12h, 30d or 8w; none: never'],
    title: 'Each ends after',
    placeholder: 'never; or such as 30d',
  },
} as const satisfies SettingRows;
