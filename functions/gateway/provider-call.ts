// Declares the outcome of the provider loop, for a plain call or a step of a function.
import type { UpstreamContent } from '../../shared/accounting/content-log/index.ts';
import type { Permit } from '../../shared/accounting/limits/index.ts';
import type { GatewayError } from '../../shared/errors/index.ts';
import type { AnswerReservation } from '../../shared/protocol/memory-budget/index.ts';
import type { AnswerEvent, JsonAnswer } from '../../shared/protocol/wire/index.ts';
import type { ReachedVia } from '../../shared/routing/formats/index.ts';
import type { AdmittedCandidate, Attempt } from '../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure, EventBatch } from '../../shared/routing/providers/index.ts';

/** Keeps the bodies that are sent to providers. */
export interface ProviderBodies {
  /**
   * Adds a body. `secrets` are the credentials of this provider call, to be masked. `isLogged` means that the body is
   * not the client's own.
   */
  sent(body: UpstreamContent & { readonly secrets: readonly string[] }, isLogged: boolean): void;
}

/** Work of the provider loop, with or without an answer. */
export interface ProviderRun {
  /** Attempts that have ended. The attempt of an open stream is not in this list. */
  readonly attempts: readonly Attempt[];
  /** Number of provider calls, including the call of an open stream. */
  readonly attemptCount: number;
  readonly queuedMs: number;
  /** Time spent in the provider loop, including the time in the queue. */
  readonly upstreamMs: number;
  /** Time at which the answer, or the first output of a stream, arrived. */
  readonly firstOutputAtMs: number | undefined;
  /** Permit of a first candidate that was admitted and not called. */
  readonly unusedPermit: Permit | undefined;
}

/** The end of the provider loop. The work of the loop is kept until the settlement of its call; the answer is not. */
export interface ProviderOutcome {
  readonly run: ProviderRun;
  readonly result: ProvidedAnswer | { readonly kind: 'failed'; readonly error: unknown };
}

/** Releases the memory reserved for a whole answer, except for the memory of these parts. */
export type ReleaseMemory = AnswerReservation['release'];

/** Which candidate answered, and how. */
export type ProvidedAnswer = {
  readonly admitted: AdmittedCandidate;
  readonly reachedVia: ReachedVia;
} & (
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly release: ReleaseMemory }
  | { readonly kind: 'stream'; readonly stream: OpenStream }
);

/** The rest of a stream whose first output has arrived. */
export interface OpenStream {
  /** Events up to and including the first real output, which were delayed until now. */
  readonly opening: readonly AnswerEvent[];
  readonly rest: AsyncIterable<EventBatch>;
  /** The error that is sent instead of the stream if no part of the stream may leave. */
  readonly refusal?: GatewayError | undefined;
  /** True once a guardrail has ended the stream. Absent if no guardrail checks it. */
  readonly isBlocked?: () => boolean;
  /** Called if `rest` has ended without an error. The provider's socket may then serve the next call. */
  readonly finish: () => void;
  /** Returns the reason why `rest` threw. Most failures are the last batch of the stream instead. */
  readonly failureOf: (error: unknown) => AttemptFailure;
  /** Closes the provider's socket. Safe at any time, any number of times. */
  readonly abort: () => void;
}
