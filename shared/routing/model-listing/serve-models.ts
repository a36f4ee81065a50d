// GET /v1/models and /v1/models/{id}: their own function behind the distribution, and routes of the chat function where there is none.

import type { StatisticsReader } from '../../accounting/provider-health/index.ts';
import { type ConnectionList, type PlannedConnection, workspaceConnections } from '../../configuration/byok/index.ts';
import type { Catalogue, CatalogueReader } from '../../configuration/catalogue/index.ts';
import { authenticate, type KeyReader, modelsOfKey, readCredential } from '../../configuration/keys/index.ts';
import { type FunctionList, isCallable, type ListedFunction } from '../../configuration/stored-functions/index.ts';
import type { WorkspaceDocument, WorkspaceReader } from '../../configuration/workspaces/index.ts';
import { type ErrorFormat, okStatus } from '../../errors/index.ts';
import { brand, functionAliasPrefix } from '../../foundation/constants/index.ts';
import { type Clock, instantOf } from '../../foundation/time/index.ts';
import type { GatewayRequest } from '../../protocol/http/index.ts';
import { type CredentialPlace, credentialPlaces } from '../../protocol/interfaces/index.ts';
import { type Endpoint, jsonHeaders } from '../../protocol/router/index.ts';
import type { FunctionModelObject } from '../../protocol/wire/index.ts';
import { failUnknownModel, isBillable } from '../planner/index.ts';
import { toAnthropicModel, toAnthropicPage } from './anthropic-listing.ts';
import { toProfilePage } from './bedrock-listing.ts';
import { toGoogleModel, toGooglePage } from './google-listing.ts';
import { findModel, type ListingInput, listModels } from './list-models.ts';

export interface ModelListingDependencies {
  readonly clock: Clock;
  readonly keys: KeyReader;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly connections: ConnectionList;
  readonly functionList: FunctionList;
  readonly statistics: StatisticsReader;
}

/** GET /models; with `functions=true` the callable functions of the workspace follow the models. */
export const serveModels = (deps: ModelListingDependencies): Endpoint =>
  serveListing(deps, async (input, request, { form }) => {
    const asksFunctions = new URLSearchParams(request.query).get('functions') === 'true';
    const list = listModels(input, asksFunctions ? await listFunctions(deps, input) : []);
    if (form === 'messages') return toAnthropicPage(list.data, request.query);
    if (form === 'aws') return toProfilePage(list.data, request.query);
    return form === 'google' ? toGooglePage(list.data, request.query) : list;
  });

/** GET /models/{id}, of a function too. */
export const serveModel = (deps: ModelListingDependencies): Endpoint =>
  serveListing(deps, async (input, _request, { form, id }) => {
    const found = id.startsWith(functionAliasPrefix)
      ? (await listFunctions(deps, input)).find((one) => one.id === id)
      : findModel(id, input);
    if (found === undefined) throw failUnknownModel(id, input);
    if (form === 'messages') return toAnthropicModel(found);
    return form === 'google' ? toGoogleModel(found) : found;
  });

/** Where clients of each form send the key. */
const credentialPlaceOf: Readonly<Partial<Record<ErrorFormat, CredentialPlace>>> = {
  messages: credentialPlaces.messages,
  google: credentialPlaces.google,
  aws: credentialPlaces.aws,
};

interface CallerListing extends ListingInput {
  readonly workspaceId: string;
}

/** Revisions that a call without one would run now. The `models` of a key or workspace do not restrict functions. */
async function listFunctions(
  { functionList, clock }: ModelListingDependencies,
  { catalogue, workspaceId }: CallerListing,
): Promise<FunctionModelObject[]> {
  if (catalogue.service.function_execution !== 'enabled') return [];
  const nowMs = clock.nowMs();
  const functions = await functionList.of(workspaceId);
  return functions.flatMap((listed) => (isCallable(listed, nowMs) ? toFunctionModel(listed) : []));
}

function toFunctionModel({ id, kind, active }: ListedFunction): FunctionModelObject[] {
  if (active === null) return [];
  const { id: revision, expiresAtMs, activatedAtMs } = active;
  const created = Math.floor(activatedAtMs / 1_000);
  const expires_at = instantOf(expiresAtMs);
  const alias = `${functionAliasPrefix}${id}`;
  return [{ id: alias, object: 'model', created, owned_by: brand, display_name: id, kind, revision, expires_at }];
}

/** `form`: that of the client's errors, which is that of its list. */
interface ListingRequest {
  readonly form: ErrorFormat;
  readonly id: string;
}

type Read = (input: CallerListing, request: GatewayRequest, listing: ListingRequest) => Promise<object>;

/** Read only where they decide anything: an entry without prices waits for a key of the client's own. */
async function readConnections(
  { connections }: ModelListingDependencies,
  workspace: WorkspaceDocument,
  { models }: Catalogue,
): Promise<readonly PlannedConnection[]> {
  const hasUnpriced = [...models.values()].some(({ candidates }) => !candidates.every(isBillable));
  if (!workspace.features.byok || !hasUnpriced) return [];
  return workspaceConnections(workspace, await connections.connectionsOf(workspace.id)).connections;
}

const serveListing =
  (deps: ModelListingDependencies, read: Read): Endpoint =>
  async (request, scope) => {
    const { clock, keys, catalogue, workspaces, statistics } = deps;
    const { errorFormat: form, pathParameters } = scope;
    const credential = readCredential(request, { credentialPlace: credentialPlaceOf[form] ?? credentialPlaces.bearer });
    const [key, current, figures] = await Promise.all([
      authenticate(keys, credential, clock.nowMs()),
      catalogue.current(),
      statistics.current(),
    ]);
    scope.details.caller = { workspace: key.workspace, keyId: key.publicId, keyName: key.name };
    if (scope.correlationFault !== undefined) throw scope.correlationFault;
    const workspace = await workspaces.read(key.workspace);
    const scopedWorkspace = { ...workspace, models: modelsOfKey(workspace.models, key) };
    const connections = await readConnections(deps, workspace, current);
    const input = {
      catalogue: current,
      statistics: figures,
      workspace: scopedWorkspace,
      connections,
      workspaceId: key.workspace,
    };
    const body = JSON.stringify(await read(input, request, { form, id: pathParameters[0] ?? '' }));
    return { status: okStatus, headers: jsonHeaders, body, finish: async () => statistics.settled() };
  };
