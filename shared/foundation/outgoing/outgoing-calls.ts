// Calls to other servers. Redirects are never followed, so that a request reaches its own address or none.

import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { ConnectOptions } from './agents.ts';
import { closedCode } from './connection-fault.ts';
import { type OutgoingAnswer, toAnswer } from './outgoing-answer.ts';
import { createSocketPool, type SocketPool, type SocketPoolOptions } from './socket-pool.ts';
import { ProxyFailed, proxyAuthenticationStatus } from './tunnel.ts';

/**
 * A socket that died in the pool says so within a round trip of the first byte. A request that breaks later has most
 * likely arrived: its receiver may be at work on it, and charge for it.
 */
const deadSocketMs = 500;

const finalStatusMin = 200;
/** Continue and Early Hints: a final answer follows them. */
const harmlessInterimStatuses = new Set([100, 103]);

export interface OutgoingRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** Empty of a GET and a DELETE. Pieces are sent one after another, and not copied. */
  readonly body: OutgoingBody;
  /** Handshake included. */
  readonly connectTimeoutMs: number;
  /** Aborting closes the socket, before or after the answer began. */
  readonly signal: AbortSignal;
  /** Called once the whole request has left this process. */
  readonly onSent?: (() => void) | undefined;
}

/** There was no connection, or it broke. */
export class ConnectionBroken extends Error {
  override readonly name = 'ConnectionBroken';
  /** False: no connection came about, so no byte of the request left. True proves nothing. */
  readonly mayHaveArrived: boolean;
  /** A pooled socket broke at once: most likely it had died before. The idle ones beside it are closed by now. */
  readonly wasDead: boolean;
  constructor(cause: unknown, mayHaveArrived: boolean, wasDead = false) {
    super('the connection broke', { cause });
    this.mayHaveArrived = mayHaveArrived;
    this.wasDead = wasDead;
  }
}

interface OutgoingCalls {
  /**
   * Resolves when the head of a final answer is there. However else the exchange ends (no answer, 101, an upgrade, an
   * interim answer other than 100 and 103), it rejects with ConnectionBroken.
   */
  send(request: OutgoingRequest): Promise<OutgoingAnswer>;
  /** Closes the sockets; requests under way reject. */
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
      const { isEncrypted, isProxied, address } = addressOf(url, pool);
      const length = body.length === 0 ? {} : { 'content-length': String(bodyBytes(body)) };
      const options: ConnectOptions = {
        ...address,
        method,
        headers: { ...address.headers, ...headers, ...length },
        agent: isEncrypted ? pool.https : pool.http,
        connectTimeoutMs,
      };
      const outgoing = (isEncrypted ? httpsRequest : httpRequest)(options);
      let isAnswered = false;
      const fail = (cause: Error) => {
        const { socket, reusedSocket } = outgoing;
        const wasDead = reusedSocket && !signal.aborted && clock.nowMs() - sentAtMs <= deadSocketMs;
        if (wasDead) pool.closeIdleSockets(address);
        // While it connects it has no socket, or one that has not connected.
        reject(new ConnectionBroken(cause, reusedSocket || (socket !== null && pool.hasConnected(socket)), wasDead));
      };
      /** An exchange that HTTP allows and no server should have. It did arrive. */
      const refuse = (cause: Error) => {
        reject(new ConnectionBroken(cause, true));
        outgoing.destroy();
      };
      const readHead = (incoming: IncomingMessage) => {
        const { statusCode = 0 } = incoming;
        const isOfProxy = isProxied && statusCode === proxyAuthenticationStatus;
        if (statusCode >= finalStatusMin && !isOfProxy) {
          isAnswered = true;
          return resolve(toAnswer(clock, incoming));
        }
        incoming.on('error', () => {});
        refuse(isOfProxy ? new ProxyFailed(statusCode) : new Error(`status ${statusCode}`));
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
      // Without an answer this is the end of the exchange, with or without an error event.
      outgoing.on('close', () => end(Object.assign(new Error('closed without an answer'), { code: closedCode })));
      if (onSent !== undefined) outgoing.once('finish', onSent);
      void writeBody(outgoing, body);
      return promise;
    },
    close: () => pool.close(),
  };
}

interface Address {
  readonly isEncrypted: boolean;
  /** The proxy is given the whole request, and answers it. */
  readonly isProxied: boolean;
  readonly address: ConnectOptions & { readonly headers: Readonly<Record<string, string>> };
}

/** Where the request is sent. A proxy gets one that is not encrypted whole; for others the agent asks it for a tunnel. */
function addressOf(url: URL, { proxies }: SocketPool): Address {
  const direct = urlToHttpOptions(url);
  const proxy = url.protocol === 'http:' ? proxies.of(url) : undefined;
  if (proxy === undefined) {
    return { isEncrypted: url.protocol === 'https:', isProxied: false, address: { ...direct, headers: {} } };
  }
  const { protocol, hostname, port, servername } = proxy;
  const path = `${url.origin}${url.pathname}${url.search}`;
  const address = {
    ...direct,
    protocol,
    hostname,
    port,
    servername,
    path,
    headers: { host: url.host, ...proxy.headers },
  };
  return { isEncrypted: protocol === 'https:', isProxied: true, address };
}

/** Replaces the `signal` option: Node binds that to the socket too, and a pooled socket outlives its request. */
function bindSignal(outgoing: ClientRequest, signal: AbortSignal, onEnd: (cause: Error) => void): void {
  const onAbort = () => {
    // Without an error: it would reach the socket, and one that is just returning to the pool has no listener. Node would
    // end the process.
    outgoing.destroy();
    // A request that waits for its socket is not ended before it has one.
    if (outgoing.socket === null) onEnd(new Error('given up'));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
}

// The body of a request, written as the other end takes it: written at once, a long one is copied whole.

/** Bytes of a piece, or its characters: a multiple of three, so that pieces of base64 make a whole one. */
const pieceLength = 48 * 1024;

/** Bytes that are sent as base64, encoded as the other end takes them: as texts they would lie in memory twice more. */
export interface Base64Of {
  readonly base64Of: Uint8Array;
}
type OutgoingPiece = string | Uint8Array | Base64Of;
export type OutgoingBody = string | Uint8Array | readonly OutgoingPiece[];

const partsOf = (body: OutgoingBody): readonly OutgoingPiece[] =>
  typeof body === 'string' || body instanceof Uint8Array ? [body] : body;

const bodyBytes = (body: OutgoingBody): number => partsOf(body).reduce<number>((sum, part) => sum + partBytes(part), 0);

const partBytes = (part: OutgoingPiece): number =>
  typeof part === 'string' || part instanceof Uint8Array
    ? Buffer.byteLength(part)
    : 4 * Math.ceil(part.base64Of.byteLength / 3);

/** Ends early where the request does. */
async function writeBody(outgoing: ClientRequest, body: OutgoingBody): Promise<void> {
  const parts = partsOf(body);
  const [only = ''] = parts;
  if (parts.length <= 1 && !isBase64(only) && only.length <= pieceLength) {
    outgoing.end(only);
    return;
  }
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  for (const piece of encodedPieces(parts)) {
    if (outgoing.destroyed) return;
    const goesOn = outgoing.write(piece);
    if (!goesOn) await once(outgoing, 'drain', { signal: closed.signal }).catch(() => {});
  }
  if (!outgoing.destroyed) outgoing.end();
}

/** The bytes of a body in short pieces, each made when it is asked for. */
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

/** No half of a character. */
const pieceAt = (text: string, start: number): number => {
  const last = text.charCodeAt(start + pieceLength - 1);
  return last >= 0xd800 && last <= 0xdbff ? pieceLength - 1 : pieceLength;
};
