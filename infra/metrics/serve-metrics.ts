// Serves GET /metrics: on the gateway's port with an operator's key, and on a separate port, where only the address
// protects it.

import type { OperatorDependencies } from '../../functions/operator/dependencies.ts';
import { requireInAll } from '../../functions/operator/request/allowed.ts';
import { identifyOperator } from '../../functions/operator/request/identify-operator.ts';
import { errorCatalogue, okStatus } from '../../shared/errors/index.ts';
import { metricsEndpoint } from '../../shared/foundation/constants/index.ts';
import { anyOrigin, type Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter } from '../../shared/protocol/router/index.ts';

export type ReadMetrics = () => Promise<string>;

/** Headers with the media type of prom-client, which is loaded later. */
const headers = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  'cache-control': 'private, no-store',
} as const;

/**
 * Creates the route with a key. A scraper calls each task at its own address, where no distribution adds its secret.
 */
export const createMetricsGateway = (deps: OperatorDependencies, read: ReadMetrics): Gateway =>
  createRouter(
    {
      root: {
        [metricsEndpoint.path]: {
          async GET(request, scope) {
            requireInAll(await identifyOperator(deps, request, scope), 'viewer');
            return { status: okStatus, headers, body: await read() };
          },
        },
      },
      cors: false,
    },
    { ...deps, origin: anyOrigin },
  );

/** Serves only the metrics, without a key. */
export const metricsAlone =
  (read: ReadMetrics): Gateway =>
  async ({ method, path }, { refusal }) => {
    if (refusal !== undefined) return plain(refusal.entry.status, refusal.message);
    if (path !== metricsEndpoint.path || method !== 'GET')
      return plain(errorCatalogue.not_found.status, `GET ${metricsEndpoint.path}`);
    return read().then(
      (body) => ({ status: okStatus, headers, body }),
      () => plain(errorCatalogue.RATE_LIMITER_UNAVAILABLE.status, 'no metrics'),
    );
  };

const plain = (status: number, text: string) => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});
