// Keep-alive sockets to servers, for plain and for encrypted connections, that survive a process which was frozen.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Clock } from '../time/index.ts';

export interface SocketPool {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /**
   * To be called before each request. A process that was frozen wakes with a pool of dead sockets, and its timers run
   * too late to have closed them.
   */
  closeStaleSockets(): void;
  /** Those that wait for a request: all of them, or those to one address. */
  closeIdleSockets(url?: URL): void;
  /** Closes every socket; requests under way fail. */
  close(): void;
}

export interface SocketPoolOptions {
  readonly clock: Clock;
  /** To one address. A request beyond waits for a socket. */
  readonly socketsMax: number;
  /** Shorter than what the other ends allow, so that an idle socket is closed on this side first. */
  readonly idleSocketMs: number;
}

export function createSocketPool({ clock, socketsMax, idleSocketMs }: SocketPoolOptions): SocketPool {
  // The socket used last is the one least likely to have died meanwhile.
  const settings = { keepAlive: true, scheduling: 'lifo', maxSockets: socketsMax, timeout: idleSocketMs } as const;
  const http = new HttpAgent(settings);
  const https = new HttpsAgent(settings);
  let usedAtMs = clock.nowMs();

  function closeIdleSockets(url?: URL): void {
    const address = url && `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}:`;
    for (const { freeSockets } of [http, https]) {
      for (const [name, sockets] of Object.entries(freeSockets)) {
        if (name.startsWith(address ?? '')) for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  return {
    http,
    https,
    closeStaleSockets() {
      const nowMs = clock.nowMs();
      if (nowMs - usedAtMs > idleSocketMs) closeIdleSockets();
      usedAtMs = nowMs;
    },
    closeIdleSockets,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}
