// Whose request it is, for what a key may see of itself. It counts against the key's requests per minute and costs nothing.
import { type KeyRecord, readCredential, readKeyRecord } from '../../../shared/configuration/keys/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';

export interface OwnKey {
  readonly record: KeyRecord;
  /** With the counters beside the record, as they stand now. */
  readonly item: Item;
}

const msPerSecond = 1_000;

/** Throws in the order of contract 5: key, requests per minute, correlation headers. */
export async function identifyKey(
  { counters, keyCache }: ChatDependencies,
  { headers }: GatewayRequest,
  { correlationFault, logContext }: RequestScope,
): Promise<OwnKey> {
  const { publicId, secretSha256 } = readCredential(headers);
  const admission = await counters.admitKey({ publicId, secretSha256, known: keyCache.get(publicId) });
  if (admission.kind === 'unknown') {
    keyCache.delete(publicId);
    throw fail('UNAUTHORIZED');
  }
  const { item } = admission;
  keyCache.set(publicId, item);
  const record = readKeyRecord(item);
  const { workspace, name } = record;
  logContext.fields = { ...logContext.fields, workspace_id: workspace, key_id: publicId, key_name: name };
  if (admission.kind === 'revoked') throw fail('UNAUTHORIZED');
  if (admission.kind === 'rate_limited') {
    throw fail('api_key_rate_limit', { retryAfterSeconds: Math.ceil(admission.retryAfterMs / msPerSecond) });
  }
  if (admission.kind === 'spend_limit') throw new Error('a request that holds no money met a spend limit');
  if (correlationFault !== undefined) throw correlationFault;
  return { record, item };
}
