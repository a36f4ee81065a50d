// Writes a call record for its owner and the operator: decimal strings for money, ISO instants, null for values that do
// not apply. Most fields are fields of the record; this file adds fields that are derived from several fields.
import { type ErrorCode, errorCatalogue, okStatus } from '../../errors/index.ts';
import type { CallAttempt } from './call-record.ts';
import { type CallRecord, type MemberName, type Members, memberNames, members as recorded } from './record-members.ts';
import { count, orNull, type Schema, type StoredKind } from './stored-kinds.ts';

type ShownName = { [One in MemberName]: Members[One]['document'] extends string ? One : never }[MemberName];
type JsonOf<One extends MemberName> =
  | ReturnType<Members[One]['kind']['toJson']>
  | (Members[One]['isRequired'] extends true ? never : null);

/** Fields that a document takes unchanged from the record. */
type RecordedMembers = {
  readonly [One in ShownName as NonNullable<Members[One]['document']>]: JsonOf<One>;
};

type AttemptDocument = Omit<CallAttempt, 'providerText' | 'schemaMismatch' | 'reason'> & {
  /** The same text as in the record. */
  readonly schema_mismatch?: string;
};

interface DerivedMembers {
  /** Code of the error that the client got, or that ended its stream. */
  readonly error_code: ErrorCode | null;
  /** Status of the answer; 200 for a stream that broke. Null when the client left before the answer. */
  readonly status: number | null;
  readonly attempts: readonly AttemptDocument[];
  /** The guardrail that blocked the request or the answer. */
  readonly blocked_by: string | null;
}

/** `id` is the `x-request-id` of the answer. */
export type CallDocument = RecordedMembers & DerivedMembers;

interface DocumentMember {
  readonly document: keyof CallDocument;
  readonly schema: Schema;
  readonly toJson: (record: CallRecord) => unknown;
}

type Derived = {
  readonly [Name in keyof DerivedMembers]: {
    /** The record's field after which this field is shown. */
    readonly after: keyof CallRecord;
    readonly schema: Schema;
    readonly toJson: (record: CallRecord) => DerivedMembers[Name];
  };
};

const word: Schema = { type: 'string' };
const attemptMembers: Readonly<Record<keyof DerivedMembers['attempts'][number], Schema>> = {
  provider: word,
  credential: count.schema,
  outcome: word,
  status: count.schema,
  ms: count.schema,
  model: word,
  schema_mismatch: word,
};

const attemptDocument = ({
  providerText: _forOperators,
  reason: _forOperatorsToo,
  schemaMismatch,
  ...attempt
}: CallAttempt): AttemptDocument => ({
  ...attempt,
  ...(schemaMismatch === undefined ? {} : { schema_mismatch: schemaMismatch }),
});

const derived: Derived = {
  error_code: { after: 'outcome', schema: orNull(word), toJson: (record) => errorCodeOf(record) ?? null },
  status: { after: 'provider', schema: orNull(count.schema), toJson: (record) => statusOf(record) },
  attempts: {
    after: 'replayOf',
    schema: {
      type: 'array',
      items: { type: 'object', properties: attemptMembers, required: ['provider', 'outcome', 'ms'] },
    },
    toJson: ({ attemptLog = [] }) => attemptLog.map(attemptDocument),
  },
  blocked_by: {
    after: 'guardrails',
    schema: orNull(word),
    toJson: ({ guardrails = [] }) => guardrails.find(({ action }) => action === 'block')?.id ?? null,
  },
};
const derivedNames = Object.keys(derived) as (keyof DerivedMembers)[];

interface ShownMember {
  readonly name: MemberName;
  readonly document: keyof RecordedMembers;
  readonly schema: Schema;
  readonly toJson: (record: CallRecord) => unknown;
}

/** The record's fields that a document shows, in order. */
const shownMembers = memberNames.flatMap((name): ShownMember[] => {
  const { document, isRequired } = recorded[name];
  // Each field's kind converts its own values, which a loop over all of them cannot express in types.
  const kind = recorded[name].kind as StoredKind<unknown, unknown>;
  if (document === undefined) return [];
  const schema = isRequired ? kind.schema : orNull(kind.schema);
  const toJson = (record: CallRecord) => (record[name] === undefined ? null : kind.toJson(record[name]));
  return [{ name, document, schema, toJson }];
});

const members: readonly DocumentMember[] = shownMembers.flatMap((shown) => [
  shown,
  ...derivedNames
    .filter((name) => derived[name].after === shown.name)
    .map((name) => ({ document: name, ...derived[name] })),
]);

export const callDocument = (record: CallRecord): CallDocument =>
  Object.fromEntries(members.map(({ document, toJson }) => [document, toJson(record)])) as unknown as CallDocument;

/** Returns the schema of each field, for the API description. */
export const callDocumentSchemas = () =>
  Object.fromEntries(members.map(({ document, schema }) => [document, schema])) as Record<keyof CallDocument, Schema>;

/** Note for operators only. To a client, a model that it may not use does not exist. */
const unlistedModelNote =
  'the model is in the catalogue, but missing in the list of models of the key or of its workspace';

/**
 * Returns the document for the operator, with the reasons why providers were not reached, and their texts about their
 * failures.
 */
export const operatorCallDocument = (record: CallRecord) => ({
  ...callDocument(record),
  note: record.unlistedModel === true ? unlistedModelNote : null,
  attempts: (record.attemptLog ?? []).map((attempt) => ({
    ...attemptDocument(attempt),
    ...(attempt.reason === undefined ? {} : { reason: attempt.reason }),
    ...(attempt.providerText === undefined ? {} : { provider_text: attempt.providerText }),
  })),
});

export function errorCodeOf({ outcome, cutCode }: Pick<CallRecord, 'outcome' | 'cutCode'>): ErrorCode | undefined {
  if (cutCode !== undefined) return cutCode;
  return outcome === 'ok' || outcome === 'cut' || outcome === 'client_gone' ? undefined : outcome;
}

/**
 * The class of a call:
 * failed   the gateway or its providers did not do what they should: 5xx, 429 that providers caused, a stream that
 * broke
 * refused  any other error: the client asked for something that is not allowed, or impossible
 * gone     the client left
 */
type CallClass = 'ok' | 'failed' | 'refused' | 'gone';

export function classOf(record: Pick<CallRecord, 'outcome' | 'cutCode'>): CallClass {
  if (record.outcome === 'ok') return 'ok';
  if (record.outcome === 'client_gone') return 'gone';
  const code = errorCodeOf(record);
  const isFailure = code === undefined || code === 'rate_limited' || errorCatalogue[code].status >= serverErrors;
  return isFailure ? 'failed' : 'refused';
}

const serverErrors = 500;

function statusOf(record: CallRecord): number | null {
  if (record.outcome === 'client_gone') return null;
  const code = record.cutCode === undefined ? errorCodeOf(record) : undefined;
  return code === undefined ? okStatus : errorCatalogue[code].status;
}
