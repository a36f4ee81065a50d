// Ends keys again after tables were restored to an earlier moment: keys that were revoked or rotated since then stay
// ended, according to the former tables. A lost text does not work again. Keys that exist only in the former tables are
// lost.
import { collect, mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import type { KeyRecord, OperatorRecord } from '../keys/index.ts';
import type { OperatorStores } from './operator-stores.ts';

type KeyStores = Pick<OperatorStores, 'keys' | 'operators'>;

interface EndedKey {
  readonly table: 'keys' | 'operators';
  readonly publicId: string;
  readonly name: string;
  /** Workspace of the key, if it is an API key. */
  readonly workspace?: string;
  /** Expiry; null if the key is revoked. */
  readonly expiresAtMs: number | null;
}

/** Writes the missing ends, and returns them. It may be repeated. */
export async function reconcileKeys(present: KeyStores, former: KeyStores): Promise<EndedKey[]> {
  const [keys, operators] = await Promise.all([collect(former.keys.list()), collect(former.operators.list())]);
  const endedKeys = await mapParallel(keys, parallelReads, (key) => endKey(present, key));
  const endedOperators = await mapParallel(operators, parallelReads, (operator) => endOperator(present, operator));
  return [...endedKeys, ...endedOperators].flatMap((ended) => ended ?? []);
}

async function endKey({ keys }: KeyStores, former: KeyRecord): Promise<EndedKey | undefined> {
  const { publicId, name, workspace } = former;
  const storedKey = await keys.read(publicId);
  if (storedKey === undefined) return undefined;
  const isRevoked = former.status === 'revoked' && storedKey.status !== 'revoked';
  const isEnded = endOf(former) < endOf(storedKey);
  if (!isRevoked && !isEnded) return undefined;
  const expiresAtMs = isEnded ? former.expiresAtMs : storedKey.expiresAtMs;
  await keys.update(storedKey, { expiresAtMs, ...(isRevoked ? { status: 'revoked' } : {}) });
  return { table: 'keys', publicId, name, workspace, expiresAtMs: isRevoked ? null : expiresAtMs };
}

const endOf = ({ expiresAtMs }: KeyRecord): number => expiresAtMs ?? Number.POSITIVE_INFINITY;

async function endOperator({ operators }: KeyStores, former: OperatorRecord): Promise<EndedKey | undefined> {
  const { publicId, name, status } = former;
  const storedOperator = await operators.read(publicId);
  if (storedOperator === undefined || status !== 'revoked' || storedOperator.status === 'revoked') return undefined;
  await operators.write({ ...storedOperator, status });
  return { table: 'operators', publicId, name, expiresAtMs: null };
}
