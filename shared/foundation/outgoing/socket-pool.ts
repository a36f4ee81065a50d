// Keep-alive sockets to servers, plain and encrypted, that survive the freezing of a process.
import type { Agent as HttpAgent, RequestOptions } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ProxyEnvironment, readProxyEnvironment } from '../environment/index.ts';
import type { Clock } from '../time/index.ts';
import { createAgents } from './agents.ts';
import { createProxies, type Proxies } from './proxies.ts';

export interface SocketPool {
  readonly http: HttpAgent;
  /** Goes through the proxy where there is one. A plain call through a proxy is for its sender to write. */
  readonly https: HttpsAgent;
  readonly proxies: Proxies;
  hasConnected(socket: Duplex): boolean;
  /**
   * To be called before each request. A process that was frozen wakes with a pool of dead sockets, and its timers run
   * too late to have closed them.
   */
  closeStaleSockets(): void;
  /** Closes idle sockets, all of them or those to one address. */
  closeIdleSockets(address?: Pick<RequestOptions, 'hostname' | 'port'>): void;
  /** Closes every socket; requests under way fail. */
  close(): void;
}

export interface SocketPoolOptions {
  readonly clock: Clock;
  /** To one address. A request beyond waits for a socket. */
  readonly socketsMax: number;
  /** Shorter than the limits of the other ends, so that this side closes an idle socket first. */
  readonly idleSocketMs: number;
  /** The proxy of the process by default. */
  readonly proxy?: ProxyEnvironment;
}

export function createSocketPool(options: SocketPoolOptions): SocketPool {
  const { clock, socketsMax, idleSocketMs, proxy = readProxyEnvironment() } = options;
  const proxies = createProxies(proxy);
  // The socket used last is the one least likely to have died meanwhile.
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
