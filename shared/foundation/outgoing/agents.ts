// Extends Node's agents with a time limit for connecting, proxy support, and a mark on connected sockets, which shows
// whether a request may have left.
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '../time/index.ts';
import { connectTimeoutCode } from './connection-fault.ts';
import type { Proxies, ProxyServer } from './proxies.ts';
import { openTunnel } from './tunnel.ts';

export interface ConnectOptions extends ClientRequestArgs {
  /** Time limit for connecting, TLS handshake included. If absent, the caller limits the time. */
  readonly connectTimeoutMs?: number | undefined;
  /** TLS server name, if it differs from the `host` header. */
  readonly servername?: string | undefined;
}

type OnSocket = (error: Error | null, socket: Duplex) => void;

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** True if the socket could carry a request. */
  hasConnected(socket: Duplex): boolean;
  /** Aborts connections that are being opened through a proxy. */
  close(): void;
}

export function createAgents(clock: Clock, proxies: Proxies, settings: AgentOptions): Agents {
  const connected = new WeakSet<Duplex>();
  const closing = new AbortController();

  function watch(socket: Duplex, event: 'connect' | 'secureConnect', timeoutMs: number | undefined): Duplex {
    const limit = timeoutMs ?? Number.POSITIVE_INFINITY;
    const cancel = Number.isFinite(limit) ? clock.after(limit, () => socket.destroy(connectTimeout())) : () => {};
    socket.once('close', cancel);
    socket.once(event, () => {
      cancel();
      connected.add(socket);
    });
    return socket;
  }

  /** Connects to the proxy and then, within the remaining time, to the server behind it. */
  async function connectThrough(
    proxy: ProxyServer,
    { host, port, connectTimeoutMs = Number.POSITIVE_INFINITY }: ConnectOptions,
    toServer: (socket: Duplex) => Duplex,
  ): Promise<Duplex> {
    const startedAtMs = clock.nowMs();
    const ending = new AbortController();
    const end = () => ending.abort(connectTimeout());
    const cancel = Number.isFinite(connectTimeoutMs) ? clock.after(connectTimeoutMs, end) : () => {};
    try {
      const authority = `${String(host).includes(':') ? `[${host}]` : host}:${port}`;
      const tunnel = await openTunnel(proxy, authority, AbortSignal.any([ending.signal, closing.signal]));
      return watch(toServer(tunnel), 'secureConnect', connectTimeoutMs - (clock.nowMs() - startedAtMs));
    } finally {
      cancel();
    }
  }

  class PlainAgent extends HttpAgent {
    override createConnection(options: ConnectOptions) {
      return watch(super.createConnection(options) as Duplex, 'connect', options.connectTimeoutMs);
    }
  }
  class EncryptedAgent extends HttpsAgent {
    override createConnection(options: ConnectOptions, onSocket: OnSocket) {
      const connect = (more: object = {}) => super.createConnection({ ...options, ...more }) as Duplex;
      const { host, port } = options;
      const proxy = proxies.proxyFor({ protocol: 'https:', hostname: String(host), port: port ?? '' });
      if (proxy === undefined) return watch(connect(), 'secureConnect', options.connectTimeoutMs);
      connectThrough(proxy, options, (socket) => connect({ socket })).then(
        (socket) => onSocket(null, socket),
        // Node's agent expects only an error here.
        (error: Error) => onSocket(error, undefined as never),
      );
      return undefined;
    }
  }
  return {
    http: new PlainAgent(settings),
    https: new EncryptedAgent(settings),
    hasConnected: (socket) => connected.has(socket),
    close: () => closing.abort(new Error('closed')),
  };
}

const connectTimeout = (): Error => Object.assign(new Error('connect timeout'), { code: connectTimeoutCode });
