// Calls other servers. Redirects are never followed, so that a request reaches its own address or none.

import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectOptions } from './agents.ts';
import { closedCode } from './connection-fault.ts';
import { type OutgoingAnswer, toAnswer } from './outgoing-answer.ts';
import { createSocketPool, type SocketPool, type SocketPoolOptions } from './socket-pool.ts';
import { ProxyFailed, proxyAuthenticationStatus } from './tunnel.ts';

/**
 * Time limit for recognizing a dead socket. A socket that died in the pool fails within a round trip of the first byte.
 * A request that breaks later has most likely arrived: its receiver may be working on it, and charge for it.
 */
const deadSocketMs = 500;

const finalStatusMin = 200;
/** Statuses 100 Continue and 103 Early Hints: a final answer follows them. */
const harmlessInterimStatuses = new Set([100, 103]);

export interface OutgoingRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request; empty for a GET and a DELETE. Pieces are sent one after another, and not copied. */
  readonly body: OutgoingBody;
  /** Time limit for connecting, handshake included. */
  readonly connectTimeoutMs: number;
  /** Signal that closes the socket when it aborts, before or after the answer has begun. */
  readonly signal: AbortSignal;
  /** Called once the whole request has left this process. */
  readonly onSent?: (() => void) | undefined;
}

/** Thrown when there was no connection, or when it broke. */
export class ConnectionBroken extends Error {
  override readonly name = 'ConnectionBroken';
  /** False means that no connection was established, so no byte of the request left. True proves nothing. */
  readonly mayHaveArrived: boolean;
  /**
   * True if a pooled socket broke at once, because it had most likely died before. The idle sockets next to it are
   * closed already.
   */
  readonly wasDead: boolean;
  constructor(cause: unknown, mayHaveArrived: boolean, wasDead = false) {
    super('the connection broke', { cause });
    this.mayHaveArrived = mayHaveArrived;
    this.wasDead = wasDead;
  }
}

interface OutgoingCalls {
  /**
   * Resolves when the head of a final answer has arrived. If the exchange ends in another way (no answer, 101, an
   * upgrade, an interim answer other than 100 and 103), it rejects with ConnectionBroken.
   */
  send(request: OutgoingRequest): Promise<OutgoingAnswer>;
  /** Closes the sockets; running requests reject. */
  close(): void;
}

export function createOutgoingCalls(options: SocketPoolOptions): OutgoingCalls {
  const { clock } = options;
  const pool = createSocketPool(options);

  return {
    send({ url, method, headers, body, connectTimeoutMs, signal, onSent }) {
      pool.closeStaleSockets();
      const sentAtMs = clock.nowMs();
      const { promise, resolve, reject } = Promise.withResolvers<OutgoingAnswer>();
      const { isEncrypted, isProxied, address, ownHeaders } = addressOf(url, pool);
      const all: Record<string, string> = { ...ownHeaders, ...headers };
      if (body.length > 0) all['content-length'] = String(bodyBytes(body));
      const agent = isEncrypted ? pool.https : pool.http;
      const options: ConnectOptions = { ...address, method, headers: all, agent, connectTimeoutMs };
      const outgoing = (isEncrypted ? httpsRequest : httpRequest)(options);
      let isAnswered = false;
      const fail = (cause: Error) => {
        const { socket, reusedSocket } = outgoing;
        const wasDead = reusedSocket && !signal.aborted && clock.nowMs() - sentAtMs <= deadSocketMs;
        if (wasDead) pool.closeIdleSockets(address);
        // Until the connection is open, the request has no socket, or a socket that has not connected.
        reject(new ConnectionBroken(cause, reusedSocket || (socket !== null && pool.hasConnected(socket)), wasDead));
      };
      /** Ends an exchange that HTTP allows and no server should cause. The request did arrive. */
      const refuse = (cause: Error) => {
        reject(new ConnectionBroken(cause, true));
        outgoing.destroy();
      };
      const readHead = (incoming: IncomingMessage) => {
        const { statusCode = 0 } = incoming;
        const isProxyRefusal = isProxied && statusCode === proxyAuthenticationStatus;
        if (statusCode >= finalStatusMin && !isProxyRefusal) {
          isAnswered = true;
          return resolve(toAnswer(clock, incoming));
        }
        incoming.on('error', () => {});
        refuse(isProxyRefusal ? new ProxyFailed(statusCode) : new Error(`status ${statusCode}`));
      };
      const end = (cause: Error) => {
        if (!isAnswered) fail(cause);
      };
      bindSignal(outgoing, signal, end);
      outgoing.on('response', readHead);
      outgoing.on('information', ({ statusCode }) => {
        if (!harmlessInterimStatuses.has(statusCode)) refuse(new Error(`status ${statusCode}`));
      });
      outgoing.on('upgrade', (_incoming, socket) => {
        socket.destroy();
        refuse(new Error('an upgrade'));
      });
      outgoing.on('error', end);
      // Without an answer the exchange ends here, with or without an error event.
      outgoing.on('close', () => end(Object.assign(new Error('closed without an answer'), { code: closedCode })));
      if (onSent !== undefined) outgoing.once('finish', onSent);
      writeBody(outgoing, body);
      return promise;
    },
    close: () => pool.close(),
  };
}

interface Address {
  readonly isEncrypted: boolean;
  /** True if the proxy gets the whole request, and answers it. */
  readonly isProxied: boolean;
  readonly address: ConnectOptions;
  /** Headers of the proxy. */
  readonly ownHeaders: Readonly<Record<string, string>>;
}

/**
 * Returns the address to which the request is sent. A proxy gets an unencrypted request as a whole; for an encrypted
 * request the agent asks the proxy for a tunnel.
 */
function addressOf(url: URL, { proxies }: SocketPool): Address {
  const { protocol, hostname, port, pathname, search, username, password } = url;
  const direct = {
    protocol,
    // Node takes the address of IPv6 without its brackets.
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port,
    path: pathname + search,
    auth: username === '' ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  };
  const proxy = protocol === 'http:' ? proxies.proxyFor(url) : undefined;
  if (proxy === undefined) {
    return { isEncrypted: protocol === 'https:', isProxied: false, address: direct, ownHeaders: {} };
  }
  const path = `${url.origin}${pathname}${search}`;
  const address = {
    ...{ ...direct, path },
    ...{ protocol: proxy.protocol, hostname: proxy.hostname, port: proxy.port, servername: proxy.servername },
  };
  const ownHeaders = { host: url.host, ...proxy.headers };
  return { isEncrypted: proxy.protocol === 'https:', isProxied: true, address, ownHeaders };
}

/** Replaces the `signal` option. Node binds `signal` to the socket too, and a pooled socket outlives its request. */
function bindSignal(outgoing: ClientRequest, signal: AbortSignal, onEnd: (cause: Error) => void): void {
  const onAbort = () => {
    // No error is passed, because it would reach the socket, and a socket that is just returning to the pool has no
    // listener for it, so that Node would end the process.
    outgoing.destroy();
    // Node does not end a request while it waits for a socket.
    if (outgoing.socket === null) onEnd(new Error('given up'));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
}

// Writes the body of a request as fast as the other end reads it, because a long body that is written at once would be
// copied whole.

/** Bytes or characters of a piece, which is a multiple of three, so that pieces of base64 join without padding. */
const pieceLength = 48 * 1024;

/**
 * Bytes that are sent as base64. They are encoded while they are sent, because as text they would use twice their
 * memory in addition.
 */
export interface Base64Of {
  readonly base64Of: Uint8Array;
}
type OutgoingPiece = string | Uint8Array | Base64Of;
export type OutgoingBody = string | Uint8Array | readonly OutgoingPiece[];

const partsOf = (body: OutgoingBody): readonly OutgoingPiece[] =>
  typeof body === 'string' || body instanceof Uint8Array ? [body] : body;

function bodyBytes(body: OutgoingBody): number {
  if (typeof body === 'string') return partBytes(body);
  return partsOf(body).reduce<number>((sum, part) => sum + partBytes(part), 0);
}

const partBytes = (part: OutgoingPiece): number =>
  typeof part === 'string' || part instanceof Uint8Array
    ? Buffer.byteLength(part)
    : 4 * Math.ceil(part.base64Of.byteLength / 3);

/** Writes the body, and stops when the request ends. */
function writeBody(outgoing: ClientRequest, body: OutgoingBody): void {
  const only = Array.isArray(body) && body.length <= 1 ? (body[0] ?? '') : body;
  if ((typeof only === 'string' || only instanceof Uint8Array) && only.length <= pieceLength) {
    outgoing.end(only);
  } else {
    void writePieces(outgoing, partsOf(body));
  }
}

async function writePieces(outgoing: ClientRequest, parts: readonly OutgoingPiece[]): Promise<void> {
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  for (const piece of encodedPieces(parts)) {
    if (outgoing.destroyed) return;
    const goesOn = outgoing.write(piece);
    if (!goesOn) await once(outgoing, 'drain', { signal: closed.signal }).catch(() => {});
  }
  if (!outgoing.destroyed) outgoing.end();
}

/** Yields the bytes of a body in short pieces, each made on demand. */
export function* encodedPieces(body: OutgoingBody): Generator<string | Uint8Array, void> {
  for (const part of partsOf(body)) {
    const whole = isBase64(part) ? part.base64Of : part;
    for (let start = 0; start < whole.length; ) {
      const end = start + (typeof whole === 'string' ? pieceAt(whole, start) : pieceLength);
      const piece = typeof whole === 'string' ? whole.slice(start, end) : whole.subarray(start, end);
      yield isBase64(part) ? base64(piece as Uint8Array) : piece;
      start = end;
    }
  }
}

const isBase64 = (part: OutgoingPiece): part is Base64Of => typeof part !== 'string' && !(part instanceof Uint8Array);

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** Returns the piece at the position; it never ends within a character. */
const pieceAt = (text: string, start: number): number => {
  const last = text.charCodeAt(start + pieceLength - 1);
  return last >= 0xd800 && last <= 0xdbff ? pieceLength - 1 : pieceLength;
};
