// Opens a connection through a proxy to an https server (CONNECT). The proxy sees the server's name, but not the
// traffic.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { ProxyServer } from './proxies.ts';

const tunnelStatuses = { min: 200, max: 299 } as const;
/** Status of a proxy that requires a credential, also for a call that it gets as a whole. */
export const proxyAuthenticationStatus = 407;

/**
 * Thrown when the proxy was not reached, or does not let the call through. It contains no text of the proxy and nothing
 * of its URL.
 */
export class ProxyFailed extends Error {
  override readonly name = 'ProxyFailed';
  /** Code for the log: `proxy_status_407`, `proxy_unreachable`. */
  readonly code: string;
  constructor(status: number | undefined, cause?: unknown) {
    super(status === undefined ? 'the proxy was not reached' : `the proxy answered with status ${status}`, { cause });
    this.code = status === undefined ? 'proxy_unreachable' : `proxy_status_${status}`;
  }
}

/** Opens the tunnel. `authority` consists of host and port. Rejects with ProxyFailed, or with the signal's reason. */
export function openTunnel(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { protocol, hostname, port, servername } = proxy;
  const open = protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = { host: authority, ...proxy.headers };
  const request = open({ hostname, port, servername, method: 'CONNECT', path: authority, headers, agent: false });
  const onAbort = () => {
    reject(signal.reason);
    request.destroy();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  // The event is emitted for every status.
  request.once('connect', ({ statusCode = 0 }, socket: Socket, early) => {
    if (statusCode >= tunnelStatuses.min && statusCode <= tunnelStatuses.max) {
      if (early.length > 0) socket.unshift(early);
      return resolve(socket);
    }
    socket.on('error', () => {});
    socket.destroy();
    reject(new ProxyFailed(statusCode));
  });
  request.on('error', (cause) => reject(new ProxyFailed(undefined, cause)));
  request.once('close', () => {
    signal.removeEventListener('abort', onAbort);
    reject(new ProxyFailed(undefined));
  });
  request.end();
  return promise;
}
