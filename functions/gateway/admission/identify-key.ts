// Finds the key of a request that calls no model. The request counts against the key's requests per minute and costs
// nothing.
import { type KeyRecord, readCredential, readKeyRecord } from '../../../shared/configuration/keys/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { findKey } from './identify.ts';
import { countKeyRequest, keyErrorOf } from './reserve-key.ts';

export interface CountedKey {
  readonly record: KeyRecord;
  /** The item with its current counters, in addition to the record. */
  readonly item: Item;
}

/** Throws in this order: a restoration of the tables, key, requests per minute, correlation headers. */
export async function identifyKey(
  deps: GatewayDependencies,
  request: GatewayRequest,
  scope: RequestScope,
): Promise<CountedKey> {
  const credential = readCredential(request);
  // The next read counts this request, so a paused gateway has to refuse it before.
  await deps.catalogue.current();
  const known = await findKey(deps, { credential, scope });
  const admission = await countKeyRequest(deps, { ...credential, known });
  const error = keyErrorOf(admission, credential, false);
  if (admission.kind === 'unknown') throw error;
  const { item } = admission;
  const record = readKeyRecord(item, credential.publicId);
  if (record === undefined) throw error;
  if (error !== undefined) throw error;
  if (scope.correlationFault !== undefined) throw scope.correlationFault;
  return { record, item };
}
