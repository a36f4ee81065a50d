// Every member of a call record: its attribute, its kind and its bound. What is not in this table is not kept.
import { type ErrorCode, errorCatalogue } from '../../errors/index.ts';
import { idPattern } from '../../foundation/constants/index.ts';
import type { CallOutcome, CallRecord } from './call-record.ts';
import {
  address,
  amount,
  attempts,
  count,
  duration,
  flag,
  instant,
  type Scalar,
  type StoredKind,
  shares,
  text,
  textLike,
  toAttemptText,
  words,
} from './stored-kinds.ts';

interface Member<Value, IsRequired extends boolean> {
  readonly attribute: string;
  readonly kind: StoredKind<Value>;
  readonly isRequired: IsRequired;
}

type Members = {
  readonly [Name in keyof CallRecord]-?: undefined extends CallRecord[Name]
    ? Member<Exclude<CallRecord[Name], undefined>, false>
    : Member<CallRecord[Name], true>;
};

const required = <Value>(attribute: string, kind: StoredKind<Value>) =>
  ({ attribute, kind, isRequired: true }) as const;
const optional = <Value>(attribute: string, kind: StoredKind<Value>) =>
  ({ attribute, kind, isRequired: false }) as const;

/** Workspaces, keys, functions, UUIDs. Also keeps the separator of the table's keys out of them. */
const id = textLike<string>((value) => idPattern.test(value));
const errorCode = textLike<ErrorCode>((value) => Object.hasOwn(errorCatalogue, value));
const outcome = textLike<CallOutcome>(
  (value) => value === 'ok' || value === 'cut' || value === 'client_gone' || Object.hasOwn(errorCatalogue, value),
);
/** Contract 2. */
const correlationText = text(128);
const sessionText = text(256);
const attributionMaxCharacters = 512;
/** Catalogue ids have at most 128 characters, function aliases 141. */
const modelText = text(160);
/** The longest ones list paths or names; what is behind that stands in the answer. */
const errorMessageMaxCharacters = 512;
/** A function may make many provider calls; the first ones show what was wrong. */
const attemptsMax = 16;
/** A workflow has fewer models as a rule; of more, the rest counts for the one that answered last. */
const otherSharesMax = 16;

const members: Members = {
  workspace: required('workspace', id),
  executionId: required('execution_id', id),
  arrivedAtMs: required('arrived_at_ms', instant),
  keyPublicId: required('key_id', id),
  keyName: optional('key_name', text(128)),
  referer: optional('referer', address(attributionMaxCharacters)),
  title: optional('title', text(attributionMaxCharacters)),
  user: optional('user', text(attributionMaxCharacters)),
  correlationId: required('correlation_id', id),
  traceId: required('trace_id', correlationText),
  spanId: optional('span_id', correlationText),
  parentSpanId: optional('parent_span_id', correlationText),
  sessionId: optional('session_id', sessionText),
  modelAsked: optional('model_asked', modelText),
  modelServed: optional('model', modelText),
  provider: optional('provider', text(64)),
  functionId: optional('function_id', id),
  revisionId: optional('revision_id', id),
  stream: required('stream', flag),
  cacheHit: required('cache_hit', flag),
  isByok: required('is_byok', flag),
  outcome: required('outcome', outcome),
  cutCode: optional('cut_code', errorCode),
  errorMessage: optional('error_message', text(errorMessageMaxCharacters)),
  replayOf: optional('replay_of', id),
  attempts: required('attempts', count),
  attemptCauses: required('attempt_causes', words(attemptsMax)),
  attemptLog: optional('attempt_log', attempts(attemptsMax)),
  promptTokens: required('prompt_tokens', count),
  cachedTokens: required('cached_tokens', count),
  completionTokens: required('completion_tokens', count),
  estimated: required('estimated', flag),
  costPicoUsd: required('cost_pico_usd', amount),
  otherShares: optional('other_shares', shares(otherSharesMax)),
  queuedMs: required('queued_ms', duration),
  firstOutputMs: optional('first_output_ms', duration),
  totalMs: required('total_ms', duration),
  gatewayMs: required('gateway_ms', duration),
};

/** `globex:status_500:500:31 acme:ok:200:12`, for a log line. */
export const attemptsText = (attempts: CallRecord['attemptLog']): string | undefined =>
  attempts?.slice(0, attemptsMax).flatMap(toAttemptText).join(' ');

const memberNames = Object.keys(members) as (keyof CallRecord)[];

/** Throws a TypeError that names a required member whose value is not of its kind: a mistake of the caller. */
export function toScalars(record: CallRecord): Record<string, Scalar> {
  const scalars: Record<string, Scalar> = {};
  for (const name of memberNames) {
    const { attribute, kind, isRequired } = members[name];
    const scalar = kind.toScalar(record[name]);
    if (scalar !== undefined) scalars[attribute] = scalar;
    else if (isRequired) throw new TypeError(`a call record cannot be kept: its ${name} is missing or not of its kind`);
  }
  return scalars;
}

export function fromScalars(scalars: Readonly<Record<string, unknown>>): CallRecord {
  const stored = memberNames.filter((name) => scalars[members[name].attribute] !== undefined);
  const entries = stored.map((name) => [name, members[name].kind.fromScalar(scalars[members[name].attribute])]);
  return Object.fromEntries(entries) as CallRecord;
}
