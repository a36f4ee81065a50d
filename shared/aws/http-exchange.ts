// One request to an AWS endpoint and its whole answer. As in the provider transport node:http rather than fetch: it has
// a connect phase of its own, and redirects are never followed.
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../time/index.ts';

/** A connection inside a region takes about 5 ms; a lost packet must not use up the time of a call. */
const connectTimeoutMs = 300;
/** Below the 20 seconds after which AWS's own ends begin to close idle sockets. */
const idleSocketMs = 15_000;
/** Per service. A Lambda environment uses one or two; a Web Function needs one per running request. */
const socketsMax = 64;

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
  constructor(cause: unknown) {
    super('the connection to AWS broke', { cause });
  }
}

/** Rejects with ConnectionBroken, or with an Error for an answer that is larger than `answerMaxBytes`. */
export type ExchangeHttp = (exchange: HttpExchange) => Promise<HttpAnswer>;

export function createHttpExchange(clock: Clock): ExchangeHttp {
  const options = { keepAlive: true, scheduling: 'lifo', maxSockets: socketsMax, timeout: idleSocketMs } as const;
  const plain = { open: httpRequest, agent: new HttpAgent(options) };
  const encrypted = { open: httpsRequest, agent: new HttpsAgent(options) };

  return async ({ url, method, headers, body, answerMaxBytes, signal }) => {
    signal.throwIfAborted();
    const { open, agent } = url.protocol === 'https:' ? encrypted : plain;
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const broken = (error: unknown) => reject(new ConnectionBroken(error));
    const outgoing = open(url, { method, agent, headers: { ...headers, 'content-length': String(body.byteLength) } });
    // Not the `signal` option: Node binds that to the socket too, and a pooled socket outlives its request.
    const onAbort = () => void outgoing.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
    limitConnecting(clock, outgoing);
    outgoing.once('response', (incoming) => readAnswer(incoming, answerMaxBytes).then(resolve, broken));
    outgoing.on('error', broken);
    outgoing.end(body);
    const answer = await promise;
    if (answer.body.byteLength > answerMaxBytes) throw new Error(`an answer of over ${answerMaxBytes} bytes`);
    return answer;
  };
}

/** Stops reading with the first part that exceeds `maxBytes`: whoever waits measures again. */
async function readAnswer(incoming: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early destroys the socket, with what is still on its way.
  for await (const part of incoming as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > maxBytes) break;
  }
  return { status: incoming.statusCode ?? 0, body: Buffer.concat(parts, bytes) };
}

function limitConnecting(clock: Clock, outgoing: ClientRequest): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const cancel = clock.after(connectTimeoutMs, () => outgoing.destroy(new Error('connect timeout')));
    socket.once('connect', cancel);
    socket.once('close', cancel);
  });
}
