// Which calls are asked for. A filter that is left out lets every call through.
import { type Tags, tagOf } from '../../protocol/wire/index.ts';
import { type CallRecord, classOf, errorCodeOf } from '../call-records/index.ts';

export interface CallFilter {
  /** The client got no whole answer. */
  readonly failed?: boolean | undefined;
  /** Failures of the gateway and its providers, or what was refused to clients. */
  readonly outcome?: 'failed' | 'refused' | undefined;
  /** Of the error that the client got. */
  readonly code?: string | undefined;
  readonly interface?: string | undefined;
  /** As its client sent it. */
  readonly session?: string | undefined;
  /** Name or public id of its key. */
  readonly key?: string | undefined;
  /** The model that was asked for, or that answered. */
  readonly model?: string | undefined;
  /** That of any attempt. */
  readonly provider?: string | undefined;
  readonly totalMsMin?: number | undefined;
  /** It has all of these. */
  readonly tags?: Tags | undefined;
}

export const matchesFilter = (
  record: CallRecord,
  { failed, outcome, code, interface: spoken, session, key, model, provider, totalMsMin, tags = {} }: CallFilter,
): boolean =>
  (failed !== true || record.outcome !== 'ok') &&
  (outcome === undefined || classOf(record) === outcome) &&
  (code === undefined || errorCodeOf(record) === code) &&
  (spoken === undefined || (record.interfaceId ?? 'chat-completions') === spoken) &&
  (session === undefined || record.sessionId === session) &&
  (totalMsMin === undefined || record.totalMs >= totalMsMin) &&
  Object.entries(tags).every(([name, value]) => tagOf(record.tags, name) === value) &&
  (key === undefined || key === record.keyName || key === record.keyPublicId) &&
  (model === undefined || model === record.modelServed || model === record.modelAsked) &&
  (provider === undefined || attempted(record, provider));

/** A replay, and an answer from the cache, called no provider: they name the one whose answer was stored. */
const attempted = ({ attemptLog, provider: served }: CallRecord, provider: string): boolean =>
  attemptLog?.length !== 0 &&
  (served === provider || (attemptLog ?? []).some((attempt) => attempt.provider === provider));
