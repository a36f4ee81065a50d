// One call of a provider, when it has ended. Types only.
import type { Permit } from '../../accounting/limits/index.ts';
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { AnswerDetails } from '../../protocol/interfaces/index.ts';
import type { Charge } from '../billing/index.ts';
import type { Spoken } from '../formats/index.ts';
import type { AttemptFailure } from '../providers/index.ts';

/** A candidate that may be called now: its limits were asked. */
export interface AdmittedCandidate {
  readonly candidate: Candidate;
  /** Undefined: the call is paid with a key of the client's, whose limits are not ours to count. */
  readonly permit: Permit | undefined;
  readonly startedAtMs: number;
  /** Of its trace. Undefined: telemetry is off. */
  readonly spanId?: string | undefined;
}

export interface Attempt extends AdmittedCandidate {
  readonly outcome: 'ok' | AttemptFailure;
  /** Until the whole answer was there. */
  readonly latencyMs: number;
  /** Of a stream: until its first output. */
  readonly firstOutputMs?: number | undefined;
  /** What the provider's token limits count: 0 for a call that failed before any output. */
  readonly tokens: number;
  /** Undefined: there was no answer that is charged. */
  readonly charge?: Charge | undefined;
  /** Where and by which rule its answer fails the schema of the call. Undefined: it satisfies it, or there is none. */
  readonly schemaMismatch?: string | undefined;
  /** How its provider was asked, where it answered. */
  readonly spoken?: Spoken | undefined;
  /** What the answer says of itself. */
  readonly said?: AnswerDetails | undefined;
}
