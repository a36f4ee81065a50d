// Prints lines about a started gateway: everything that is still missing for calls, and a command that makes a call, if
// the call can succeed.

import { calledName } from '../../shared/accounting/call-records/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { workspaceConnections } from '../../shared/configuration/byok/index.ts';
import {
  type CalledProvider,
  type Catalogue,
  type ProviderDocument,
  poolOf,
  secretReferenceOf,
} from '../../shared/configuration/catalogue/index.ts';
import { isKeyExpired, type KeyRecord, parseApiKey } from '../../shared/configuration/keys/index.ts';
import type { WorkspaceDocument } from '../../shared/configuration/workspaces/index.ts';
import { GatewayError } from '../../shared/errors/index.ts';
import { programs } from '../../shared/foundation/constants/index.ts';
import { type PicoUsd, parseUsd } from '../../shared/foundation/money/index.ts';
import { readChatRequest } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { worstCaseCost } from '../../shared/routing/billing/index.ts';
import { makePlan, readByokSources } from '../../shared/routing/planner/index.ts';

/**
 * Maximum number of workspaces and keys that a start reads, because a start describes the gateway and does not audit
 * it.
 */
const workspacesMax = 50;
const keysMax = 50;

export interface StartedGateway {
  readonly url: string;
  /** Keys whose text is known, the preferred key first. */
  readonly keyTexts: readonly string[];
  readonly data?: string | undefined;
  readonly dynamodb?: string | undefined;
}

interface Account {
  readonly workspace: WorkspaceDocument;
  readonly available: PicoUsd;
}

/** Describes a start. Never rejects, because the gateway serves even if the description fails. */
export async function describeStart(composition: Composition, started: StartedGateway): Promise<string[]> {
  try {
    return await describe(composition, started);
  } catch (error) {
    return [`note: what calls need could not be read (${error instanceof Error ? error.message : 'unknown failure'})`];
  }
}

async function describe(composition: Composition, started: StartedGateway): Promise<string[]> {
  const catalogue = await composition.catalogue.current();
  await composition.credentials.ready();
  const accounts = await readAccounts(composition);
  return [
    ...[...catalogue.providers.values()].flatMap((provider) => describeProvider(composition, provider)),
    ...describeAlerts(composition, catalogue),
    ...accounts.flatMap((account) => describeAccount(account, started)),
    ...(await describeCall(composition, catalogue, accounts, started)),
  ];
}

/** Describes the receiver and the secret of alerts that this process lacks. */
function describeAlerts({ credentials }: Composition, { service: { alerts } }: Catalogue): string[] {
  const references = [alerts?.url, alerts?.secret].filter((reference) => reference !== undefined);
  return references.flatMap((reference) => {
    if (credentials.secretOf(reference) !== undefined) return [];
    const missing = 'env' in reference ? `${reference.env} is not set` : noLocalSecrets;
    return [`note: no alerts are sent: ${missing}`];
  });
}

async function readAccounts({ workspaceStore, credit }: Composition): Promise<Account[]> {
  const accounts: Account[] = [];
  for await (const workspace of workspaceStore.list()) {
    const { id, credit_shards: shards } = workspace;
    const { available } = await credit.show({ workspace: id, shards, spendLimit: null });
    accounts.push({ workspace, available });
    if (accounts.length === workspacesMax) break;
  }
  return accounts;
}

function describeProvider(composition: Composition, provider: ProviderDocument): string[] {
  return [...describeApis(provider), ...describeUse(composition, provider)];
}

/** Lists the interfaces only if they differ from chat completions alone. */
const describeApis = ({ id, apis }: ProviderDocument): string[] =>
  apis.every((api) => api === 'chat-completions') ? [] : [`provider ${id} speaks ${apis.join(', ')}`];

function describeUse({ credentials }: Composition, provider: ProviderDocument): string[] {
  if (provider.status === 'disabled')
    return [`note: provider ${provider.id} is disabled (gw providers enable ${provider.id})`];
  return poolOf(provider).flatMap((credential) =>
    credentials.find(credential) === undefined
      ? [
          `note: provider ${calledName({ ...credential, provider: credential.id })} is not configured: ${whatIsMissing(credential, credentials)}`,
        ]
      : [],
  );
}

function whatIsMissing(provider: CalledProvider, credentials: Composition['credentials']): string {
  const { auth } = provider;
  if (auth === 'none') return 'it cannot be called';
  const reference = secretReferenceOf(auth);
  if (reference === undefined) return 'there are no AWS credentials in the environment';
  if (!('env' in reference)) return noLocalSecrets;
  return `${reference.env} ${credentials.faultOf?.(provider) ?? 'is not set'}`;
}

function describeAccount({ workspace: { id }, available }: Account, started: StartedGateway): string[] {
  if (available > 0n) return [];
  const store = storeOption(started);
  const solution =
    store === undefined ? 'write credit_usd in the file' : `${programs.commandLine} credits add ${id} 10 ${store}`;
  return [`note: workspace ${id} has no credit: ${solution}`];
}

const noLocalSecrets = 'a local run reads no secrets, write env: NAME instead';

/** Returns a line with the command that reaches this gateway, or that starts a reachable gateway. */
export function commandLineHint(started: Pick<StartedGateway, 'data' | 'dynamodb'>): string {
  const store = storeOption(started);
  return store === undefined
    ? `command line: this gateway is in memory; start it with --data .gw, then: ${programs.commandLine} status --data .gw`
    : `command line: ${programs.commandLine} status ${store}`;
}

/**
 * Returns the option with which the command line reaches the store; undefined if the store is in the memory of this
 * process.
 */
export function storeOption({ data, dynamodb }: Pick<StartedGateway, 'data' | 'dynamodb'>): string | undefined {
  if (dynamodb !== undefined) return `--dynamodb ${dynamodb}`;
  return data === undefined ? undefined : `--data ${data}`;
}

const messages = [{ role: 'user', content: 'Hello' }];

/**
 * Returns a curl line for the first key that can call a model. The text of a key that is not known stays a variable.
 */
async function describeCall(
  composition: Composition,
  catalogue: Catalogue,
  accounts: readonly Account[],
  started: StartedGateway,
): Promise<string[]> {
  let looked = 0;
  for await (const { record, text } of activeKeys(composition, started.keyTexts)) {
    looked += 1;
    if (looked > keysMax) break;
    const account = accounts.find(({ workspace }) => workspace.id === record.workspace);
    const model = account && (await findCallableModel(composition, catalogue, account, record));
    if (model === undefined) continue;
    const authorization = `"Authorization: Bearer ${text ?? '$GW_API_KEY'}"`;
    const line = `curl ${started.url}/chat/completions -H ${authorization} -H "Content-Type: application/json" -d '${JSON.stringify({ model, messages })}'`;
    return text === undefined
      ? [`with key ${record.name} of ${record.workspace} in the variable GW_API_KEY:`, line]
      : [line];
  }
  if (looked > 0 || accounts.length === 0) return [];
  const store = storeOption(started);
  const solution =
    store === undefined
      ? 'write keys: [{ name: NAME }] at a workspace of the file'
      : `${programs.commandLine} keys create --workspace ${accounts[0]?.workspace.id} --name NAME ${store}`;
  return [`note: there is no active key: ${solution}`];
}

interface ActiveKey {
  readonly record: KeyRecord;
  readonly text: string | undefined;
}

async function* activeKeys({ keys, clock }: Composition, texts: readonly string[]): AsyncGenerator<ActiveKey> {
  const isUsable = (record: KeyRecord) => record.status === 'active' && !isKeyExpired(record, clock.nowMs());
  for (const text of texts) {
    const record = await keys.read(parseApiKey(text)?.publicId ?? '');
    if (record !== undefined && isUsable(record)) yield { record, text };
  }
  for await (const record of keys.list()) if (isUsable(record)) yield { record, text: undefined };
}

/**
 * Finds the first model that can be called with this key. The key may use the model, a provider is configured, and the
 * money suffices.
 */
async function findCallableModel(
  { credentials, connections }: Composition,
  catalogue: Catalogue,
  { workspace, available }: Account,
  { models, spendLimitUsd }: KeyRecord,
): Promise<string | undefined> {
  const limit = spendLimitUsd === null ? available : (parseUsd(spendLimitUsd) ?? 0n);
  const { connections: planned } = workspaceConnections(workspace, await connections.connectionsOf(workspace.id));
  const started = {
    catalogue,
    workspace,
    byok: workspace.features.byok ? readByokSources({ hasHeaderKey: false, connections: planned }) : undefined,
    isConfigured: ({ provider }: { provider: ProviderDocument }) => credentials.find(provider) !== undefined,
    statsOf: () => undefined,
    isCooling: () => false,
    session: () => '',
  };
  return [...catalogue.models.keys()].find((model) => {
    if (models !== null && !models.includes(model)) return false;
    const request = readChatRequest({ model, messages });
    if (request instanceof GatewayError) return false;
    const plan = makePlan(request, started);
    if (plan instanceof GatewayError) return false;
    const cost = worstCaseCost(plan, request.size());
    return cost <= available && cost <= limit;
  });
}
