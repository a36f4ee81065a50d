// Whose request it is, for what a key may see of itself. It counts against the key's requests per minute and costs nothing.
import { type KeyRecord, readCredential, readKeyRecord } from '../../../shared/configuration/keys/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import { countKeyRequest, keyErrorOf } from '../admission/admit-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';

export interface OwnKey {
  readonly record: KeyRecord;
  /** With the counters beside the record, as they stand now. */
  readonly item: Item;
}

/** Throws in this order: a restoration of the tables, key, requests per minute, correlation headers. */
export async function identifyKey(
  deps: GatewayDependencies,
  { headers }: GatewayRequest,
  { correlationFault, logContext }: RequestScope,
): Promise<OwnKey> {
  const { publicId, secretSha256 } = readCredential(headers);
  // It counts this request, so it must not be told while the tables are being restored.
  await deps.catalogue.current();
  const admission = await countKeyRequest(deps, { publicId, secretSha256, known: deps.keyCache.get(publicId) });
  const error = keyErrorOf(admission, false);
  if (admission.kind === 'unknown') throw error;
  const { item } = admission;
  const record = readKeyRecord(item);
  const { workspace, name } = record;
  logContext.fields = { ...logContext.fields, workspace_id: workspace, key_id: publicId, key_name: name };
  if (error !== undefined) throw error;
  if (correlationFault !== undefined) throw correlationFault;
  return { record, item };
}
