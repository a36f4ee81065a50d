// Declares the values that the stages of a call pass on. The value of each stage contains the value of the stage
// before.
import type { ContentPlace } from '../../shared/accounting/call-records/index.ts';
import type { CreditHold } from '../../shared/accounting/credit/index.ts';
import type { Counter, Hold, KeyHold } from '../../shared/accounting/holds/index.ts';
import type { Fingerprint, StoredResult } from '../../shared/accounting/idempotency/index.ts';
import type { Permit } from '../../shared/accounting/limits/index.ts';
import type { CachedAnswer, CacheKey } from '../../shared/accounting/response-cache/index.ts';
import type { SlotHold } from '../../shared/accounting/slots/index.ts';
import type { Connection } from '../../shared/configuration/byok/index.ts';
import type { Candidate, Catalogue, GuardrailDocument } from '../../shared/configuration/catalogue/index.ts';
import type { ApiKey } from '../../shared/configuration/keys/index.ts';
import type { MatchedInput, OpenRevision } from '../../shared/configuration/stored-functions/index.ts';
import type { WorkspaceDocument } from '../../shared/configuration/workspaces/index.ts';
import type { GatewayError } from '../../shared/errors/index.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';
import type { Deadline, TimeBudget } from '../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../shared/protocol/http/index.ts';
import type { ChatRequest } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import type { BodyMemory, ClientInterface, ClientRequest, PassedOn } from '../../shared/protocol/interfaces/index.ts';
import type { SchemaWork } from '../../shared/protocol/json-schema/index.ts';
import type { AnswerAllocation } from '../../shared/protocol/memory-budget/index.ts';
import type { RequestScope } from '../../shared/protocol/router/index.ts';
import type {
  AnswerEvent,
  CallSize,
  Envelopes,
  JsonAnswer,
  PolicyOptions,
  Tags,
} from '../../shared/protocol/wire/index.ts';
import type { Bill } from '../../shared/routing/billing/index.ts';
import type { ByokSources, Plan } from '../../shared/routing/planner/index.ts';
import type { AdmittedCandidate, Attempt } from '../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../shared/routing/providers/index.ts';
import type { Item } from '../../shared/storage/store/index.ts';
import type { OpenStream, ProviderBodies, ProviderRun } from './provider-call.ts';

/** A request and its memory, which a preset or a mask replaces as one. */
export interface CallBody {
  readonly request: ClientRequest;
  readonly bodyMemory: BodyMemory;
}

/** A request whose headers and body were read, but whose key is not known yet. */
export interface ParsedCall {
  readonly clientInterface: ClientInterface;
  readonly scope: RequestScope;
  readonly credential: ApiKey;
  /** True if the call names a stored function. */
  readonly isFunctionCall: boolean;
  /** The body as its client sent it. Providers, the cache and the record get the `effective` body of a planned call. */
  readonly clientBody: CallBody;
  readonly idempotencyKey: string | undefined;
  readonly byokKey: string | undefined;
  readonly attribution: { readonly referer: string | undefined; readonly title: string | undefined };
  /** Tags of the request. Tags of its key are added when the call is recorded. */
  readonly tags: Tags;
  readonly passedOn: PassedOn;
  /** SHA-256 of everything that a retry must repeat, computed on first use. */
  readonly fingerprint: () => Fingerprint;
  /** Fault in the form of a function call. A fault of the body takes precedence. */
  readonly aliasFault: GatewayError | undefined;
  readonly arrivedAtMs: number;
  readonly deadline: Deadline;
  /** Deadline of a stream whose first output arrived within `deadline`. */
  readonly streamDeadline: Deadline;
  /**
   * Time after which the process of the call cannot be alive. Everything that the process reserved and claimed is then
   * free again.
   */
  readonly leaseUntilMs: number;
}

/** A call with a credential of the right shape, and a body that is read when the key is known to exist. */
export interface ReceivedCall
  extends Pick<ParsedCall, 'clientInterface' | 'scope' | 'credential' | 'attribution' | 'tags' | 'arrivedAtMs'> {
  /** True if its headers announce a body above the size limit. */
  readonly isOversized: boolean;
  /** Reads, parses and checks the body, once, as a call of this workspace. Called when the key is known to exist. */
  readonly read: (workspace: string) => Promise<ParsedBody>;
  /** The parsed body so far; undefined if the call was refused before. */
  readonly parsedSoFar: () => ParsedBody | undefined;
}

export interface ParsedBody {
  /** The body's model, as far as it can be read. */
  readonly model: string | undefined;
  /** True if the body names a function, as far as it can be read. Then a revoked key has a code of its own. */
  readonly isFunctionCall: boolean;
  /** The call, or the error of its headers, options or body. An error of the key is reported first. */
  readonly call: ParsedCall | GatewayError;
}

/** A call with its key, as memory or one read shows the key. The reservation of the key decides. */
export interface IdentifiedCall {
  readonly parsed: ParsedCall;
  /** The item of the key as this process remembers it. An admitted call has the item of the store. */
  readonly key: Item;
  /** Budget of all schema work of this call. */
  readonly schemaWork: SchemaWork;
  readonly workspace: WorkspaceDocument;
  readonly catalogue: Catalogue;
  readonly connections: readonly Connection[];
}

/** Terms for every provider call of a request. */
export interface ProviderTerms {
  /** Keys that pay the providers; undefined if the gateway's credentials pay. */
  readonly byok: ByokSources | undefined;
  /** Envelopes of thinking that crosses formats. */
  readonly envelopes: Envelopes;
  /** Policy of workspace, preset and request together. */
  readonly policy: PolicyOptions;
}

/** A request with its plan. A change of the request replaces the whole value. */
export interface PlannedModelCall extends CallBody {
  readonly plan: Plan;
  readonly size: CallSize;
}

export interface RoutedCall {
  readonly identified: IdentifiedCall;
  /** The client's body, merged with its preset, with masks if a guardrail masked some text. */
  readonly effective: PlannedModelCall;
  readonly terms: ProviderTerms;
  /** Referenced ids, if this workspace did not create all of them. */
  readonly unmadeInput: readonly string[];
}

/** A function call that may run, with its revision, its input, and its highest possible cost. */
export interface Execution {
  readonly revision: OpenRevision;
  readonly matched: MatchedInput;
  /**
   * The one model call of a prompt. Undefined for a workflow, because its steps are planned when their inputs are
   * known.
   */
  readonly prompt: FunctionModelCall | undefined;
  readonly worstCase: PicoUsd;
  /** Upper bound of the tokens of all its model calls, which counts against a limit of tokens. */
  readonly estimatedTokens: number;
}

export interface OpenedCall {
  readonly identified: IdentifiedCall;
  /** The client's body, with masks if a guardrail masked some text. */
  readonly effective: CallBody;
  readonly terms: ProviderTerms;
  readonly execution: Execution;
}

export type PlannedCall = RoutedCall | OpenedCall;

/** Changes that admission makes to a planned call. */
export interface CallChanges<Planned> {
  readonly withBody: (planned: Planned, masked: CallBody) => Promise<Planned | GatewayError>;
  /** Returns the call with the candidates that remain. */
  readonly withPlan: (planned: Planned, plan: Plan) => Planned;
}

/** A chat completion of a function, which is planned for its model, then for its fallback models. */
export interface FunctionModelCall extends PlannedModelCall {
  readonly request: ChatRequest;
  /** Candidates of fallback models. If one of these candidates answers, `fallback_used` is set. */
  readonly fallbacks: ReadonlySet<Candidate>;
}

/** Reservations of a call, which its settlement ends. */
export interface CallReservations {
  readonly keyHold?: KeyHold | undefined;
  readonly creditHold?: CreditHold | undefined;
  readonly budgetHolds?: readonly BudgetHold[] | undefined;
  /** Permits that count against the tokens per minute of the key and of the workspace. */
  readonly tokenPermits?: readonly Permit[] | undefined;
  /** The first candidate, if it was admitted along with everything else. */
  readonly firstCandidate?: AdmittedCandidate | undefined;
  /** Slots of pools. The slots of key and credit are parts of their reservations. */
  readonly slots?: readonly SlotHold[] | undefined;
  readonly cache?: CacheUse | undefined;
}

/** A budget of a BYOK connection. */
export interface BudgetHold extends Hold {
  readonly counter: Counter;
  readonly provider: string;
}

interface CacheUse {
  readonly outcome: 'MISS' | 'BYPASS' | 'REFRESH';
  /** The place at which the answer is stored; undefined if it may not be stored. */
  readonly store: { readonly keyOf: (modelId: string) => CacheKey; readonly ttlSeconds: number } | undefined;
}

export interface CallGuard {
  readonly guardrails: readonly GuardrailDocument[];
  /** Returns the body with its masks, or undefined if it continues as it is. */
  checkInput(call: ParsedCall, body: CallBody): Promise<CallBody | GatewayError | undefined>;
  /** Returns a whole answer with the parts that may leave. */
  checkAnswer(answer: WholeAnswer): Promise<CheckedWhole | GatewayError>;
  /** Returns a stream of the parts that may leave. `choices` is the number that the request asked for. */
  checkStream(stream: OpenStream, choices: number): Promise<OpenStream>;
  /** Makes the content log store what guardrails block of answers from now on. */
  recordBlockedTextIn(content: Pick<CallContent, 'blocked'>): void;
}

/** The parts of a whole answer that guardrails need. */
export type WholeAnswer = Pick<JsonAnswer, 'text' | 'json' | 'isPlain' | 'finishReasons'>;

/** Changes of a whole answer. The text is absent if the answer leaves unchanged. */
interface CheckedWhole extends Partial<WholeAnswer> {
  /** Paths of parts that were dropped. */
  readonly dropped: readonly string[];
}

/**
 * Ends the Idempotency-Key and the span id that a call has reserved, once, with a stored answer or a release. Every
 * method does nothing if a call has neither.
 */
export interface CallClaims {
  /**
   * Stores a complete answer for replays before the client gets the end. Never throws, because the client gets the
   * answer even if the write fails. `source` is undefined if several models gave the answer. `writesAgain` is false for
   * a call without a settlement, which would write the answer again after a failure.
   */
  store(
    answer: StoredAnswer,
    source: AnswerSource | undefined,
    options?: { readonly writesAgain: boolean },
  ): Promise<void> | undefined;
  /** Releases the claims. Called before the client knows of a failure, because its retry may come at once. */
  release(end: ClaimsEnd): Promise<void> | undefined;
  /** Repeats writes that failed. Called after the last byte. */
  settle(end: ClaimsEnd, deadline: Deadline): Promise<void> | undefined;
}

export interface ClaimsEnd {
  /** True if client libraries retry a failure of this kind by themselves, so that the span must be free. */
  readonly isRetryable: boolean;
  /** A call that no provider saw leaves its span unused. */
  readonly reachedProvider: boolean;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the answer; undefined if the text was too long to be collected. The call counts as done in either case. */
  readonly body: string | undefined;
}

/** The provider and model that gave an answer. */
export interface AnswerSource {
  readonly model: string;
  readonly provider: string;
}

/** A call whose reservations succeeded. */
export interface AdmittedCall<Planned extends PlannedCall = PlannedCall> {
  readonly planned: Planned;
  /** The item of the key as it is in the store. */
  readonly key: Item;
  /**
   * Unique id of this call, UUIDv7: the owner of everything that it has reserved, and the execution id of a function
   * call.
   */
  readonly owner: string;
  readonly reservations: CallReservations;
  readonly claims: CallClaims;
  /** Undefined if the call has no guardrails. */
  readonly guard: CallGuard | undefined;
  /** Time that remains for all waits for the store before a provider is called. */
  readonly admissionTime: TimeBudget;
  /** Costs of all provider calls of this request. */
  readonly bill: Bill;
}

/** A call that is being served, with the methods of its settlement that serving needs. */
export interface ServedCall<Planned extends PlannedCall = PlannedCall> {
  readonly admitted: AdmittedCall<Planned>;
  /**
   * Corrects the tokens and releases slots that other calls wait for, before the client knows of the end. Undefined if
   * the call has no tokens and no slots. Never rejects; waits one second at most.
   */
  readonly settleEarly: (() => Promise<void>) | undefined;
  /** The content log of the call; undefined if its bodies are not stored. */
  readonly content: CallContent | undefined;
}

export interface ContentBodies {
  readonly request: string;
  /** Null if the client left before the answer. */
  readonly answer: { readonly body: string } | null;
}

/** Stores the bodies of a call. */
export interface CallContent extends ProviderBodies {
  /** Returns the same answer or error, which is stored as it is sent to the client. */
  watch(answering: GatewayResponse | Promise<GatewayResponse>): Promise<GatewayResponse>;
  /** Stores a part of the answer that a guardrail blocked. */
  blocked(text: string): void;
  /** Returns request and answer as they are stored, for the spans of the call. */
  bodies(): Promise<ContentBodies>;
  /** Writes the bodies. Called once, after the last byte. Never rejects. */
  write(deadline: Pick<Deadline, 'remainingMs'>): Promise<ContentPlace>;
}

/** A model call of a plain call or of a function, for the provider loop. */
export interface ProviderCall extends StepLimits {
  readonly parsed: ParsedCall;
  readonly identified: IdentifiedCall;
  readonly admitted: AdmittedCall;
  readonly modelCall: PlannedModelCall;
  readonly terms: ProviderTerms;
  readonly content: ProviderBodies | undefined;
}

/** The limits of a model call that a step of a workflow has for itself. */
export interface StepLimits {
  /** Time that remains for the waits for the store before its first provider is called. */
  readonly admissionTime: TimeBudget;
  /** Aborts if the step is no longer needed, or if the ending process waits no longer. */
  readonly cancelSignal: AbortSignal | undefined;
}

/**
 * An answer, with a function that returns how the call ended and is called once after the last byte; or an error, with
 * the end of the call.
 */
export type CallResult =
  | { readonly response: GatewayResponse; readonly end: () => EndedCall }
  | { readonly response: undefined; readonly error: unknown; readonly ended: EndedCall };

export type ExistingAnswer = {
  /** Counts the answer in the memory of the call. */
  readonly allocation: AnswerAllocation;
} /** `owner` is the call that got the answer first. */ & (
  | { readonly kind: 'replay'; readonly owner: string; readonly result: StoredResult }
  | {
      readonly kind: 'cached';
      readonly answer: CachedAnswer;
      readonly content: ReadCachedContent;
      readonly call: RoutedCall;
      readonly owner: string;
      readonly claims: CallClaims;
    }
);

/** A cached answer, as the interface of its client reads it. */
export type ReadCachedContent =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | { readonly kind: 'stream'; readonly events: readonly AnswerEvent[] };

/** How a stream ended; undefined for a fault of the gateway. */
export type StreamEnd = 'complete' | 'schema_mismatch' | AttemptFailure | undefined;

/** How an admitted call ended, for settlement and record. */
export interface EndedCall {
  readonly run: ProviderRun;
  /** The error that the client got instead of an answer. */
  readonly error: GatewayError | undefined;
  /** End and attempt of a stream that was opened. */
  readonly stream: { readonly end: StreamEnd; readonly attempt: Attempt } | undefined;
  /** Writes the answer into the response cache, if it is to be cached. */
  readonly writeCache: (() => Promise<void>) | undefined;
}
