// Defines operator keys, which have the format of API keys, but another purpose. They have a table of their own, which
// the functions that serve clients cannot reach, so that neither kind of key opens the interfaces of the other:
//
//   pk             the 16 characters after `sk-gw-`
//   name, status   active | revoked
//   secret_sha256  the secret itself is stored nowhere
//   created_at_ms
//   role, workspaces   absent: an owner of all
//
// In addition there is an item for each name (key-names.ts): `name#NAME`.
import { fail } from '../../errors/index.ts';
import { operatorKeyRefusal } from '../../foundation/constants/index.ts';
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { HeaderValues } from '../../protocol/http/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import type { Grant, OperatorRole } from '../access/index.ts';
import { readCredential } from './authenticate.ts';
import { claimName, isNameItem } from './key-names.ts';
import type { KeyStore } from './key-store.ts';

export interface OperatorRecord extends Grant {
  readonly role: OperatorRole;
  readonly publicId: string;
  readonly name: string;
  readonly status: 'active' | 'revoked';
  readonly secretSha256: string;
  readonly createdAtMs: number;
}

/** The store of operators. No operator is cached, because a revoked operator ends with the next request. */
export interface OperatorStore {
  /** Reads an operator with strong consistency; undefined when there is none. */
  read(publicId: string): Promise<OperatorRecord | undefined>;
  /** Replaces the record that is stored under the public id. */
  write(record: OperatorRecord): Promise<void>;
  /**
   * Claims a name before an operator is made. Returns its public id, or the public id of another active operator with
   * the name.
   */
  claimName(operator: Pick<OperatorRecord, 'name' | 'publicId'>, nowMs: number): Promise<string>;
  /** Yields every operator, including revoked operators. There are only as many as were made by hand. */
  list(): AsyncIterable<OperatorRecord>;
}

export function createOperatorStore(store: Store): OperatorStore {
  const read = async (publicId: string) => {
    const item = await store.get('operators', publicId);
    return item === undefined || isNameItem(item) ? undefined : recordOf(item);
  };
  return {
    read,
    async write(record) {
      await store.put({ table: 'operators', item: itemOf(record), repeatable: true });
    },
    claimName: ({ name, publicId }, nowMs) =>
      claimName(
        store,
        {
          table: 'operators',
          name,
          publicId,
          async readHolder(claimant) {
            const record = await read(claimant);
            return record?.name === name ? { publicId: claimant, holdsName: record.status === 'active' } : undefined;
          },
        },
        nowMs,
      ),
    async *list() {
      for await (const item of store.scan('operators')) if (!isNameItem(item)) yield recordOf(item);
    },
  };
}

const itemOf = ({ publicId, name, status, secretSha256, createdAtMs, role, workspaces }: OperatorRecord): Item => ({
  pk: publicId,
  name,
  status,
  secret_sha256: secretSha256,
  created_at_ms: createdAtMs,
  role,
  workspaces,
});

const recordOf = (item: Item): OperatorRecord => ({
  publicId: item.pk as string,
  name: item.name as string,
  status: item.status as OperatorRecord['status'],
  secretSha256: item.secret_sha256 as string,
  createdAtMs: Number(item.created_at_ms),
  role: (item.role as OperatorRole | undefined) ?? 'owner',
  workspaces: (item.workspaces as Grant['workspaces'] | undefined) ?? 'all',
});

const refuseOperator = () => fail('UNAUTHORIZED', { message: operatorKeyRefusal });

const apiKeyRefusal =
  'This is an API key, which calls models: the console and /v1/manage need an operator key (gw operators create), or the token of a person who has signed in.';

/**
 * Returns the operator. Throws UNAUTHORIZED for a header without a key, and for a key that is not an operator's or was
 * revoked. The refusal of an API key says that the key is an API key.
 */
export async function authenticateOperator(
  operators: Pick<OperatorStore, 'read'>,
  keys: Pick<KeyStore, 'read'>,
  headers: HeaderValues,
): Promise<OperatorRecord> {
  const { publicId, secretSha256 } = readCredential({ headers, query: '' }, { refuse: refuseOperator });
  const record = await operators.read(publicId);
  if (record?.status === 'active' && equalInConstantTime(record.secretSha256, secretSha256)) return record;
  const apiKey = record === undefined ? await keys.read(publicId) : undefined;
  const isApiKey = apiKey !== undefined && equalInConstantTime(apiKey.secretSha256, secretSha256);
  throw isApiKey ? fail('UNAUTHORIZED', { message: apiKeyRefusal }) : refuseOperator();
}
