// Serves GET /v1/models and /v1/models/{id}: in a separate function of the distribution, and as routes of the chat
// function if there is no distribution.
import type { StatisticsReader } from '../../accounting/provider-health/index.ts';
import { type ConnectionList, type PlannedConnection, workspaceConnections } from '../../configuration/byok/index.ts';
import type { Catalogue, CatalogueReader } from '../../configuration/catalogue/index.ts';
import { authenticate, type KeyReader, modelsOfKey, readCredential } from '../../configuration/keys/index.ts';
import { type FunctionList, isCallable, type ListedFunction } from '../../configuration/stored-functions/index.ts';
import type { WorkspaceDocument, WorkspaceReader } from '../../configuration/workspaces/index.ts';
import { type ErrorFormat, fail, okStatus } from '../../errors/index.ts';
import { brand, functionAliasPrefix } from '../../foundation/constants/index.ts';
import { type Clock, instantOf } from '../../foundation/time/index.ts';
import type { GatewayRequest } from '../../protocol/http/index.ts';
import { type CredentialPlace, credentialPlaces } from '../../protocol/interfaces/index.ts';
import { type Endpoint, jsonHeaders } from '../../protocol/router/index.ts';
import type {
  AnthropicModelObject,
  AnthropicModelPage,
  FunctionModelObject,
  ModelListItem,
  ModelObject,
} from '../../protocol/wire/index.ts';
import { failUnknownModel, isBillable } from '../planner/index.ts';
import { toGoogleModel, toGooglePage } from './google-listing.ts';
import { findModel, type ListingInput, listModels } from './list-models.ts';
import { pageOf } from './pages.ts';

export interface ModelListingDependencies {
  readonly clock: Clock;
  readonly keys: KeyReader;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly connections: ConnectionList;
  readonly functionList: FunctionList;
  readonly statistics: StatisticsReader;
}

/** Serves GET /models; with `functions=true` the callable functions of the workspace follow the models. */
export const serveModels = (deps: ModelListingDependencies): Endpoint =>
  serveListing(deps, async (input, request, { form }) => {
    const asksFunctions = new URLSearchParams(request.query).get('functions') === 'true';
    const list = listModels(input, asksFunctions ? await listFunctions(deps, input) : []);
    if (form === 'messages') return toAnthropicPage(list.data, request.query);
    if (form === 'aws') return toProfilePage(list.data, request.query);
    return form === 'google' ? toGooglePage(list.data, request.query) : list;
  });

/** Serves GET /models/{id}, for functions too. */
export const serveModel = (deps: ModelListingDependencies): Endpoint =>
  serveListing(deps, async (input, _request, { form, id }) => {
    const found = id.startsWith(functionAliasPrefix)
      ? (await listFunctions(deps, input)).find((one) => one.id === id)
      : findModel(id, input);
    if (found === undefined) throw failUnknownModel(id, input);
    if (form === 'messages') return toAnthropicModel(found);
    return form === 'google' ? toGoogleModel(found) : found;
  });

/** Places in which clients send the key, by the format of their errors. */
const credentialPlaceOf: Readonly<Partial<Record<ErrorFormat, CredentialPlace>>> = {
  messages: credentialPlaces.messages,
  google: credentialPlaces.google,
  aws: credentialPlaces.aws,
};

interface CallerListing extends ListingInput {
  readonly workspaceId: string;
}

/**
 * Returns the revisions that a call without a revision would use now. The `models` of a key or workspace do not
 * restrict functions.
 */
async function listFunctions(
  { functionList, clock }: ModelListingDependencies,
  { catalogue, workspaceId }: CallerListing,
): Promise<FunctionModelObject[]> {
  if (catalogue.service.function_execution !== 'enabled') return [];
  const nowMs = clock.nowMs();
  const functions = await functionList.functionsOf(workspaceId);
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

/** A request for a list. `form` is the format of the client's errors, and so of its list. */
interface ListingRequest {
  readonly form: ErrorFormat;
  readonly id: string;
}

type Read = (input: CallerListing, request: GatewayRequest, listing: ListingRequest) => Promise<object>;

/** Reads the connections only if they matter, because an entry without prices needs a key of the client's own. */
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

// Writes the list of models as clients of Amazon Bedrock read it: inference profiles, in pages.

const pageSizes = { param: 'maxResults', fallback: 1_000, max: 1_000, zeroIsNone: false };

/** A page as in ListInferenceProfiles of @aws-sdk/client-bedrock. An id of the catalogue is the id of a profile. */
interface ProfilePage {
  readonly inferenceProfileSummaries: readonly object[];
  readonly nextToken?: string;
}

const isServed = (model: ModelListItem): model is ModelObject =>
  'apis' in model && model.apis?.includes('converse') === true;

function toProfile({ id, display_name, created }: ModelObject): object {
  const inferenceProfileArn = `arn:aws:bedrock:::inference-profile/${id}`;
  const createdAt = instantOf(created * 1_000);
  return {
    inferenceProfileName: display_name,
    inferenceProfileId: id,
    inferenceProfileArn,
    models: [{ modelArn: `arn:aws:bedrock:::foundation-model/${id}` }],
    status: 'ACTIVE',
    type: 'SYSTEM_DEFINED',
    createdAt,
    updatedAt: createdAt,
  };
}

/** Returns the page. Throws invalid_request for an impossible page. */
function toProfilePage(models: readonly ModelListItem[], query: string): ProfilePage {
  const parameters = new URLSearchParams(query);
  const isApplicationType = (parameters.get('type') ?? parameters.get('typeEquals')) === 'APPLICATION';
  const page = pageOf(isApplicationType ? [] : models.filter(isServed), {
    size: { ...pageSizes, sent: parameters.get('maxResults') },
    token: { param: 'nextToken', sent: parameters.get('nextToken') },
  });
  return {
    inferenceProfileSummaries: page.models.map(toProfile),
    ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
  };
}

// Writes the list of models as clients of the Anthropic API read it, in pages.

const limitDefault = 20;
const limitMax = 1_000;
const msPerSecond = 1_000;

function toAnthropicModel(model: ModelListItem): AnthropicModelObject {
  const outputs = 'providers' in model ? model.providers.map((entry) => entry.max_output_tokens) : [];
  return {
    type: 'model',
    id: model.id,
    display_name: 'display_name' in model ? model.display_name : model.id,
    created_at: instantOf(model.created * msPerSecond).replace(/\.\d+Z$/, 'Z'),
    lifecycle: 'active',
    line: null,
    max_input_tokens: 'context_length' in model ? model.context_length : null,
    max_tokens: outputs.length === 0 ? null : Math.max(...outputs),
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}

/** Returns the page. Throws invalid_request for an impossible page. */
function toAnthropicPage(models: readonly ModelListItem[], query: string): AnthropicModelPage {
  const parameters = new URLSearchParams(query);
  const limit = readLimit(parameters.get('limit'));
  const [after, before] = [placeOf(models, parameters, 'after_id'), placeOf(models, parameters, 'before_id')];
  if (after !== undefined && before !== undefined) {
    throw fail('invalid_request', { message: 'after_id and before_id exclude one another.' });
  }
  const end = before ?? models.length;
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const page = models.slice(start, Math.min(start + limit, end));
  return {
    data: page.map(toAnthropicModel),
    has_more: before === undefined ? start + page.length < models.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function readLimit(written: string | null): number {
  if (written === null) return limitDefault;
  const limit = /^\d{1,4}$/.test(written) ? Number(written) : 0;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw fail('invalid_request', { message: `limit: must be a whole number from 1 to ${limitMax}.` });
}

function placeOf(models: readonly ModelListItem[], parameters: URLSearchParams, name: string): number | undefined {
  const id = parameters.get(name);
  if (id === null) return undefined;
  const place = models.findIndex((model) => model.id === id);
  if (place < 0) throw fail('invalid_request', { message: `${name}: is no id of this list.` });
  return place;
}
