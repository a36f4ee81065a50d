// Calls to providers. node:http rather than fetch: it tells a pooled socket from a fresh one (`reusedSocket`), has a
// connect phase of its own and hands out Buffers. Redirects are never followed: what a request holds goes to its address
// or nowhere.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../time/index.ts';
import { createSocketPool, type SocketPoolOptions } from './socket-pool.ts';

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
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Handshake included. */
  readonly connectTimeoutMs: number;
  /** Aborting closes the socket, before or after the answer began. */
  readonly signal: AbortSignal;
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

export interface OutgoingCalls {
  /**
   * Resolves when the head of a final answer is there; the caller reads the rest. However else the exchange ends (no
   * answer, 101, an upgrade, an interim answer other than 100 and 103), it rejects with ConnectionBroken.
   */
  send(request: OutgoingRequest): Promise<IncomingMessage>;
  /** Closes the sockets; requests under way reject. */
  close(): void;
}

export function createOutgoingCalls(options: SocketPoolOptions): OutgoingCalls {
  const { clock } = options;
  const pool = createSocketPool(options);
  const plain = { open: httpRequest, agent: pool.http, connected: 'connect' } as const;
  const encrypted = { open: httpsRequest, agent: pool.https, connected: 'secureConnect' } as const;

  return {
    send({ url, method, headers, body, connectTimeoutMs, signal }) {
      pool.closeStaleSockets();
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const { open, agent, connected } = url.protocol === 'https:' ? encrypted : plain;
      const outgoing = open(url, { method, agent, headers: { ...headers, 'content-length': String(body.byteLength) } });
      bindSignal(outgoing, signal);
      const connecting = watchConnecting(outgoing, connected, clock, connectTimeoutMs);
      let isAnswered = false;
      const fail = (cause: Error) => {
        const { connectedAtMs = Number.NaN } = connecting;
        const wasDead = outgoing.reusedSocket && !signal.aborted && clock.nowMs() - connectedAtMs <= deadSocketMs;
        if (wasDead) pool.closeIdleSockets(url);
        reject(new ConnectionBroken(cause, connecting.connectedAtMs !== undefined, wasDead));
      };
      /** An exchange that HTTP allows and no provider should have. It did arrive. */
      const refuse = (what: string) => {
        reject(new ConnectionBroken(new Error(what), true));
        outgoing.destroy();
      };
      outgoing.once('response', (incoming) => {
        if ((incoming.statusCode ?? 0) >= finalStatusMin) {
          isAnswered = true;
          return resolve(incoming);
        }
        incoming.on('error', () => {});
        refuse(`status ${incoming.statusCode}`);
      });
      outgoing.on('information', ({ statusCode }) => {
        if (!harmlessInterimStatuses.has(statusCode)) refuse(`status ${statusCode}`);
      });
      outgoing.once('upgrade', (_incoming, socket) => {
        socket.destroy();
        refuse('an upgrade');
      });
      outgoing.on('error', (cause) => {
        if (!isAnswered) fail(cause);
      });
      // Without an answer this is the end of the exchange, with or without an error event.
      outgoing.once('close', () => {
        if (!isAnswered) fail(new Error('closed without an answer'));
      });
      outgoing.end(body);
      return promise;
    },
    close: () => pool.close(),
  };
}

/** Not the `signal` option: Node binds that to the socket too, and a pooled socket outlives its request. */
function bindSignal(outgoing: ClientRequest, signal: AbortSignal): void {
  // Without an error: it would reach the socket, and one that is just returning to the pool has no listener. Node would
  // end the process. The caller still gets the error of a connection that was lost.
  const onAbort = () => void outgoing.destroy();
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
}

interface Connecting {
  /** When there was a connection that could carry the request. */
  readonly connectedAtMs: number | undefined;
}

/** Limits the time of connecting. */
function watchConnecting(
  outgoing: ClientRequest,
  connected: 'connect' | 'secureConnect',
  clock: Clock,
  timeoutMs: number,
): Connecting {
  const connecting: { connectedAtMs: number | undefined } = { connectedAtMs: undefined };
  const note = () => {
    connecting.connectedAtMs = clock.nowMs();
  };
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return note();
    const cancel = clock.after(timeoutMs, () => outgoing.destroy(new Error('connect timeout')));
    socket.once('close', cancel);
    socket.once(connected, () => {
      cancel();
      note();
    });
  });
  return connecting;
}
