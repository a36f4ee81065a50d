// One request to an AWS endpoint and its whole answer. As in the provider transport node:http rather than fetch: it has
// a connect phase of its own, and redirects are never followed.
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../time/index.ts';

/** A connection inside a region takes about 5 ms; a lost packet must not use up the time of a call. */
const connectTimeoutMs = 300;
/** Below the 20 seconds after which AWS's own ends begin to close idle sockets. */
const idleSocketMs = 15_000;

export interface HttpExchange {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly answerMaxBytes: number;
  /** Aborting closes the socket, before or after the answer began. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** There was no connection, or it broke before the answer was whole. */
export class ConnectionBroken extends Error {
  override readonly name = 'ConnectionBroken';
  /**
   * False: there was no connection, so no byte of the request left. True proves nothing: even on an idle socket that
   * the other side had closed, the request may have been read before.
   */
  readonly mayHaveArrived: boolean;
  constructor(cause: unknown, mayHaveArrived: boolean) {
    super('the connection to AWS broke', { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** Asking again would bring the same. */
class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`an answer of over ${maxBytes} bytes`);
  }
}

export interface HttpExchanger {
  /** Rejects with ConnectionBroken, or with another Error for an answer that is larger than `answerMaxBytes`. */
  exchange(exchange: HttpExchange): Promise<HttpAnswer>;
  /** Closes the sockets; requests that are under way reject. */
  close(): void;
}

/** A request beyond `socketsMax` waits for a socket. */
export function createHttpExchanger(clock: Clock, socketsMax: number): HttpExchanger {
  const pool = { keepAlive: true, scheduling: 'lifo', maxSockets: socketsMax, timeout: idleSocketMs } as const;
  const plain = { open: httpRequest, agent: new HttpAgent(pool), connected: 'connect' };
  const encrypted = { open: httpsRequest, agent: new HttpsAgent(pool), connected: 'secureConnect' };

  return {
    async exchange({ url, method, headers, body, answerMaxBytes, signal }) {
      signal.throwIfAborted();
      const { open, agent, connected } = url.protocol === 'https:' ? encrypted : plain;
      const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
      const outgoing = open(url, { method, agent, headers: { ...headers, 'content-length': String(body.byteLength) } });
      // Not the `signal` option: Node binds that to the socket too, and a pooled socket outlives its request.
      const onAbort = () => void outgoing.destroy();
      signal.addEventListener('abort', onAbort, { once: true });
      outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
      const isConnected = watchConnecting(outgoing, connected, clock);
      const broken = (error: Error) =>
        reject(error instanceof AnswerTooLarge ? error : new ConnectionBroken(error, isConnected()));
      outgoing.once('response', (incoming) => readAnswer(incoming, answerMaxBytes, resolve, broken));
      outgoing.on('error', broken);
      outgoing.end(body);
      return promise;
    },
    close() {
      plain.agent.destroy();
      encrypted.agent.destroy();
    },
  };
}

/** Closes the socket with the first part that exceeds `maxBytes`. Events, not an iterator: this is on every call's way. */
function readAnswer(
  incoming: IncomingMessage,
  maxBytes: number,
  done: (answer: HttpAnswer) => void,
  failed: (error: Error) => void,
): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (part: Buffer) => {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > maxBytes) incoming.destroy(new AnswerTooLarge(maxBytes));
  });
  incoming.once('end', () => done({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts, bytes) }));
  incoming.once('error', failed);
}

/** Limits the time of connecting. The answer tells whether there is or was a connection that could carry a request. */
function watchConnecting(outgoing: ClientRequest, connected: string, clock: Clock): () => boolean {
  let isConnected = false;
  outgoing.once('socket', (socket) => {
    isConnected = !socket.connecting;
    if (isConnected) return;
    const cancel = clock.after(connectTimeoutMs, () => outgoing.destroy(new Error('connect timeout')));
    socket.once('connect', cancel);
    socket.once('close', cancel);
    socket.once(connected, () => {
      isConnected = true;
    });
  });
  return () => isConnected;
}
