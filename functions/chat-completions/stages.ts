// The values that stages hand on. Each is bigger than the one before; nobody looks back. Types only.

import type { CreditHold } from '../../shared/accounting/credit/index.ts';
import type { Counter, Hold, KeyHold } from '../../shared/accounting/holds/index.ts';
import type { StoredResult } from '../../shared/accounting/idempotency/index.ts';
import type { Permit } from '../../shared/accounting/limits/index.ts';
import type { CachedAnswer } from '../../shared/accounting/response-cache/index.ts';
import type { Connection } from '../../shared/configuration/byok/index.ts';
import type { Candidate, Catalogue } from '../../shared/configuration/catalogue/index.ts';
import type { ApiKey } from '../../shared/configuration/keys/index.ts';
import type { MatchedInput, OpenRevision } from '../../shared/configuration/stored-functions/index.ts';
import type { WorkspaceDocument } from '../../shared/configuration/workspaces/index.ts';
import type { ErrorCode, GatewayError } from '../../shared/errors/index.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';
import type { Deadline } from '../../shared/foundation/time/index.ts';
import type { SchemaWork } from '../../shared/protocol/json-schema/index.ts';
import type { RequestScope } from '../../shared/protocol/router/index.ts';
import type { ChatRequest, JsonAnswer, PolicyOptions, StreamChunk } from '../../shared/protocol/wire/index.ts';
import type { Bill } from '../../shared/routing/billing/index.ts';
import type { ByokFacts, Plan } from '../../shared/routing/planner/index.ts';
import type { AttemptFailure } from '../../shared/routing/providers/index.ts';
import type { Item } from '../../shared/storage/store/index.ts';

/** A request that could be read. Who sent it is not known yet. */
export interface Call {
  readonly scope: RequestScope;
  readonly request: ChatRequest;
  readonly idempotencyKey: string | undefined;
  readonly byokKey: string | undefined;
  readonly attribution: { readonly referer: string | undefined; readonly title: string | undefined };
  /** SHA-256 of everything a retry must repeat (contract 7). Made when it is asked for. */
  readonly fingerprint: () => string;
  /** Of a function call: what is wrong with its form. Whatever is wrong with the body wins over it. */
  readonly aliasFault: GatewayError | undefined;
  readonly arrivedAtMs: number;
  readonly deadline: Deadline;
}

/** A credential of the right shape, and the bytes of a body that is parsed when the key is known to exist. */
export interface ReceivedCall {
  readonly scope: RequestScope;
  readonly credential: ApiKey;
  /** Parses and checks the body, once. */
  readonly read: () => ReadCall;
}

export interface ReadCall {
  /** The body names a function, as far as it can be read: then a revoked key has a code of its own. */
  readonly asksFunction: boolean;
  /** The call or what is wrong with it: a bad key wins (contract 5). */
  readonly call: Call | GatewayError;
}

/** Whose call it is, as far as memory or one read can tell. The claim of the key decides. */
export interface IdentifiedCall extends Call {
  readonly credential: ApiKey;
  readonly asksFunction: boolean;
  /** The item of the key as it was seen last. */
  readonly keyItem: Item;
  /** What all schemas and answers of this call may cost. */
  readonly schemaWork: SchemaWork;
  readonly workspace: WorkspaceDocument;
  readonly catalogue: Catalogue;
  readonly connections: readonly Connection[];
}

export interface RoutedCall extends IdentifiedCall {
  readonly plan: Plan;
  readonly byok: ByokFacts | undefined;
  /** What workspace, preset and request enforce together. */
  readonly policy: PolicyOptions;
}

/** What a call has taken and will settle. */
export interface Claimed extends IdentifiedCall {
  /** Unique to this call, UUIDv7: the owner of everything below, and the execution id of a function call. */
  readonly owner: string;
  readonly keyHold: KeyHold | undefined;
  readonly creditHold: CreditHold | undefined;
  readonly otherHolds: readonly OtherHold[];
  /** The call has its Idempotency-Key: a complete answer is stored under it. */
  readonly ownsIdempotencyKey: boolean;
  /** What every provider call of this request adds up to. */
  readonly bill: Bill;
  /** How the call ended; written once, read by settlement. */
  readonly ending: CallEnding;
}

export interface ClaimedCall extends Claimed, RoutedCall {
  readonly cache: CacheUse | undefined;
  /** The slot of the first candidate, taken along with everything else. */
  readonly firstTurn: Turn | undefined;
}

/** A function call that may run: what of, on which input, and what it may cost at most. */
export interface Execution {
  readonly revision: OpenRevision;
  readonly matched: MatchedInput;
  /** The one provider call of a prompt; a workflow plans each step when its turn has come. */
  readonly prompt: Unit | undefined;
  readonly worstCase: PicoUsd;
}

/** One provider call of a function. */
export interface Unit {
  readonly request: ChatRequest;
  /** Candidates of its model, then of its fallback models. */
  readonly plan: Plan;
  /** Candidates of fallback models: whoever is served by one has used a fallback. */
  readonly fallbacks: ReadonlySet<Candidate>;
}

export interface ClaimedExecution extends Claimed {
  readonly execution: Execution;
}

/** A budget of a BYOK connection, or a slot. */
export interface OtherHold extends Hold {
  readonly counter: Counter;
  /** Whose charges it is settled with; undefined: it consumes nothing. */
  readonly payer: { readonly provider: string } | undefined;
}

export interface CacheUse {
  readonly outcome: 'MISS' | 'BYPASS' | 'REFRESH';
  /** Undefined: nothing may be kept. */
  readonly store: { readonly keyOf: (modelId: string) => string; readonly ttlSeconds: number } | undefined;
}

export interface CallEnding {
  errorCode: ErrorCode | undefined;
  attempts: number;
  turn: Turn | undefined;
  /** Spent in the provider loop, queueing included. */
  upstreamMs: number;
  queuedMs: number;
  firstOutputAtMs: number | undefined;
  tally: StreamTally | undefined;
  /** Idempotency-Key and span were given back, or stay. */
  namesAreSettled: boolean;
  /** Stores the answer for replays, where that failed while the client waited. */
  storeAnswer: (() => Promise<void>) | undefined;
  /** Words for our records: why attempts failed. */
  causes: readonly string[];
}

/** An answer that is there already. */
export type ReadyAnswer =
  | { readonly kind: 'replay'; readonly result: StoredResult }
  | { readonly kind: 'cached'; readonly answer: CachedAnswer; readonly call: RoutedCall; readonly owner: string };

/** A candidate that may be called now. */
export interface Turn {
  readonly candidate: Candidate;
  /** Undefined: the call is paid with a key of the client's, whose limits are not ours to count. */
  readonly permit: Permit | undefined;
  readonly startedAtMs: number;
}

/** What was seen of a stream while it was relayed: written by the relay, read by settlement. */
export interface StreamTally {
  /** The last that was reported. */
  usage: Record<string, unknown> | undefined;
  outputBytes: number;
  /** Of them what came after that report, and is not in it. */
  outputBytesAfterUsage: number;
  /** Of them what came after the last report of more than nothing: some providers send zeros until the last chunk. */
  outputBytesAfterCount: number;
  /** How it ended. Undefined: the client left before that. */
  end: 'complete' | AttemptFailure | undefined;
}

/** The rest of a stream whose first output has arrived. */
export interface OpenStream {
  /** Chunks up to and including the first real output, held back until now. */
  readonly opening: readonly StreamChunk[];
  readonly rest: AsyncIterable<readonly StreamChunk[]>;
  /** Why `rest` threw, as data. */
  readonly failureOf: (error: unknown) => AttemptFailure;
  /** Closes the provider's socket. Safe at any time, any number of times. */
  readonly abort: () => void;
}

export type AttemptSuccess =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | { readonly kind: 'stream'; readonly stream: OpenStream };

/** Who answered, and how. */
export interface ProvidedCall {
  readonly success: AttemptSuccess;
  readonly turn: Turn;
  /** Provider calls made, this one included. */
  readonly attempts: number;
  /** Bytes of the body the provider received: the ground of an estimate. */
  readonly promptBytes: number;
}
