// Runs the SDK's own request handler on sockets that survive the freezing of a process. Small requests with an abort
// signal are sent without that handler, which makes four timers for each request and listens for events that only large
// requests need.
import { HttpResponse } from '@smithy/core/protocols';
import { isTransientError } from '@smithy/core/retry';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { isConnectTimeout, type SocketPool, sendText } from '../../foundation/outgoing/index.ts';

/** Limit of calls without a signal, such as those that create tables. The store ends its calls much earlier. */
const requestTimeoutMs = 10_000;

type Request = Parameters<NodeHttpHandler['handle']>[0];
type Answer = ReturnType<NodeHttpHandler['handle']>;

export class PooledRequestHandler extends NodeHttpHandler {
  readonly #pool: SocketPool;
  readonly #connectTimeoutMs: number;

  constructor(pool: SocketPool, connectTimeoutMs: number) {
    super({
      httpAgent: pool.http,
      httpsAgent: pool.https,
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    });
    this.#pool = pool;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override async handle(...[request, options]: Parameters<NodeHttpHandler['handle']>): Answer {
    this.#pool.closeStaleSockets();
    try {
      const signal = options?.abortSignal;
      return await (signal instanceof AbortSignal && isWholeText(request)
        ? this.#send(request, signal)
        : super.handle(request, options));
    } catch (error) {
      // If one socket broke, the idle sockets are likely dead too, so the next attempt gets a new socket.
      if (isTransientError(error as Parameters<typeof isTransientError>[0])) this.#pool.closeIdleSockets();
      throw error;
    }
  }

  override destroy(): void {
    this.#pool.close();
  }

  async #send(
    { protocol, hostname: host, body: text, port, path, method, headers }: Request,
    signal: AbortSignal,
  ): Answer {
    const target = { host, port, path, method, headers, connectTimeoutMs: this.#connectTimeoutMs };
    try {
      const body = await sendText(this.#pool, { ...target, isEncrypted: protocol === 'https:', text }, signal);
      const { statusCode = -1, headers } = body;
      return { response: new HttpResponse({ statusCode, headers: headers as Record<string, string>, body }) };
    } catch (error) {
      // Name by which the SDK recognizes an error that may be repeated.
      if (isConnectTimeout(error)) error.name = 'TimeoutError';
      throw error;
    }
  }
}

/** True for a POST to the root of a host that has a name. Every operation of a service with JSON is such a request. */
const isWholeText = ({ body, path, query = {}, hostname }: Request): boolean =>
  typeof body === 'string' && path === '/' && Object.keys(query).length === 0 && !hostname.startsWith('[');
