// The SDK's own request handler, on sockets that survive the freezing of a process.
import { isTransientError } from '@smithy/core/retry';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { SocketPool } from '../../foundation/outgoing/index.ts';

/** Limit of calls without a signal, such as those that create tables. The store ends its calls much earlier. */
const requestTimeoutMs = 10_000;

export class PooledRequestHandler extends NodeHttpHandler {
  readonly #pool: SocketPool;

  constructor(pool: SocketPool, connectTimeoutMs: number) {
    super({
      httpAgent: pool.http,
      httpsAgent: pool.https,
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    });
    this.#pool = pool;
  }

  override async handle(...[request, options]: Parameters<NodeHttpHandler['handle']>) {
    this.#pool.closeStaleSockets();
    try {
      return await super.handle(request, options);
    } catch (error) {
      // Where one socket broke, the idle ones beside it are likely dead too: the next attempt gets a new one.
      if (isTransientError(error as Parameters<typeof isTransientError>[0])) this.#pool.closeIdleSockets();
      throw error;
    }
  }

  override destroy(): void {
    this.#pool.close();
  }
}
