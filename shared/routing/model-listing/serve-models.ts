// GET /v1/models and /v1/models/{id}: their own function behind the distribution, and routes of the chat function where there is none.

import type { Statistics, StatisticsReader } from '../../accounting/provider-health/index.ts';
import type { Catalogue, CatalogueReader } from '../../configuration/catalogue/index.ts';
import { authenticate, type KeyReader, modelsOfKey, readCredential } from '../../configuration/keys/index.ts';
import type { WorkspaceReader } from '../../configuration/workspaces/index.ts';
import { okStatus } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Endpoint, jsonHeaders } from '../../protocol/router/index.ts';
import { failUnknownModel } from '../planner/index.ts';
import { findModel, type ListingWorkspace, listModels } from './list-models.ts';

export interface ModelListingDependencies {
  readonly clock: Clock;
  readonly keys: KeyReader;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly statistics: StatisticsReader;
}

/** GET /models. */
export const serveModels = (deps: ModelListingDependencies): Endpoint => serveListing(deps, listModels);

/** GET /models/{id}. */
export const serveModel = (deps: ModelListingDependencies): Endpoint =>
  serveListing(deps, (catalogue, statistics, workspace, id) => {
    const model = findModel(id, catalogue, statistics, workspace);
    if (model === undefined) throw failUnknownModel(id, catalogue, workspace);
    return model;
  });

type Read = (
  catalogue: Catalogue,
  statistics: Statistics,
  workspace: ListingWorkspace,
  pathParameter: string,
) => object;

const serveListing =
  ({ clock, keys, catalogue, workspaces, statistics }: ModelListingDependencies, read: Read): Endpoint =>
  async (request, scope) => {
    const credential = readCredential(request.headers);
    const [key, current, figures] = await Promise.all([
      authenticate(keys, credential, clock.nowMs()),
      catalogue.current(),
      statistics.current(),
    ]);
    const { logContext } = scope;
    const names = { workspace_id: key.workspace, key_id: key.publicId, key_name: key.name };
    logContext.fields = { ...logContext.fields, ...names };
    if (scope.correlationFault !== undefined) throw scope.correlationFault;
    const workspace = await workspaces.read(key.workspace);
    const asked = { ...workspace, models: modelsOfKey(workspace.models, key) };
    const body = JSON.stringify(read(current, figures, asked, scope.pathParameter));
    return { status: okStatus, headers: jsonHeaders, body, finish: () => statistics.settled() };
  };
