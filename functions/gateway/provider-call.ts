// Inputs and outcome of the provider loop, for a plain call or a step of a function. Types only.
import type { UpstreamContent } from '../../shared/accounting/content-log/index.ts';
import type { Permit } from '../../shared/accounting/limits/index.ts';
import type { Connection } from '../../shared/configuration/byok/index.ts';
import type { Candidate } from '../../shared/configuration/catalogue/index.ts';
import type { GatewayError } from '../../shared/errors/index.ts';
import type { Trace } from '../../shared/foundation/telemetry/index.ts';
import type { Deadline, TimeBudget } from '../../shared/foundation/time/index.ts';
import type { ClientInterface, ClientRequest, KeptBody, PassedOn } from '../../shared/protocol/interfaces/index.ts';
import type { SchemaWork } from '../../shared/protocol/json-schema/index.ts';
import type { CallMemory } from '../../shared/protocol/memory-budget/index.ts';
import type { AnswerEvent, CallSize, Envelopes, JsonAnswer } from '../../shared/protocol/wire/index.ts';
import type { Bill } from '../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../shared/routing/formats/index.ts';
import type { ByokSources, Plan } from '../../shared/routing/planner/index.ts';
import type { AdmittedCandidate, Attempt } from '../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure, EventBatch } from '../../shared/routing/providers/index.ts';

/** All that the provider loop knows of a call. */
export interface ProviderCall {
  readonly request: ProviderRequest;
  readonly payment: Payment;
  readonly signals: Signals;
  /** Memory that the parsed request, and kept answers, are reserved in. */
  readonly memory: CallMemory;
  /** Body of a plain call; undefined for a step of a function. */
  readonly keptBody: KeptBody | undefined;
  /** Undefined where no bodies of the call are kept. */
  readonly content: ProviderBodies | undefined;
  readonly times: Times;
}

/** Keeps what goes to providers. */
export interface ProviderBodies {
  /** `secrets`: its credentials. `isKept`: the body is not the client's own. */
  sent(body: UpstreamContent & { readonly secrets: readonly string[] }, isKept: boolean): void;
}

/** Parts of a call that sending needs. */
export interface CallToSend extends Pick<ProviderCall, 'memory'> {
  readonly payment: Pick<Payment, 'byok' | 'byokKey' | 'connections'>;
  readonly signals: Pick<Signals, 'correlationId' | 'traceparent' | 'clientGone' | 'stopped'>;
  readonly times: Pick<Times, 'admissionTime' | 'deadline'>;
}

export type CalledCandidate = Pick<Candidate, 'provider'>;

/** The request, and its candidates. */
export interface ProviderRequest {
  readonly clientInterface: ClientInterface;
  readonly asked: ClientRequest;
  readonly passedOn: PassedOn;
  readonly size: CallSize;
  readonly plan: Plan;
  /** No provider may keep anything of the call. */
  readonly zdr: boolean;
  /** Whether a truncated answer is returned to the client without a schema check. */
  readonly skipsTruncated: boolean;
  /** Envelopes of thinking that crosses formats. */
  readonly envelopes: Envelopes;
  readonly schemaWork: SchemaWork;
}

/** Whose money, and whose keys. */
export interface Payment {
  /** Id of whose call it is. */
  readonly workspace: string;
  readonly bill: Bill;
  /** A candidate of the plan that is admitted already. */
  readonly firstCandidate: AdmittedCandidate | undefined;
  readonly byok: ByokSources | undefined;
  readonly byokKey: string | undefined;
  readonly connections: readonly Connection[];
}

/** Ids that others get, and signals that end the call. */
export interface Signals {
  readonly correlationId: string;
  /** As the client sent it; passed on where telemetry is off. */
  readonly traceparent: string | undefined;
  readonly trace: Trace | undefined;
  /** Aborts when the client left: no further candidate is called, and the one that works is read on. */
  readonly clientGone: AbortSignal;
  /** Aborts when another step of the workflow has failed, or the process ends: the attempt under way ends too. */
  readonly stopped: AbortSignal | undefined;
}

export interface Times {
  /** Time for stores to answer before a provider is called. */
  readonly admissionTime: TimeBudget;
  readonly deadline: Deadline;
  readonly streamDeadline: Deadline;
  /** How long the call may wait for a slot of a provider. */
  readonly queueMs: number;
}

/** Work of the provider loop, with or without an answer. */
export interface ProviderRun {
  /** Attempts that have ended. That of an open stream is not among them. */
  readonly attempts: readonly Attempt[];
  /** Number of provider calls, that of an open stream included. */
  readonly attemptCount: number;
  readonly queuedMs: number;
  /** Spent in the provider loop, queueing included. */
  readonly upstreamMs: number;
  /** When the answer, or the first output of a stream, was there. */
  readonly firstOutputAtMs: number | undefined;
  /** Permit of a first candidate that was admitted and not called. */
  readonly unusedPermit: Permit | undefined;
  readonly result: ProvidedAnswer | { readonly kind: 'failed'; readonly error: unknown };
}

/** Releases the memory reserved for a whole answer, all but the given bytes of it, or everything. */
export type ReleaseMemory = (keptBytes?: number) => void;

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
  /** Sent in its place where nothing of it may leave. */
  readonly refusal?: GatewayError | undefined;
  /** Whether a guardrail has ended it. Absent: none checks it. */
  readonly isBlocked?: () => boolean;
  /** Called when `rest` has ended well: the provider's socket may serve the next call. */
  readonly finish: () => void;
  /** Why `rest` threw, as data. Most failures are its last batch. */
  readonly failureOf: (error: unknown) => AttemptFailure;
  /** Closes the provider's socket. Safe at any time, any number of times. */
  readonly abort: () => void;
}
