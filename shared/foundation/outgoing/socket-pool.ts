// Keeps sockets to servers alive, plain and encrypted, so that they survive the freezing of a process.
import { type Agent as HttpAgent, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as encryptedRequest, type Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ProxyEnvironment, readProxyEnvironment } from '../environment/index.ts';
import type { Clock } from '../time/index.ts';
import { type ConnectOptions, createAgents } from './agents.ts';
import { createProxies, type Proxies } from './proxies.ts';

export interface SocketPool {
  readonly http: HttpAgent;
  /**
   * Agent for https, through the proxy if there is one. For a plain call through a proxy the caller writes the request
   * for it.
   */
  readonly https: HttpsAgent;
  readonly proxies: Proxies;
  hasConnected(socket: Duplex): boolean;
  /**
   * Closes sockets that are likely dead. Called before each request, because a process that was frozen wakes with a
   * pool of dead sockets, and its timers run too late to have closed them.
   */
  closeStaleSockets(): void;
  /** Closes idle sockets, either all or those to one address. */
  closeIdleSockets(address?: Pick<RequestOptions, 'hostname' | 'port'>): void;
  /** Closes every socket; running requests fail. */
  close(): void;
}

export interface SocketPoolOptions {
  readonly clock: Clock;
  /** Maximum number of sockets to one address. Further requests wait for a socket. */
  readonly socketsMax: number;
  /**
   * Time after which an idle socket is closed. It is shorter than the limits of the other ends, so that this side
   * closes first.
   */
  readonly idleSocketMs: number;
  /** Proxy; by default the proxy of the process. */
  readonly proxy?: ProxyEnvironment;
}

export function createSocketPool(options: SocketPoolOptions): SocketPool {
  const { clock, socketsMax, idleSocketMs, proxy = readProxyEnvironment() } = options;
  const proxies = createProxies(proxy);
  // The socket that was used last is the least likely to have died meanwhile.
  const settings = { keepAlive: true, scheduling: 'lifo', maxSockets: socketsMax, timeout: idleSocketMs } as const;
  const agents = createAgents(clock, proxies, settings);
  const { http, https, hasConnected } = agents;
  let usedAtMs = clock.nowMs();

  const closeIdleSockets: SocketPool['closeIdleSockets'] = (address) => {
    for (const [agent, defaultPort] of [
      [http, 80],
      [https, 443],
    ] as const) {
      const start = address === undefined ? '' : `${address.hostname}:${address.port || defaultPort}:`;
      for (const [name, sockets] of Object.entries(agent.freeSockets)) {
        if (name.startsWith(start)) for (const socket of sockets ?? []) socket.destroy();
      }
    }
  };

  return {
    http,
    https,
    proxies,
    hasConnected,
    closeStaleSockets() {
      const nowMs = clock.nowMs();
      if (nowMs - usedAtMs > idleSocketMs) closeIdleSockets();
      usedAtMs = nowMs;
    },
    closeIdleSockets,
    close() {
      agents.close();
      http.destroy();
      https.destroy();
    },
  };
}

interface TextRequest
  extends Pick<ConnectOptions, 'host' | 'port' | 'path' | 'method' | 'headers' | 'connectTimeoutMs'> {
  readonly isEncrypted: boolean;
  readonly text: string;
}

/**
 * Sends a text in one write, and resolves with the head of the answer. Rejects with the signal's reason, which closes
 * the connection, also while the answer's body is read.
 */
export function sendText(
  pool: Pick<SocketPool, 'http' | 'https'>,
  { isEncrypted, text, ...target }: TextRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  const options: ConnectOptions = { ...target, agent: isEncrypted ? pool.https : pool.http };
  const outgoing = (isEncrypted ? encryptedRequest : plainRequest)(options, resolve);
  const abort = () => {
    outgoing.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', abort));
  outgoing.on('error', reject);
  outgoing.end(text);
  return promise;
}
