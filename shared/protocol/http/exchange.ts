// Requests and responses as the core sees them, independent of Lambda and HTTP servers.
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
  /** The query string as sent, without the question mark; empty where there is none. */
  readonly query: string;
  readonly headers: HeaderValues;
  /** How the client reached a listener of ours. Absent on functions, whose clients always use TLS. */
  readonly scheme?: 'http' | 'https' | undefined;
  /** Size of the body as its headers declare it, before it is read; 0 where the client did not say. */
  readonly declaredBodyBytes: number;
  /**
   * Reads the bytes of the body, once, for a call whose key exists. Rejects with a GatewayError where it is over the hard size or was
   * cut off, and with what `came` or `signal` refuse it with.
   */
  readonly readBody: (reading?: BodyReading) => Promise<Buffer>;
  /** Epoch milliseconds at which the request arrived, from which the budget runs. */
  readonly arrivedAtMs: number;
}

export interface BodyReading {
  /** Absent: the bound of a plain body; the event of a function has no more. */
  readonly maxBytes?: number;
  /** Called with all bytes so far. The next ones are read once it has resolved. */
  readonly came?: (bytes: number) => Promise<void> | undefined;
  /** Ends the reading with its reason, and then the connection. */
  readonly signal?: AbortSignal;
}

export interface RequestContext {
  /** Answer of a request that the adapter refuses to admit. */
  readonly refusal?: GatewayError | undefined;
  /** To be called once the key of the request exists: connections without one are bounded closer. */
  readonly keyFound?: () => void;
  /** Aborts when the client hangs up, where the server can know that (Lambda cannot). */
  readonly clientGone: AbortSignal;
  /** Time at which the runtime ends this request, whatever still runs; absent where nothing does. */
  readonly endsAtMs?: number | undefined;
  /** Aborts when the closing server waits no longer: a running call is cut off and settled with the usage it has. */
  readonly cut?: AbortSignal | undefined;
  /** The client has its answer after `finish` only: nothing may wait there that can wait longer. */
  readonly answersLast?: boolean;
}

/** Part of a streamed body. It is written whole, so that the next part begins a line. */
export interface BodyPart {
  readonly text: string;
  /** The end of the stream, as its client knows it: nothing may follow, SDKs would not see it. */
  readonly isEnd: boolean;
  /** The connection is to be cut in its place: the answer broke, and has no words for that. */
  readonly isCut?: true;
}

/**
 * An answer. `body` never throws: a failure after the first byte is an error line inside it. The server calls `finish`
 * exactly once, after the last byte or after the client left, and awaits it before the process may be frozen:
 * settlement and records run there, off the client's path.
 */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<BodyPart>;
  /** Text that ends a streamed body which broke off early, if it needs one. */
  readonly closeBroken?: (why: 'failed' | 'over_time') => string;
  readonly finish?: () => Promise<void>;
  /** Memory of the request, which counts the part of the answer that its client does not read. */
  readonly memory?: Pick<CallMemory, 'standStill' | 'moveOn'>;
}

/** The core: one request in, one answer out. Never rejects. */
export type Gateway = (request: GatewayRequest, context: RequestContext) => Promise<GatewayResponse>;

/** Dependencies of every adapter. */
export interface AdapterDependencies {
  readonly clock: Clock;
  readonly times: CallTimes;
  readonly randomness: Randomness;
  readonly log: Log;
}

/** The query string of a request target. */
export const queryOf = (target: string): string => /\?([^#]*)/.exec(target)?.[1] ?? '';

/** The path of a request target, without its query string. Repeated and trailing slashes name the same path. */
export const canonicalPath = (target: string): string =>
  target
    .replace(/[?#].*$/s, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '') || '/';

/** Of the client's own connection, which a proxy in front of the gateway may end. */
export const schemeOf = ({
  headers,
  scheme = 'https',
}: Pick<GatewayRequest, 'headers' | 'scheme'>): 'http' | 'https' =>
  headers['x-forwarded-proto']?.[0] === 'https' ? 'https' : scheme;
