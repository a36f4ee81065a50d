// Requests and responses as the core sees them, independent of Lambda and HTTP servers.
import type { GatewayError } from '../../errors/index.ts';
import type { CallTimes } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallMemory, MemoryBudget } from '../memory-budget/index.ts';

/** Header values as sent, by lower-case name. Two values mean that the header was sent twice. */
export type HeaderValues = Readonly<Record<string, readonly string[]>>;

export interface GatewayRequest {
  readonly method: string;
  /** Canonical path without query string. */
  readonly path: string;
  /** The query string as sent, without the question mark; empty if there is none. */
  readonly query: string;
  readonly headers: HeaderValues;
  /** Scheme of the client's connection to the gateway. Absent on functions, whose clients always use TLS. */
  readonly scheme?: 'http' | 'https' | undefined;
  /** Size of the body as its headers declare it, before it is read; 0 if they do not. */
  readonly declaredBodyBytes: number;
  /**
   * Reads the bytes of the body, once, for a call whose key exists. Rejects with a GatewayError if the body is too
   * large or was cut off, and with the errors of `came` and `signal`.
   */
  readonly readBody: (reading?: BodyReading) => Promise<Buffer>;
  /** Epoch milliseconds at which the request arrived, from which the budget runs. */
  readonly arrivedAtMs: number;
}

export interface BodyReading {
  /** Bound of the body. If absent, the bound is that of a plain body, because a function's event contains no more. */
  readonly maxBytes?: number;
  /** Called with the number of bytes so far. The next bytes are read once it has resolved. */
  readonly came?: (bytes: number) => Promise<void> | undefined;
  /** Ends the reading with its reason, and then the connection. */
  readonly signal?: AbortSignal;
}

export interface RequestContext {
  /** The answer to a request that the adapter refuses. */
  readonly refusal?: GatewayError | undefined;
  /** Called once the key of the request is found, because connections without a key have tighter bounds. */
  readonly keyFound?: () => void;
  /** Aborts when the client closes its connection, if the server can know that (Lambda cannot). */
  readonly clientGone: AbortSignal;
  /** Time at which the runtime ends this request, whatever work is unfinished; absent if the runtime never does. */
  readonly endsAtMs?: number | undefined;
  /**
   * Aborts when a closing server waits no longer. A running call is then cut off and settled with the usage known so
   * far.
   */
  readonly cut?: AbortSignal | undefined;
  /** True if the client gets its answer only after `finish`, which then must not wait for deferrable work. */
  readonly answersLast?: boolean;
}

/** Part of a streamed body. It is written whole, so that the next part begins a line. */
export interface BodyPart {
  readonly text: string;
  /** True for the end of the stream as its client recognizes it. Nothing may follow, because SDKs would not read it. */
  readonly isEnd: boolean;
  /**
   * Set if the connection is cut in place of this part, because the answer broke and its format cannot express that.
   */
  readonly isCut?: true;
}

/**
 * An answer. `body` never throws, and a failure after the first byte is an error line inside the body. The server calls
 * `finish` exactly once, after the last byte or after the client left, and awaits it before the process may be frozen:
 * settlement and records run in `finish`, so that the client does not wait for them.
 */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<BodyPart>;
  /** Returns the text that ends a streamed body which broke off early, if it needs one. */
  readonly errorEndText?: (why: 'failed' | 'timed_out') => string;
  readonly finish?: () => Promise<void>;
  /** Memory of the request, which counts the part of the answer that its client has not read. */
  readonly memory?: Pick<CallMemory, 'standStill' | 'moveOn' | 'endReading'>;
}

/** The gateway's core, which turns one request into one answer. Never rejects. */
export type Gateway = (request: GatewayRequest, context: RequestContext) => Promise<GatewayResponse>;

/** Dependencies of every adapter. */
export interface AdapterDependencies {
  readonly clock: Clock;
  readonly times: CallTimes;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Collects memory that many connections have freed. */
  readonly memory?: Pick<MemoryBudget, 'released'> | undefined;
}

/** Returns the query string of a request target. */
export const queryOf = (target: string): string => /\?([^#]*)/.exec(target)?.[1] ?? '';

/** Returns the path of a request target, without its query string. Repeated and trailing slashes are removed. */
export const canonicalPath = (target: string): string =>
  target
    .replace(/[?#].*$/s, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '') || '/';

/** Returns the scheme of the client's own connection, which a proxy in front of the gateway may end. */
export const schemeOf = ({
  headers,
  scheme = 'https',
}: Pick<GatewayRequest, 'headers' | 'scheme'>): 'http' | 'https' =>
  headers['x-forwarded-proto']?.[0] === 'https' ? 'https' : scheme;
