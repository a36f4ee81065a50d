// Makes names of keys unique. A name means the key of a workspace that can be used and was not replaced in a rotation.
// Revoked and expired keys keep their names, for the records of their calls.
import { absent, equals, type Item, or, type Store } from '../../storage/store/index.ts';
import { isKeyExpired, type KeyRecord, readKeyItem, recordsOf, type WantedKey } from './key-record.ts';

const holdsName = (record: Pick<KeyRecord, 'status' | 'replacedBy' | 'expiresAtMs'>, nowMs: number): boolean =>
  record.status === 'active' && record.replacedBy === null && !isKeyExpired(record, nowMs);

/** Returns the key with this name, or several if they were made before names were unique. */
export const holdersOf = (
  records: readonly KeyRecord[],
  { workspace, name }: Pick<KeyRecord, 'workspace' | 'name'>,
  nowMs: number,
): KeyRecord[] =>
  records.filter((record) => record.workspace === workspace && record.name === name && holdsName(record, nowMs));

/** True if a write gives the key a name that it does not have yet. */
export function takesName(former: KeyRecord | undefined, wanted: WantedKey, nowMs: number): boolean {
  const { status = former?.status ?? 'active', expiresAtMs = former?.expiresAtMs ?? null } = wanted;
  const hasName = former?.name === wanted.name && holdsName(former, nowMs);
  return !hasName && holdsName({ status, expiresAtMs, replacedBy: former?.replacedBy ?? null }, nowMs);
}

/** Prefix of name items, which are in the table of their keys. No public id contains this character. */
const namePrefix = 'name#';
export const isNameItem = ({ pk }: Item): boolean => String(pk).startsWith(namePrefix);

/** Time within which a writer has to make the key after claiming its name. */
const claimMs = 10_000;
/** Maximum number of attempts of one claim. Each attempt takes the name from a key that no longer uses it. */
const attemptsMax = 3;

export type NamedKey = Pick<KeyRecord, 'workspace' | 'name' | 'publicId'>;

interface NameClaim {
  readonly table: 'keys' | 'operators';
  /** The name, within the group in which names are unique. */
  readonly name: string;
  readonly publicId: string;
  /** Reads the key that claimed the name; undefined if no key has this name. */
  readonly readHolder: (
    publicId: string,
  ) => Promise<{ readonly publicId: string; readonly holdsName: boolean } | undefined>;
}

/**
 * Claims a name with one conditional write, before a key gets it. Of concurrent writers one succeeds. Returns the
 * public id of the key that has the name, which may be about to be made.
 */
export async function claimName(
  store: Store,
  { table, name, publicId, readHolder }: NameClaim,
  nowMs: number,
): Promise<string> {
  const item = { pk: `${namePrefix}${name}`, public_id: publicId, claimed_at_ms: nowMs };
  let former = publicId;
  for (let attempt = 1; ; attempt += 1) {
    const result = await store.put({
      table,
      item,
      condition: or(absent('pk'), equals('public_id', publicId), equals('public_id', former)),
      repeatable: true,
    });
    if (result.kind === 'written') return publicId;
    const claimant = String(result.item?.public_id);
    const holder = await readHolder(claimant);
    const isYoung = Number(result.item?.claimed_at_ms) > nowMs - claimMs;
    if (attempt === attemptsMax || (holder?.holdsName ?? isYoung)) return holder?.publicId ?? claimant;
    former = claimant;
  }
}

export const claimKeyName = (store: Store, { workspace, name, publicId }: NamedKey, nowMs: number): Promise<string> =>
  claimName(
    store,
    {
      table: 'keys',
      name: `${workspace}#${name}`,
      publicId,
      async readHolder(claimant) {
        const held = await readKeyItem(store, claimant);
        // A rotation leaves the name to the key, whichever text had claimed it.
        const [record] = held === undefined ? [] : recordsOf(held);
        return record?.name === name ? { publicId: record.publicId, holdsName: holdsName(record, nowMs) } : undefined;
      },
    },
    nowMs,
  );
