// Finds the account that keeps a response, and the key to call it with. A response of another workspace is as unknown as one that was
// never made.
import { workspaceConnections } from '../../../shared/configuration/byok/index.ts';
import {
  type CalledProvider,
  type Catalogue,
  isAccount,
  poolOf,
} from '../../../shared/configuration/catalogue/index.ts';
import { modelsOfKey, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { fail, GatewayError, quote } from '../../../shared/errors/index.ts';
import type { HeaderValues } from '../../../shared/protocol/http/index.ts';
import { type ByokSource, checkByokHeader } from '../../../shared/routing/planner/index.ts';
import { guardrailIdsOf } from '../admission/guardrails-of-call.ts';
import type { CountedKey } from '../admission/identify-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallToSend } from '../provider/prepare-call.ts';
import { readCallHeaders } from '../receive/read-call-headers.ts';

export interface FoundResponse {
  readonly provider: CalledProvider;
  readonly payment: Pick<CallToSend, 'byok' | 'byokKey' | 'connections'>;
  readonly catalogue: Catalogue;
  /** Guardrails of the key that reads. */
  readonly guardrails: readonly string[];
  /** Of the workspace: nothing that the provider says may be kept. */
  readonly zdr: boolean;
}

export async function findStoredResponse(
  deps: GatewayDependencies,
  { record, item }: CountedKey,
  { id, headers }: { readonly id: string; readonly headers: HeaderValues },
): Promise<FoundResponse> {
  const callHeaders = readCallHeaders(headers, false);
  if (callHeaders instanceof GatewayError) throw callHeaders;
  const { byokKey } = callHeaders;
  const [catalogue, workspace, stored, [state]] = await Promise.all([
    deps.catalogue.current(),
    deps.workspaces.read(record.workspace),
    deps.connections.connectionsOf(record.workspace),
    deps.providerAffinity.find(record.workspace, [id]),
    deps.credentials.ready(),
  ]);
  if (state?.isMade !== true) throw failUnknown(id);
  const models = modelsOfKey(workspace.models, { models: readKeySetting(item, 'models') });
  const { provider: account, model = '', withOwnKey = false } = state;
  const [providerId = ''] = account.split('#');
  // Not even the name of a model that the key may not use is told.
  if (models !== 'all' && !models.includes(model)) throw failUnknown(id);
  const { connections } = workspaceConnections(workspace, stored);
  if (byokKey !== undefined) {
    const input = { catalogue, workspace, isEnabled: workspace.features.byok, connections };
    const fault = checkByokHeader({ provider: { only: [providerId] }, model: '' }, input);
    if (fault !== undefined) throw fault;
  }
  const hasConnection = connections.some((known) => known.provider === providerId && known.isAuthorised);
  const ofClient = withOwnKey && hasConnection ? 'connection' : undefined;
  const source: ByokSource | undefined = byokKey === undefined ? ofClient : 'header';
  if (source === undefined && withOwnKey)
    throw failWithoutKey('was made with a key of your own: send it in x-byok-key');
  if (source === undefined && connections.some(({ policy }) => policy === 'always')) {
    throw failWithoutKey("was made with the gateway's key, which the workspace does not use any more");
  }
  const provider = accountIn(catalogue, { providerId, account }, source);
  if (source === undefined && deps.credentials.find(provider) === undefined) {
    throw failGone(`The gateway holds no credential for ${provider.id}`);
  }
  return {
    provider,
    catalogue,
    guardrails: guardrailIdsOf({ workspace, key: item }),
    payment: { byok: { sourceOf: () => source, isRequired: false }, byokKey, connections: stored },
    zdr: workspace.data_policy.zdr === true,
  };
}

/** A key of the client's takes the place of whichever credential. */
function accountIn(
  { providers }: Catalogue,
  { providerId, account }: { readonly providerId: string; readonly account: string },
  source: ByokSource | undefined,
): CalledProvider {
  const provider = providers.get(providerId);
  if (provider === undefined) throw failGone(`The gateway has no longer the provider ${quote(providerId)}`);
  if (provider.status !== 'enabled') {
    const message = `The operator of this gateway has disabled ${provider.id}, which keeps the response.`;
    throw fail('model_not_routable', { message });
  }
  const called = poolOf(provider).find((one) => source !== undefined || isAccount(one, account));
  if (called === undefined) throw failGone(`The gateway has no longer the credential of ${provider.id}`);
  return called;
}

const failUnknown = (id: string): GatewayError =>
  fail('not_found', {
    message: `There is no response ${quote(id)} that this workspace has made through this gateway in the last 30 days.`,
  });

const failGone = (what: string): GatewayError =>
  fail('provider_not_configured', { message: `${what} that keeps the response.` });

const failWithoutKey = (why: string): GatewayError =>
  fail('byok_no_eligible_connection', { message: `The response ${why}.` });
