// Calls to providers. node:http rather than fetch: it tells a pooled socket from a fresh one (`reusedSocket`), has a
// connect phase of its own and hands out Buffers. Redirects are never followed: what a request holds goes to its address
// or nowhere.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../time/index.ts';
import { createSocketPool, type SocketPoolOptions } from './socket-pool.ts';

/**
 * A socket that died in the pool says so within a round trip of the first byte. What breaks later was most likely heard
 * by somebody, who may be at work on it and wants to be paid.
 */
const deadSocketMs = 500;

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
  /** A pooled socket broke at once: it had died, as far as one can tell. The others of that time are gone by now. */
  readonly wasDead: boolean;
  constructor(cause: unknown, mayHaveArrived: boolean, wasDead = false) {
    super('the connection broke', { cause });
    this.mayHaveArrived = mayHaveArrived;
    this.wasDead = wasDead;
  }
}

export interface OutgoingCalls {
  /** Resolves when the head of the answer is there; whoever asked reads the rest. Rejects with ConnectionBroken. */
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
      outgoing.once('response', resolve);
      outgoing.on('error', (error) => {
        const { connectedAtMs = Number.NaN } = connecting;
        const wasDead = outgoing.reusedSocket && !signal.aborted && clock.nowMs() - connectedAtMs <= deadSocketMs;
        if (wasDead) pool.closeIdleSockets(url);
        reject(new ConnectionBroken(error, connecting.connectedAtMs !== undefined, wasDead));
      });
      outgoing.end(body);
      return promise;
    },
    close: () => pool.close(),
  };
}

/** Not the `signal` option: Node binds that to the socket too, and a pooled socket outlives its request. */
function bindSignal(outgoing: ClientRequest, signal: AbortSignal): void {
  // Without an error of ours: it would reach the socket, and one that is just returning to the pool has nobody who
  // listens. Node would end the process. Whoever waits still hears of a connection that was lost.
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
