// Keys at rest, one item per public id. Nothing here is kept in memory: a revoked key ends with the next request.
import type { Item, Store } from '../../storage/store/index.ts';
import type { KeyRecord } from './key-record.ts';

export type KeyWrite = 'created' | 'changed' | 'unchanged';

/** A status that is left out stays what it is, whoever changes it meanwhile; a new key is active. */
export type WantedKey = Omit<KeyRecord, 'status'> & { readonly status?: KeyRecord['status'] | undefined };

export interface KeyStore {
  /** Strongly consistent. Undefined: there is no such key. */
  read(publicId: string): Promise<KeyRecord | undefined>;
  /** The same as it is stored: what the admission of a request compares with. */
  readItem(publicId: string): Promise<Item | undefined>;
  /**
   * Creates a key, or sets name, status and limits of the one that stands there, leaving its counters alone. Writes
   * nothing where nothing changes. Throws an Error for the operator when the public id belongs to another secret or
   * another workspace: a key never moves.
   */
  write(record: WantedKey): Promise<KeyWrite>;
  /** Every key. For the operator, never on a request's path. */
  list(): AsyncIterable<KeyRecord>;
}

export function createKeyStore(store: Store): KeyStore {
  return {
    async read(publicId) {
      const item = await store.get('keys', publicId);
      return item === undefined ? undefined : recordOf(item);
    },
    readItem: (publicId) => store.get('keys', publicId),
    async write(record) {
      const item = await store.get('keys', record.publicId);
      if (item === undefined) return create(store, record);
      const former = recordOf(item);
      if (!isSameKey(former, record)) throw conflict(record);
      if (isSameState(former, record)) return 'unchanged';
      return change(store, record);
    },
    async *list() {
      for await (const item of store.scan('keys')) yield recordOf(item);
    },
  };
}

/** A key is its secret and its workspace; all else may change. */
export const isSameKey = (left: WantedKey, right: WantedKey): boolean =>
  left.workspace === right.workspace && left.secretSha256 === right.secretSha256;

const isSameState = (stored: KeyRecord, { name, status = stored.status, rpm, spendLimitUsd }: WantedKey): boolean =>
  stored.name === name && stored.status === status && stored.rpm === rpm && stored.spendLimitUsd === spendLimitUsd;

const conflict = (record: WantedKey): Error =>
  new Error(`key ${record.publicId} already exists with another secret or in another workspace`);

async function create(store: Store, record: WantedKey): Promise<KeyWrite> {
  const result = await store.put({ table: 'keys', item: itemOf(record), condition: 'attribute_not_exists(pk)' });
  if (result.kind === 'written') return 'created';
  // Refused by its own first try, or by somebody who applies the same file at the same time.
  if (result.item === undefined || !isSameKey(recordOf(result.item), record)) throw conflict(record);
  return isSameState(recordOf(result.item), record) ? 'created' : change(store, record);
}

async function change(store: Store, record: WantedKey): Promise<KeyWrite> {
  const { status } = record;
  const result = await store.update({
    table: 'keys',
    key: record.publicId,
    expression: `SET #name = :name, #rpm = :rpm, #spend = :spend${status === undefined ? '' : ', #status = :status'}`,
    condition: '#workspace = :workspace AND #secret = :secret',
    names: {
      '#name': 'name',
      ...(status === undefined ? {} : { '#status': 'status' }),
      '#rpm': 'requests_per_minute',
      '#spend': 'spend_limit_usd',
      '#workspace': 'workspace',
      '#secret': 'secret_sha256',
    },
    values: {
      ':name': record.name,
      ...(status === undefined ? {} : { ':status': status }),
      ':rpm': record.rpm,
      ':spend': record.spendLimitUsd,
      ':workspace': record.workspace,
      ':secret': record.secretSha256,
    },
    repeatable: true,
  });
  if (result.kind === 'refused') throw conflict(record);
  return 'changed';
}

const itemOf = (record: WantedKey): Item => ({
  pk: record.publicId,
  workspace: record.workspace,
  name: record.name,
  secret_sha256: record.secretSha256,
  status: record.status ?? 'active',
  requests_per_minute: record.rpm,
  spend_limit_usd: record.spendLimitUsd,
});

const recordOf = (item: Item): KeyRecord => ({
  publicId: item.pk as string,
  workspace: item.workspace as string,
  name: item.name as string,
  secretSha256: item.secret_sha256 as string,
  status: item.status as KeyRecord['status'],
  rpm: item.requests_per_minute as number | null,
  spendLimitUsd: item.spend_limit_usd as string | null,
});
