// The one place that calls out. node:http rather than fetch: it tells a pooled socket from a fresh one
// (`reusedSocket`), has a connect phase of its own and hands out Buffers. Redirects are never followed: a request's
// text goes to the address of the plan or nowhere.
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { keepAliveIdleMs, socketsPerProviderMax } from '../names/index.ts';
import type { Clock } from '../time/index.ts';

export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connectTimeoutMs: number;
  /** Aborting closes the socket, before or after the answer began. */
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Leaving the loop early keeps the socket: `drain` what is left, or abort the signal. */
  readonly body: AsyncIterable<Buffer>;
  /** Reads on to the end and drops it, so that the socket returns to the pool; not for longer than a moment. */
  readonly drain: () => void;
}

/** The provider was not reached, or went away. `stale`: a pooled socket had died while nobody used it. */
export class UpstreamUnreachable extends Error {
  override readonly name = 'UpstreamUnreachable';
  readonly stale: boolean;
  constructor(cause: unknown, stale: boolean) {
    super('the provider could not be reached', { cause });
    this.stale = stale;
  }
}

export interface Transport {
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  close(): void;
}

/** What is left behind an end marker is a few bytes; a provider that keeps them back loses its socket. */
const drainLimitMs = 1_000;

const agentOptions = {
  keepAlive: true,
  // The socket used last is the one least likely to have died meanwhile.
  scheduling: 'lifo',
  maxSockets: socketsPerProviderMax,
  timeout: keepAliveIdleMs,
} as const;

export function createTransport(clock: Clock): Transport {
  const agents = { 'http:': new HttpAgent(agentOptions), 'https:': new HttpsAgent(agentOptions) };
  const agentOf = (url: URL) => (url.protocol === 'https:' ? agents['https:'] : agents['http:']);

  /** A process that slept wakes with a pool of dead sockets: the retry must not draw a second one. */
  async function send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    try {
      return await sendOnce(clock, agentOf(request.url), request);
    } catch (error) {
      if (!(error instanceof UpstreamUnreachable) || !error.stale || request.signal.aborted) throw error;
      dropIdleSockets(agentOf(request.url), request.url);
      return sendOnce(clock, agentOf(request.url), request);
    }
  }

  return {
    send,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function sendOnce(clock: Clock, agent: HttpAgent, upstream: UpstreamRequest): Promise<UpstreamAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  const open = upstream.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const body = Buffer.from(upstream.body);
  const headers = { ...upstream.headers, 'content-length': body.length };
  const outgoing = open(upstream.url, { method: 'POST', agent, headers });
  bindSignal(outgoing, upstream.signal);
  limitConnecting(clock, outgoing, upstream);
  outgoing.once('response', (incoming) => resolve(toAnswer(clock, outgoing, incoming)));
  outgoing.on('error', (error) => reject(new UpstreamUnreachable(error, outgoing.reusedSocket)));
  outgoing.end(body);
  return promise;
}

function toAnswer(clock: Clock, outgoing: ClientRequest, incoming: IncomingMessage): UpstreamAnswer {
  // Whoever reads learns of a fault from the read; one that nobody reads must not be thrown into the process.
  incoming.on('error', () => {});
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: incoming.iterator({ destroyOnReturn: false }),
    drain: () => {
      const cancel = clock.after(drainLimitMs, () => outgoing.destroy());
      incoming.once('close', cancel);
      incoming.resume();
    },
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

function limitConnecting(clock: Clock, outgoing: ClientRequest, upstream: UpstreamRequest): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const cancel = clock.after(upstream.connectTimeoutMs, () => outgoing.destroy(new Error('connect timeout')));
    socket.once(upstream.url.protocol === 'https:' ? 'secureConnect' : 'connect', cancel);
    socket.once('close', cancel);
  });
}

function dropIdleSockets(agent: HttpAgent, url: URL): void {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const place = `${url.hostname}:${port}:`;
  for (const [name, sockets] of Object.entries(agent.freeSockets)) {
    if (name.startsWith(place)) for (const socket of sockets ?? []) socket.destroy();
  }
}
