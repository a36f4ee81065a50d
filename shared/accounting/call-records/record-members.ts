// Lists the fields of a call record, which usage reports read. Each call of a known key has a record, also a refused
// call. The record says who, what, how long and how much, and never contains a prompt, an answer or a key. This table
// is the only list of fields. The type of a record, its item and its document follow from the table.
import { type ErrorCode, errorCatalogue } from '../../errors/index.ts';
import {
  type BasePath,
  basePaths,
  type CountedUnits,
  countedUnits,
  type InterfaceId,
  idPattern,
  interfaceIds,
  type ProviderApi,
  providerApis,
} from '../../foundation/constants/index.ts';
import { type JsonObject, tagsMax } from '../../protocol/wire/index.ts';
import type { CallOutcome } from './call-record.ts';
import { timeLine } from './call-time-line.ts';
import { guardrailChecks } from './guardrail-checks.ts';
import {
  address,
  amount,
  attempts,
  content,
  count,
  duration,
  flag,
  instant,
  paths,
  type Scalar,
  type StoredKind,
  shares,
  tags,
  text,
  textLike,
  toAttemptText,
  words,
} from './stored-kinds.ts';

// Images, characters, seconds and search units of a call, as its record has them. Most calls have none.

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Kind that is stored as JSON. */
const callUnits: StoredKind<CountedUnits, CountedUnits> = {
  toScalar(value) {
    const units = (value ?? {}) as CountedUnits;
    const known = countedUnits.filter((name) => isAmount(units[name]));
    return known.length === 0
      ? undefined
      : JSON.stringify(Object.fromEntries(known.map((name) => [name, units[name]])));
  },
  fromScalar: (stored) => JSON.parse(stored as string) as CountedUnits,
  toJson: (units) => units,
  schema: {
    type: 'object',
    properties: Object.fromEntries(countedUnits.map((name) => [name, { type: 'number', minimum: 0 }])),
  },
};

interface Member<Value, Json, Document extends string | undefined, IsRequired extends boolean> {
  readonly attribute: string;
  readonly kind: StoredKind<Value, Json>;
  /** Name in documents; undefined for a field that no document shows. */
  readonly document: Document;
  readonly isRequired: IsRequired;
  /**
   * Value that is not stored, because most calls have it, and attributes are most of the cost of a write. Only flags
   * have a usual value, because earlier releases read an absent flag as false.
   */
  readonly usual?: false | undefined;
}

/** Returns a required field. `document` defaults to the name of the attribute. */
const required = <Value, Json, Attribute extends string, Document extends string | undefined = Attribute>(
  attribute: Attribute,
  kind: StoredKind<Value, Json>,
  options: { readonly document?: Document; readonly usual?: false } = {},
): Member<Value, Json, Document, true> => ({
  ...{ ...namedText(attribute, options), kind, isRequired: true, usual: options.usual },
});
const optional = <Value, Json, Attribute extends string, Document extends string | undefined = Attribute>(
  attribute: Attribute,
  kind: StoredKind<Value, Json>,
  options: { readonly document?: Document } = {},
): Member<Value, Json, Document, false> => ({ ...namedText(attribute, options), kind, isRequired: false });
const namedText = <Document extends string | undefined>(
  attribute: string,
  options: { readonly document?: Document },
): { readonly attribute: string; readonly document: Document } => ({
  attribute,
  document: ('document' in options ? options.document : attribute) as Document,
});
const hidden = { document: undefined } as const;

/** Kind of ids: workspaces, keys, functions, UUIDs. It excludes the separator of the table's keys. */
const id = textLike<string>((value) => idPattern.test(value));
const errorCode = textLike<ErrorCode>((value) => Object.hasOwn(errorCatalogue, value));
const outcome = textLike<CallOutcome>(
  (value) => value === 'ok' || value === 'cut' || value === 'client_gone' || Object.hasOwn(errorCatalogue, value),
);
const correlationText = text(128);
const sessionText = text(256);
const attributionMaxCharacters = 512;
/** Kind of model names. Catalogue ids have at most 128 characters, and function aliases have at most 141. */
const modelText = text(160);
/** Bound of an error message. The longest messages list paths or names, and the answer contains the rest. */
const errorMessageMaxCharacters = 512;
/** Maximum number of guardrails of a workspace and a key, in both directions. */
const guardrailsMax = 64;
/**
 * Maximum number of attempts that are recorded. A function may make many provider calls; the first attempts show the
 * fault.
 */
const attemptsMax = 16;
/**
 * Maximum shares of other models. A workflow usually has fewer models; further models count for the model that answered
 * last.
 */
const otherSharesMax = 16;
/** Maximum parts, which are admission, settlement, and one part for each attempt and guardrail. */
const timedPartsMax = 2 + attemptsMax + guardrailsMax;

const interfaceId = textLike<InterfaceId>((value) => interfaceIds.some((one) => one === value));
const providerApi = textLike<ProviderApi>((value) => providerApis.some((one) => one === value));
const leftOutMax = 32;
const basePath = textLike<BasePath>((value) => basePaths.some((one) => one === value));

/** The fields in the order of a document. Texts are cut at the bound of their kind. */
export const members = {
  correlationId: required('correlation_id', id, { document: 'id' }),
  /** Unique id of the call. One record is stored for each id. A call of no function may use its correlation id. */
  executionId: required('execution_id', id),
  workspace: required('workspace', id),
  arrivedAtMs: required('arrived_at_ms', instant, { document: 'created_at' }),

  outcome: required('outcome', outcome),
  cutCode: optional('cut_code', errorCode, hidden),
  /** Catalogue id of the model that answered, if any. */
  modelServed: optional('model', modelText),
  /**
   * The requested model, `auto` and function aliases included; undefined when the body has no name of a model that
   * could be read.
   */
  modelAsked: optional('model_asked', modelText),
  /** Undefined when no provider answered. */
  provider: optional('provider', text(64)),
  /** The message of the error that the client got instead of an answer. */
  errorMessage: optional('error_message', text(errorMessageMaxCharacters)),
  /**
   * True if the catalogue has the requested model, but the list of the key or of its workspace does not. Only operators
   * see this field.
   */
  unlistedModel: optional('unlisted_model', flag, hidden),
  /** Undefined if no body of the call is stored. The bodies of a replay are those of its first call. */
  content: optional('content', content),
  /** Execution id of the call whose stored answer was returned. For the replay itself nothing was done or charged. */
  replayOf: optional('replay_of', id),
  /** All attempts in their order; undefined when not recorded. */
  attemptLog: optional('attempt_log', attempts(attemptsMax), hidden),
  /** Number of provider calls. */
  attempts: required('attempts', count, { document: 'attempt_count' }),
  /** Causes of the failed attempts, each as a short word such as `status_503`. */
  attemptCauses: required('attempt_causes', words(attemptsMax), hidden),
  /** Undefined in records of a release that had chat completions only. */
  interfaceId: optional('interface', interfaceId),
  /**
   * Interface of the provider that answered; undefined when no provider answered, or in records of a release without
   * the field.
   */
  format: optional('format', providerApi),
  /** Paths of fields of the request that this format cannot express. */
  leftOut: optional('left_out', paths(leftOutMax)),
  /** Decisions of guardrails, never a text. */
  guardrails: optional('guardrails', guardrailChecks(guardrailsMax)),
  /** Base path that the client used; undefined in records of a release without the field. */
  basePath: optional('base_path', basePath),
  functionId: optional('function_id', id),
  revisionId: optional('revision_id', id),
  stream: required('stream', flag, { usual: false }),
  cacheHit: required('cache_hit', flag, { usual: false }),
  /** True if a provider key of the caller paid, not credit. */
  isByok: required('is_byok', flag, { usual: false }),

  promptTokens: required('prompt_tokens', count),
  /** Part of promptTokens. */
  cachedTokens: required('cached_tokens', count),
  /** Part of promptTokens, not of cachedTokens. Undefined in records of a release without the field. */
  cacheWriteTokens: optional('cache_write_tokens', count),
  completionTokens: required('completion_tokens', count),
  /** Tokens as reported; part of completionTokens. Undefined in records of a release without the field. */
  reasoningTokens: optional('reasoning_tokens', count),
  /** Units other than tokens. If units determine the price, tokens without a report are 0. */
  units: optional('units', callUnits),
  /** True if a count is estimated from bytes. */
  estimated: required('estimated', flag, { usual: false }),
  costPicoUsd: required('cost_pico_usd', amount, { document: 'cost_usd' }),
  /**
   * Shares of tokens and cost of models other than `modelServed` of `provider`, such as other steps of a workflow, and
   * answers that were not a result. The rest belongs to `modelServed` and `provider`. Undefined when there are none.
   */
  otherShares: optional('other_shares', shares(otherSharesMax), hidden),

  totalMs: required('total_ms', duration),
  /** Milliseconds from the arrival to the first output, if there was one. */
  firstOutputMs: optional('first_output_ms', duration),
  queuedMs: required('queued_ms', duration),
  /** The part of totalMs that the gateway itself took. */
  gatewayMs: required('gateway_ms', duration),
  /** Times of each part of the call; undefined in records of a release without the field. */
  timeLine: optional('time_line', timeLine(timedPartsMax)),

  keyName: optional('key_name', text(128)),
  keyPublicId: required('key_id', id, { document: 'key_public_id' }),
  /** The request's own field `user` as sent. */
  user: optional('user', text(attributionMaxCharacters)),
  /** The X-Title header as sent. */
  title: optional('title', text(attributionMaxCharacters)),
  /** The HTTP-Referer header as sent, without credentials, query and fragment, which may contain secrets. */
  referer: optional('referer', address(attributionMaxCharacters)),
  /** Tags of the key, and tags of the request with other names, if any. */
  tags: optional('tags', tags(2 * tagsMax)),
  traceId: required('trace_id', correlationText),
  /** This field and the next two are headers as sent. */
  spanId: optional('span_id', correlationText),
  parentSpanId: optional('parent_span_id', correlationText),
  sessionId: optional('session_id', sessionText),
};

export type Members = typeof members;
export type MemberName = keyof Members;
type Named<IsRequired extends boolean> = {
  [One in MemberName]: Members[One]['isRequired'] extends IsRequired ? One : never;
}[MemberName];
type ValueOf<One extends MemberName> = ReturnType<Members[One]['kind']['fromScalar']>;
type RequiredMembers = { readonly [One in Named<true>]: ValueOf<One> };
type OptionalMembers = { readonly [One in Named<false>]?: ValueOf<One> | undefined };

/** A call record, which has only scalars and lists of words. */
export interface CallRecord extends RequiredMembers, OptionalMembers {}

export const memberNames = Object.keys(members) as MemberName[];

/** Writes `globex:status_500:500:31 acme:ok:200:12`, for a log line. */
export const attemptsText = (attempts: CallRecord['attemptLog']): string | undefined =>
  attempts?.slice(0, attemptsMax).flatMap(toAttemptText).join(' ');

/**
 * Converts a record. Throws a TypeError that names a required field with a value of another kind, which is a mistake of
 * the caller.
 */
export function toScalars(record: CallRecord): Record<string, Scalar> {
  const scalars: Record<string, Scalar> = {};
  for (const name of memberNames) {
    const { attribute, kind, isRequired, usual } = members[name];
    const scalar = kind.toScalar(record[name]);
    if (scalar === usual && usual !== undefined) continue;
    if (scalar !== undefined) scalars[attribute] = scalar;
    else if (isRequired) throw new TypeError(`a call record cannot be kept: its ${name} is missing or not of its kind`);
  }
  return scalars;
}

/** Reads these fields. */
export function fromScalars(scalars: JsonObject, names: readonly MemberName[]): CallRecord {
  const record: Partial<Record<MemberName, unknown>> = {};
  for (const name of names) {
    const { attribute, kind, usual } = members[name];
    const scalar = scalars[attribute] ?? usual;
    if (scalar !== undefined) record[name] = kind.fromScalar(scalar);
  }
  return record as CallRecord;
}
