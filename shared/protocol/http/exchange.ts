// What the core sees of the outside: it knows neither Lambda nor HTTP servers.
import type { GatewayError } from '../../errors/index.ts';
import type { CallTimes } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';

/** Header values as sent, by lower-case name. Two values: the header was sent twice. */
export type HeaderValues = Readonly<Record<string, readonly string[]>>;

export interface GatewayRequest {
  readonly method: string;
  /** Canonical path without query string. */
  readonly path: string;
  /** As sent, without the question mark; empty where there is none. */
  readonly query: string;
  readonly headers: HeaderValues;
  /** As far as it is known before the body is read: 0 where the client did not say. */
  readonly declaredBodyBytes: number;
  /**
   * The bytes of the body, read when they are first asked for, on the memory of a call whose key exists: no other body takes
   * any. Rejects with a GatewayError where it is over the hard size, was cut off, or there is no memory for it.
   */
  readonly readBody: (memory: CallMemory) => Promise<Buffer>;
  /** Epoch milliseconds at which the request arrived: the budget runs from here. */
  readonly arrivedAtMs: number;
}

export interface RequestContext {
  /** The adapter does not let the request in: this is what it is answered. */
  readonly refusal?: GatewayError | undefined;
  /** Aborts when the client hangs up, where the server can know that (Lambda cannot). */
  readonly clientGone: AbortSignal;
  /** When the runtime ends this request, whatever still runs of it. Left out where nothing does. */
  readonly endsAtMs?: number | undefined;
  /** Aborts when the server is closing and waits no longer: a call that runs is cut, and settled with what it has. */
  readonly cut?: AbortSignal | undefined;
  /** The client has its answer after `finish` only: nothing may wait there that can wait longer. */
  readonly answersLast?: boolean;
}

/** Of a streamed body. It is written whole, so that whatever follows it begins a line. */
export interface BodyPart {
  readonly text: string;
  /** The end of the stream, as its client knows it: nothing may follow, SDKs would not see it. */
  readonly isEnd: boolean;
}

/**
 * An answer. `body` never throws: a failure after the first byte is an error line inside it.
 * The server calls `finish` exactly once, after the last byte or after the client left, and awaits it before it lets
 * the process sleep: settlement and records happen there, off the client's path.
 */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<BodyPart>;
  /** What closes a streamed body that was broken off before its end. Left out: nothing does. */
  readonly closeBroken?: (why: 'failed' | 'over_time') => string;
  readonly finish?: () => Promise<void>;
  /** Of the request, for what its client does not read. */
  readonly memory?: Pick<CallMemory, 'standStill' | 'moveOn'>;
}

/** The core: one request in, one answer out. Never rejects. */
export type Gateway = (request: GatewayRequest, context: RequestContext) => Promise<GatewayResponse>;

/** What every adapter is handed. */
export interface AdapterDependencies {
  readonly clock: Clock;
  readonly times: CallTimes;
  readonly randomness: Randomness;
  readonly log: Log;
}

/** The query string of a request target. */
export const queryOf = (target: string): string => /\?([^#]*)/.exec(target)?.[1] ?? '';

/** The path of a request target, query string left out. Repeated and trailing slashes name the same path. */
export const canonicalPath = (target: string): string =>
  target
    .replace(/[?#].*$/s, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '') || '/';
