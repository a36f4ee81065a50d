// Finds the key, its workspace and the catalogue, which a warm instance has in memory. The remembered key admits no
// call, because its reservation compares it with the store; workspace and catalogue may be some seconds old.
import { secretOf } from '../../../shared/accounting/holds/index.ts';
import { refuseKey } from '../../../shared/configuration/keys/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { equalInConstantTime } from '../../../shared/foundation/ids/index.ts';
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import { checkRequestSchema, startSchemaWork } from '../../../shared/protocol/json-schema/index.ts';
import { type Item, startAdmissionTime } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall, ReceivedCall } from '../stages.ts';
import { noAdvice } from './money-message.ts';
import { reserveKey } from './reserve-key.ts';

/**
 * Returns the call, and the time of its admission. All rounds together wait at most 2 seconds for the store. A schema
 * that needs a worker may take longer.
 */
export async function identify(
  deps: GatewayDependencies,
  call: ReceivedCall,
  key: Item | Promise<Item>,
): Promise<{ readonly call: IdentifiedCall; readonly admissionTime: TimeBudget }> {
  const admissionTime = startAdmissionTime(deps.clock);
  // A refusal of the body is reported even if the key does not exist. If the key exists, the call gets a record.
  if (key instanceof Promise) key.catch(() => {});
  if (call.isOversized) throw fail('request_too_large');
  const { seenKey, catalogue, owner } = ownerInMemory(deps, key) ?? (await readOwner(deps, key, admissionTime));
  deps.credentialCheck.look(catalogue);
  const refuse = (fault: GatewayError) => admissionTime.wait(refuseFault(deps, call, seenKey, fault));
  // Only waits for the store use up the admission time; the time in which the client sends the body does not count.
  const { call: parsed } = await call.read(String(seenKey.workspace));
  if (parsed instanceof GatewayError) throw await refuse(parsed);
  const [workspace, connections] = owner instanceof Promise ? await owner : owner;
  const schemaWork = startSchemaWork(parsed.credential.publicId);
  // Below /openai/v1 a streamed answer is checked against its schema at the end.
  const schemaOptions = { allowsStream: parsed.scope.baseUrlRules.streamsSchemas, work: schemaWork };
  const schemaFault = checkRequestSchema(parsed.clientBody.request, schemaOptions);
  const fault = (schemaFault === undefined ? undefined : await schemaFault) ?? parsed.aliasFault;
  if (fault !== undefined) throw await refuse(fault);
  return { call: { parsed, key: seenKey, schemaWork, workspace, catalogue, connections }, admissionTime };
}

type Owner = readonly [IdentifiedCall['workspace'], IdentifiedCall['connections']];

interface FoundOwner {
  readonly seenKey: Item;
  readonly catalogue: IdentifiedCall['catalogue'];
  readonly owner: Owner | Promise<Owner>;
}

/** Returns undefined if the catalogue, the workspace or its connections have to be read from the store. */
function ownerInMemory(
  { catalogue: catalogues, cooldowns, workspaces, connections: connectionLists }: GatewayDependencies,
  key: Item | Promise<Item>,
): FoundOwner | undefined {
  if (key instanceof Promise || cooldowns.isStale()) return undefined;
  const id = String(key.workspace);
  const [catalogue, workspace, connections] = [catalogues.known(), workspaces.known(id), connectionLists.known(id)];
  if (catalogue === undefined || workspace === undefined || connections === undefined) return undefined;
  return { seenKey: key, catalogue, owner: [workspace, connections] };
}

async function readOwner(
  deps: GatewayDependencies,
  key: Item | Promise<Item>,
  admissionTime: TimeBudget,
): Promise<FoundOwner> {
  const finding = Promise.resolve(key);
  // The workspace is read at the same time as the catalogue. If the key is in memory, all reads are one round.
  const owner = admissionTime.wait(finding.then((item) => readWorkspace(deps, String(item.workspace))));
  // A call that is refused before never awaits this promise, so its rejection is handled at this point.
  owner.catch(() => {});
  const [seenKey, catalogue] = await admissionTime.wait(
    Promise.all([finding, deps.catalogue.current(), deps.cooldowns.refresh()]),
  );
  return { seenKey, catalogue, owner };
}

const readWorkspace = ({ workspaces, connections }: GatewayDependencies, id: string) =>
  Promise.all([workspaces.read(id), connections.connectionsOf(id)]);

/**
 * Returns the item of the key. Rejects with UNAUTHORIZED for a key that does not exist or has another secret. Neither
 * fact ever changes.
 */
export function findKey(
  { keys, keyCache }: GatewayDependencies,
  { credential, scope }: Pick<ReceivedCall, 'credential' | 'scope'>,
): Item | Promise<Item> {
  const requireKey = (item: Item | undefined): Item | Promise<never> =>
    item !== undefined && isKeyOf(item, credential)
      ? noteKey(scope, credential, item)
      : Promise.reject(refuseKey('unknown'));
  const known = keyCache.get(credential.publicId);
  return known === undefined ? keys.readItem(credential.publicId).then(requireKey) : requireKey(known);
}

function isKeyOf(item: Item, { publicId, secretSha256 }: ReceivedCall['credential']): boolean {
  const secret = secretOf(item, publicId);
  return secret !== undefined && equalInConstantTime(secret.secretSha256, secretSha256);
}

function noteKey(scope: ReceivedCall['scope'], { publicId }: ReceivedCall['credential'], item: Item): Item {
  scope.keyFound?.();
  scope.details.caller = { workspace: String(item.workspace), keyId: publicId, keyName: String(item.name) };
  return item;
}

/**
 * Counts a call that cannot be served for its key. A revoked or rate-limited key takes precedence over the call's
 * fault.
 */
async function refuseFault(
  deps: GatewayDependencies,
  { credential, read }: ReceivedCall,
  key: Item,
  fault: GatewayError,
): Promise<unknown> {
  const { isFunctionCall } = await read(String(key.workspace));
  const call = { parsed: { credential, isFunctionCall }, key };
  const { resolution } = await reserveKey(deps, call, { advise: noAdvice }).reserve();
  return resolution === undefined ? fault : resolution.error;
}
