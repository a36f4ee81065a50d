// The values that the stages of a call hand on, each bigger than the one before. Types only.
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

/** A request that could be read. Whose it is, is not known yet. */
export interface ParsedCall {
  readonly clientInterface: ClientInterface;
  readonly scope: RequestScope;
  readonly request: ClientRequest;
  readonly bodyMemory: BodyMemory;
  readonly idempotencyKey: string | undefined;
  readonly byokKey: string | undefined;
  readonly attribution: { readonly referer: string | undefined; readonly title: string | undefined };
  /** Tags of the request. Those of its key are added when it is recorded. */
  readonly tags: Tags;
  readonly passedOn: PassedOn;
  /** SHA-256 of everything a retry must repeat. Computed on first use. */
  readonly fingerprint: () => Fingerprint;
  /** Fault in the form of a function call. A fault of the body has precedence. */
  readonly aliasFault: GatewayError | undefined;
  readonly arrivedAtMs: number;
  readonly deadline: Deadline;
  /** Deadline of a stream whose first output came within `deadline`. */
  readonly streamDeadline: Deadline;
  /** When the process of the call is dead for sure: what it reserved and claimed is free again. */
  readonly leaseUntilMs: number;
}

/** A credential of the right shape, and a body that is read when the key is known to exist. */
export interface ReceivedCall
  extends Pick<ParsedCall, 'clientInterface' | 'scope' | 'attribution' | 'tags' | 'arrivedAtMs'> {
  readonly credential: ApiKey;
  /** Whether its headers announce a body above the size limit. */
  readonly isOversized: boolean;
  /** Reads, parses and checks the body, once, as a call of this workspace. Asked for with a key that exists. */
  readonly read: (workspace: string) => Promise<ParsedBody>;
  /** The parsed body so far; undefined when the call was refused before. */
  readonly parsedSoFar: () => ParsedBody | undefined;
}

export interface ParsedBody {
  /** The body's model, as far as it can be read. */
  readonly model: string | undefined;
  /** The body names a function, as far as it can be read: then a revoked key has a code of its own. */
  readonly asksFunction: boolean;
  /** The call, or the error of its headers, options or body. An error of the key is reported first. */
  readonly call: ParsedCall | GatewayError;
}

/** A call with its key, as far as memory or one read can tell. The reservation of the key decides. */
export interface IdentifiedCall extends ParsedCall {
  readonly credential: ApiKey;
  readonly asksFunction: boolean;
  /** As this process remembers it; for an admitted call, as the store has it. */
  readonly key: Item;
  /** Budget of all schema work of this call. */
  readonly schemaWork: SchemaWork;
  readonly workspace: WorkspaceDocument;
  readonly catalogue: Catalogue;
  readonly connections: readonly Connection[];
}

/** Hold for every provider call of a request. */
interface ProviderTerms {
  /** Undefined where the gateway's credentials pay. */
  readonly byok: ByokSources | undefined;
  /** Envelopes of thinking that crosses formats. */
  readonly envelopes: Envelopes;
  /** Policy of workspace, preset and request together. */
  readonly policy: PolicyOptions;
}

export interface RoutedCall extends IdentifiedCall, ProviderTerms {
  readonly plan: Plan;
  readonly size: CallSize;
  /** Referenced ids, where this workspace has not created all of them. */
  readonly unmadeInput: readonly string[];
}

/** A function call that may run: its revision, its input, and its highest possible cost. */
export interface Execution {
  readonly revision: OpenRevision;
  readonly matched: MatchedInput;
  /** The one model call of a prompt. Undefined for a workflow: its steps are planned when their inputs are known. */
  readonly prompt: PlannedModelCall | undefined;
  readonly worstCase: PicoUsd;
  /** Upper bound of all its model calls against a limit of tokens. */
  readonly estimatedTokens: number;
}

export interface OpenedCall extends IdentifiedCall, ProviderTerms {
  readonly execution: Execution;
}

/** A model call of a function, always a chat completion. Its fields replace those of the client’s call. */
export interface PlannedModelCall {
  readonly request: ChatRequest;
  readonly bodyMemory: BodyMemory;
  readonly size: CallSize;
  /** Candidates of its model, then of its fallback models. */
  readonly plan: Plan;
  /** Candidates of fallback models: an answer of one of them sets `fallback_used`. */
  readonly fallbacks: ReadonlySet<Candidate>;
}

/** Reservations of a call, which its settlement ends. */
export interface CallReservations {
  readonly keyHold?: KeyHold | undefined;
  readonly creditHold?: CreditHold | undefined;
  readonly budgetHolds?: readonly BudgetHold[] | undefined;
  /** Counts against the tokens per minute of the key and of the workspace. */
  readonly tokenPermits?: readonly Permit[] | undefined;
  /** The first candidate, admitted along with everything else. */
  readonly firstCandidate?: AdmittedCandidate | undefined;
  /** Slots of pools. Those of key and credit are parts of their reservations. */
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
  /** Undefined when nothing may be stored. */
  readonly store: { readonly keyOf: (modelId: string) => CacheKey; readonly ttlSeconds: number } | undefined;
}

/** The parts of a call that its guardrails need. */
export type GuardedCall = Pick<
  IdentifiedCall,
  'scope' | 'clientInterface' | 'request' | 'bodyMemory' | 'passedOn' | 'asksFunction'
>;

export type MaskedRequest = Pick<IdentifiedCall, 'request' | 'bodyMemory'>;

/** The guardrails of a call. */
export interface CallGuard {
  readonly guardrails: readonly GuardrailDocument[];
  /** Returns undefined where the request goes on as it is. */
  checkInput(call: GuardedCall): Promise<MaskedRequest | GatewayError | undefined>;
  /** A whole answer, as far as it may leave. */
  checkAnswer(answer: WholeAnswer): Promise<CheckedWhole | GatewayError>;
  /** The same of a stream. `choices`: of the request. */
  checkStream(stream: OpenStream, choices: number): Promise<OpenStream>;
  /** From now on the content log gets what is blocked of answers. */
  keepBlockedIn(content: Pick<CallContent, 'blocked'>): void;
}

/** The part of a whole answer that guardrails need. */
export type WholeAnswer = Pick<JsonAnswer, 'text' | 'json' | 'isPlain' | 'finishReasons'>;

/** Changes of a whole answer; those of its text are left out where it leaves as it came. */
interface CheckedWhole extends Partial<WholeAnswer> {
  /** Paths of parts that were dropped. */
  readonly dropped: readonly string[];
}

/**
 * The Idempotency-Key and the span id that a call has reserved: they end once, with a stored answer or a release. Of a
 * call without them nothing is to be done.
 */
export interface CallClaims {
  /**
   * Stores a complete answer for replays before the client has its end. Never throws: the client gets it all the same.
   * `source`: undefined where several gave it.
   */
  store(answer: StoredAnswer, source: AnswerSource | undefined): Promise<void> | undefined;
  /** Called before the client knows of a failure, because its retry may come at once. */
  release(end: ClaimsEnd): Promise<void> | undefined;
  /** Called after the last byte: repeats writes that failed. */
  settle(end: ClaimsEnd, deadline: Deadline): Promise<void> | undefined;
}

export interface ClaimsEnd {
  /** Whether client libraries retry such a failure by themselves, so that the span must be free. */
  readonly isRetryable: boolean;
  /** A call that no provider saw leaves its span unused. */
  readonly reachedProvider: boolean;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined when it was too long to be collected. Its call is done all the same. */
  readonly body: string | undefined;
}

/** Which gave an answer. */
export interface AnswerSource {
  readonly model: string;
  readonly provider: string;
}

/** A call that may run. */
export interface AdmittedCall extends IdentifiedCall {
  /** Unique to this call, UUIDv7: the owner of all it has reserved, and the execution id of a function call. */
  readonly owner: string;
  readonly holdings: CallReservations;
  readonly claims: CallClaims;
  /** Undefined when the call has no guardrails. */
  readonly guard: CallGuard | undefined;
  /** Rest of the time for all stores before a provider is called. */
  readonly admissionTime: TimeBudget;
  /** Costs of all provider calls of this request. */
  readonly bill: Bill;
  /**
   * Corrects the tokens and releases slots that others wait for, before the client knows of the end. Absent: the call has neither.
   * Never rejects; waits one second at most.
   */
  readonly settleEarly?: (() => Promise<void>) | undefined;
  /** Undefined where no bodies of the call are kept. */
  readonly content?: CallContent | undefined;
}

export interface ContentBodies {
  readonly request: string;
  /** Null: the client left before. */
  readonly answer: { readonly body: string } | null;
}

/** Keeps the bodies of a call. */
export interface CallContent extends ProviderBodies {
  /** The same answer, or error, which is kept as it goes to the client. */
  watch(answering: GatewayResponse | Promise<GatewayResponse>): Promise<GatewayResponse>;
  /** Keeps a part of the answer that a guardrail blocked. */
  blocked(text: string): void;
  /** Request and answer as they are kept, for the spans of the call. */
  bodies(): Promise<ContentBodies>;
  /** Called once, after the last byte. Never rejects. */
  write(deadline: Pick<Deadline, 'remainingMs'>): Promise<ContentPlace>;
}

/** The provider loop knows no other call: a plain one, or that of a function with one of its model calls. */
export type ProviderCall = AdmittedCall & ProviderTerms & Pick<RoutedCall, 'plan' | 'size'>;

export interface AdmittedPlain extends AdmittedCall, RoutedCall {}

export interface AdmittedExecution extends AdmittedCall, OpenedCall {}

/** An answer, and how the call has ended, which is asked once, after the last byte; or the error in its place. */
export type CallResult =
  | { readonly response: GatewayResponse; readonly end: () => EndedCall }
  | { readonly response: undefined; readonly error: unknown; readonly ended: EndedCall };

/** An answer that exists already. */
export type ReadyAnswer = {
  /** Counts the answer in the memory of the call. */
  readonly allocation: AnswerAllocation;
} /** `owner`: of the call whose answer it is. */ & (
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
  readonly run: Omit<ProviderRun, 'result'>;
  /** The error that the client got in place of an answer. */
  readonly error: GatewayError | undefined;
  /** End and attempt of a stream that was opened. */
  readonly stream: { readonly end: StreamEnd; readonly attempt: Attempt } | undefined;
  /** Writes the answer into the response cache, where it is to be kept. */
  readonly writeCache: (() => Promise<void>) | undefined;
}
