// GET /v1/models: its own function behind the distribution, and a route of the chat function where there is none.

import type { StatisticsReader } from '../../accounting/provider-health/index.ts';
import type { CatalogueReader } from '../../configuration/catalogue/index.ts';
import { authenticate, type KeyReader, readCredential } from '../../configuration/keys/index.ts';
import type { WorkspaceReader } from '../../configuration/workspaces/index.ts';
import { okStatus } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Endpoint } from '../../protocol/router/index.ts';
import { listModels } from './list-models.ts';

export interface ModelListingDependencies {
  readonly clock: Clock;
  readonly keys: KeyReader;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly statistics: StatisticsReader;
}

export const serveModels =
  ({ clock, keys, catalogue, workspaces, statistics }: ModelListingDependencies): Endpoint =>
  async (request, scope) => {
    const credential = readCredential(request.headers);
    const [key, current, figures] = await Promise.all([
      authenticate(keys, credential, clock.nowMs()),
      catalogue.current(),
      statistics.current(),
    ]);
    if (scope.correlationFault !== undefined) throw scope.correlationFault;
    const list = listModels(current, figures, await workspaces.read(key.workspace));
    // The list is a workspace's own: no cache on the way may hand it to another.
    const headers = { 'content-type': 'application/json', 'cache-control': 'private, no-store' };
    return { status: okStatus, headers, body: JSON.stringify(list), finish: () => statistics.settled() };
  };
