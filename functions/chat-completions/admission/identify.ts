// Finds the key, its workspace and the catalogue. A warm instance has them in memory; nothing remembered lets a call
// pass: the reservation of the key compares it with the store.
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { equalInConstantTime } from '../../../shared/foundation/ids/index.ts';
import { checkRequestSchema } from '../../../shared/protocol/json-schema/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { Call, IdentifiedCall, ReceivedCall } from '../stages.ts';
import { refuseFault } from './refuse-fault.ts';

export async function identify(deps: ChatDependencies, received: ReceivedCall): Promise<IdentifiedCall> {
  const { credential } = received;
  const key = findKey(deps, received);
  // Beside the other reads, not after them: where the key is remembered, all of them are one round.
  const reading = key.then((item) => readWorkspace(deps, String(item.workspace)));
  // A call that is refused first never asks for it.
  reading.catch(() => {});
  const [keyItem, catalogue] = await Promise.all([key, deps.catalogue.current(), deps.cooldowns.refresh()]);
  const { asksFunction, call: read } = received.read();
  const call = await findFault(read);
  if (call instanceof GatewayError) throw await refuseFault(deps, received, keyItem, call);
  const [workspace, connections] = await reading;
  return { ...call, credential, asksFunction, keyItem, workspace, catalogue, connections };
}

const readWorkspace = ({ workspaces, connections }: ChatDependencies, id: string) =>
  Promise.all([workspaces.read(id), connections.connectionsOf(id)]);

/** The call, or the first thing that is wrong with it. */
async function findFault(call: Call | GatewayError): Promise<Call | GatewayError> {
  if (call instanceof GatewayError) return call;
  const allowsStream = call.scope.basePath === '/openai/v1';
  return (await checkRequestSchema(call.request, { allowsStream })) ?? call.aliasFault ?? call;
}

/** Throws UNAUTHORIZED for a key that does not exist or has another secret: neither ever changes. */
async function findKey({ keys, keyCache }: ChatDependencies, { credential }: ReceivedCall): Promise<Item> {
  const { publicId, secretSha256 } = credential;
  const item = keyCache.get(publicId) ?? (await keys.readItem(publicId));
  if (item === undefined || !equalInConstantTime(String(item.secret_sha256), secretSha256)) throw fail('UNAUTHORIZED');
  return item;
}
