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
 * Returns the call, and the time of its admission: all rounds together wait at most 2 seconds for the store. A schema
 * that needs a worker may take longer.
 */
export async function identify(
  deps: GatewayDependencies,
  received: ReceivedCall,
  key: Promise<Item>,
): Promise<{ readonly call: IdentifiedCall; readonly admissionTime: TimeBudget }> {
  const admissionTime = startAdmissionTime(deps.clock);
  const call = await findCaller(deps, received, key, admissionTime);
  const fault = (await checkRequestSchema(call.request, schemaOptionsOf(call))) ?? call.aliasFault;
  if (fault !== undefined) throw await admissionTime.wait(refuseFault(deps, received, call.key, fault));
  return { call, admissionTime };
}

/** Below /openai/v1 a streamed answer is checked against its schema at the end. */
const schemaOptionsOf = ({ scope, schemaWork: work }: IdentifiedCall) => ({
  allowsStream: scope.baseUrlRules.streamsSchemas,
  work,
});

async function findCaller(
  deps: GatewayDependencies,
  received: ReceivedCall,
  key: Promise<Item>,
  admissionTime: TimeBudget,
): Promise<IdentifiedCall> {
  const { credential, isOversized } = received;
  // The fault is also reported for a key that does not exist; a key that exists gets a record of it.
  key.catch(() => {});
  if (isOversized) throw fail('request_too_large');
  // The workspace is read beside the other items, not after them: where the key is remembered, all reads are one round.
  const reading = admissionTime.wait(key.then((item) => readWorkspace(deps, String(item.workspace))));
  // A call that is refused earlier never awaits this read.
  reading.catch(() => {});
  const [seenKey, catalogue] = await admissionTime.wait(
    Promise.all([key, deps.catalogue.current(), deps.cooldowns.refresh()]),
  );
  deps.credentialCheck.look(catalogue);
  // The time that the body takes is the client's, not the store's.
  const read = await received.read(String(seenKey.workspace));
  const { asksFunction, call } = read;
  if (call instanceof GatewayError) throw await admissionTime.wait(refuseFault(deps, received, seenKey, call));
  const [workspace, connections] = await reading;
  const schemaWork = startSchemaWork(credential.publicId);
  return { ...call, credential, asksFunction, key: seenKey, schemaWork, workspace, catalogue, connections };
}

const readWorkspace = ({ workspaces, connections }: GatewayDependencies, id: string) =>
  Promise.all([workspaces.read(id), connections.connectionsOf(id)]);

/**
 * Returns the item of the key. Throws UNAUTHORIZED for a key that does not exist or has another secret: neither ever
 * changes.
 */
export async function findKey(
  { keys, keyCache }: GatewayDependencies,
  { credential, scope }: Pick<ReceivedCall, 'credential' | 'scope'>,
): Promise<Item> {
  const { publicId, secretSha256 } = credential;
  const item = keyCache.get(publicId) ?? (await keys.readItem(publicId));
  const secret = item && secretOf(item, publicId);
  if (item === undefined || secret === undefined || !equalInConstantTime(secret.secretSha256, secretSha256))
    throw refuseKey('unknown');
  scope.keyFound?.();
  scope.details.caller = { workspace: String(item.workspace), keyId: publicId, keyName: String(item.name) };
  return item;
}

/**
 * A call that cannot be served still counts for its key, and a revoked or rate-limited key takes precedence over its
 * fault.
 */
async function refuseFault(
  deps: GatewayDependencies,
  { credential, read }: ReceivedCall,
  key: Item,
  fault: GatewayError,
): Promise<unknown> {
  const { asksFunction } = await read(String(key.workspace));
  const { resolution } = await reserveKey(deps, { credential, key, asksFunction, advise: noAdvice }).reserve();
  return resolution === undefined ? fault : resolution.error;
}
