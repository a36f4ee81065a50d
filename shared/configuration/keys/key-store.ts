// Stores keys. No key is cached, because a revoked key ends with the next request.
import {
  currentSecret,
  formerSecrets,
  type KeySecret,
  keyAttributes,
  secretOf,
  storedSecrets,
} from '../../accounting/holds/index.ts';
import { canonicalJson } from '../../foundation/ids/index.ts';
import {
  absent,
  and,
  equals,
  type Item,
  type Store,
  unchanged,
  WriteRefused,
  writeOptimistically,
} from '../../storage/store/index.ts';
import { claimKeyName, isNameItem, type NamedKey } from './key-names.ts';
import {
  isKeyExpired,
  isPointer,
  itemOf,
  type KeyRecord,
  pointerTo,
  readKeyItem,
  recordOf,
  recordsOf,
  type WantedKey,
} from './key-record.ts';
import { attributeOf, type KeySettings, settingNames } from './key-settings.ts';

export type KeyWrite = 'created' | 'changed' | 'unchanged';

export interface KeyStore {
  /** Reads a key with strong consistency; undefined when there is none. */
  read(publicId: string): Promise<KeyRecord | undefined>;
  /** Reads the item as it is stored, with which the admission of a request compares. */
  readItem(publicId: string): Promise<Item | undefined>;
  /**
   * Creates a key, or changes the settings of a stored one, leaving its counters unchanged. Writes nothing if
   * nothing changes. Throws WriteRefused when the public id belongs to another secret or another
   * workspace: a key never moves.
   */
  write(wanted: WantedKey): Promise<KeyWrite>;
  /**
   * Writes only these settings of a stored key, so that concurrent changes of different settings all apply; of two
   * changes of one setting the later change applies. `stored` is the key as it was read. Status and expiry belong to
   * its text, and a replaced text keeps an expiry; every other setting belongs to the key with all its texts.
   */
  update(stored: KeyRecord, changes: KeySettingChanges): Promise<KeyWrite>;
  /**
   * Gives a key its next text and the former text its expiry, in one write. Returns false if `stored` is not active any
   * more or was rotated, and nothing is changed.
   */
  rotate(stored: KeyRecord, next: NextText, formerEndsAtMs: number): Promise<boolean>;
  /**
   * Claims a name; called before a write by which a key gets it. Returns the public id of the key that has the name
   * afterwards, which is another key if the name is taken.
   */
  claimName(key: NamedKey, nowMs: number): Promise<string>;
  /** Claims a slot; called before a key is made for a person. Returns false if the person has the maximum number. */
  claimMemberSlot(wanted: WantedSlot, nowMs: number): Promise<boolean>;
  /** Yields every text of every key. For the operator, never on a request's path. */
  list(): AsyncIterable<KeyRecord>;
}

type NextText = Omit<KeySecret, 'status'>;

export function createKeyStore(store: Store): KeyStore {
  return {
    async read(publicId) {
      const item = await readKeyItem(store, publicId);
      return item && recordOf(item, publicId);
    },
    readItem: (publicId) => readKeyItem(store, publicId),
    async write(wanted) {
      const item = await readKeyItem(store, wanted.publicId);
      if (item !== undefined) return change(store, item, wanted);
      const put = {
        table: 'keys',
        item: itemOf(wanted),
        condition: absent('pk'),
      } as const;
      const result = await store.put(put);
      if (result.kind === 'written') return 'created';
      // An earlier try of this write, or another writer of the same file, has created the key already.
      if (result.item === undefined) throw conflict(wanted);
      const written = await change(store, result.item, wanted);
      return written === 'unchanged' ? 'created' : written;
    },
    update: (stored, changes) => writeChanges(store, stored, changes),
    rotate: (stored, next, formerEndsAtMs) => rotate(store, stored, next, formerEndsAtMs),
    claimName: (key, nowMs) => claimKeyName(store, key, nowMs),
    claimMemberSlot: (wanted, nowMs) => claimSlot(store, wanted, nowMs),
    async *list() {
      for await (const item of store.scan('keys')) {
        if (!isNameItem(item) && !isSlotsItem(item) && !isPointer(item)) yield* recordsOf(item);
      }
    },
  };
}

/** True if secret and workspace are equal, which identify a key; everything else may change. */
export const isSameKey = (left: WantedKey, right: WantedKey): boolean =>
  left.workspace === right.workspace && left.secretSha256 === right.secretSha256;

/** Settings to write; undefined settings keep their stored values. */
type KeySettingChanges = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | undefined };

/** Returns the differences from the stored record, by setting. */
export const changedSettings = (stored: KeyRecord, wanted: KeySettingChanges) =>
  settingNames.filter((name) => {
    const value = wanted[name];
    return value !== undefined && canonicalJson(value) !== canonicalJson(stored[name]);
  });

/**
 * Addition that tells calls whether their copy of the key is current. A repeated change counts twice, which does no
 * harm.
 */
const countChange = { [keyAttributes.settingsVersion]: 1 };

const conflict = ({ publicId }: Pick<WantedKey, 'publicId'>): WriteRefused =>
  new WriteRefused(`key ${publicId} already exists with another secret or in another workspace`);

async function change(store: Store, item: Item, wanted: WantedKey): Promise<KeyWrite> {
  const storedKey = recordOf(item, wanted.publicId);
  if (storedKey === undefined || !isSameKey(storedKey, wanted)) throw conflict(wanted);
  return writeChanges(store, storedKey, wanted);
}

async function writeChanges(store: Store, stored: KeyRecord, wanted: KeySettingChanges): Promise<KeyWrite> {
  const changedNames = changedSettings(stored, wanted);
  if (changedNames.length === 0) return 'unchanged';
  return writeOptimistically(`key ${stored.publicId} is`, async () => {
    const item = await readKeyItem(store, stored.publicId);
    const record = item && recordOf(item, stored.publicId);
    if (item === undefined || record === undefined || !isSameKey(record, stored)) throw conflict(stored);
    const isReplaced = record.replacedBy !== null;
    const keyChanges = changedNames.filter((name) => !isReplaced || (name !== 'status' && name !== 'expiresAtMs'));
    const status = changedNames.includes('status') ? wanted.status : undefined;
    const expiresAtMs = changedNames.includes('expiresAtMs') ? wanted.expiresAtMs : undefined;
    const secrets = formerSecrets(item).map((one) =>
      one.publicId === record.publicId
        ? { ...one, status: status ?? one.status, expiresAtMs: expiresAtMs ?? one.expiresAtMs }
        : one,
    );
    const secretAttributes = isReplaced ? { [keyAttributes.formerSecrets]: storedSecrets(secrets) } : {};
    const set = {
      ...Object.fromEntries(keyChanges.map((name) => [attributeOf(name), wanted[name]])),
      ...secretAttributes,
    };
    const condition = isReplaced ? isUnchanged(item) : isCurrent(item);
    const result = await store.update({ ...updateOf(item, set), condition });
    return result.kind === 'written' ? 'changed' : undefined;
  });
}

async function rotate(store: Store, stored: KeyRecord, next: NextText, formerEndsAtMs: number): Promise<boolean> {
  const outcome = await writeOptimistically(`key ${stored.publicId} is`, async () => {
    const item = await readKeyItem(store, stored.publicId);
    const former = item && secretOf(item, stored.publicId);
    if (item === undefined || former === undefined) return 'late';
    const current = currentSecret(item);
    // An earlier try of this write has succeeded already.
    if (current.publicId === next.publicId) return 'rotated';
    if (current.publicId !== stored.publicId || current.status !== 'active') return 'late';
    await store.put({ table: 'keys', item: pointerTo(item, next.publicId), repeatable: true });
    const set = {
      [keyAttributes.publicId]: next.publicId,
      [keyAttributes.secretSha256]: next.secretSha256,
      [keyAttributes.expiresAtMs]: next.expiresAtMs,
      [keyAttributes.formerSecrets]: storedSecrets([
        { ...former, expiresAtMs: formerEndsAtMs },
        ...formerSecrets(item),
      ]),
    };
    const result = await store.update({ ...updateOf(item, set), condition: isUnchanged(item) });
    return result.kind === 'written' ? 'rotated' : undefined;
  });
  return outcome === 'rotated';
}

const updateOf = (item: Item, set: Item) =>
  ({ table: 'keys', key: String(item.pk), changes: { set, add: countChange }, repeatable: true }) as const;

/** Tests that no rotation came in between. */
const isCurrent = ({ secret_sha256: secret }: Item) => equals(keyAttributes.secretSha256, secret);
/** Tests that no change at all came in between. */
const isUnchanged = (item: Item) =>
  and(isCurrent(item), unchanged(keyAttributes.settingsVersion, item[keyAttributes.settingsVersion]));

// Counts the keys of one person in a workspace. Their public ids are in one item next to the keys, which is written
// conditionally before a key is made, so that of concurrent requests no more than the maximum succeed.

const slotsPrefix = 'member#';
const isSlotsItem = ({ pk }: Item): boolean => String(pk).startsWith(slotsPrefix);

/** Time within which a writer has to make the key after the claim. */
const claimMs = 10_000;

interface WantedSlot extends Pick<KeyRecord, 'workspace' | 'publicId'> {
  readonly owner: string;
  /** Maximum number of keys at once, including those that wait for their expiry. */
  readonly max: number;
}

interface Claim {
  readonly public_id: string;
  readonly claimed_at_ms: number;
}

/**
 * Claims a slot. Returns false if the person has the maximum number. Throws WriteRefused when other claims continue
 * to arrive between.
 */
async function claimSlot(store: Store, wanted: WantedSlot, nowMs: number): Promise<boolean> {
  const pk = `${slotsPrefix}${wanted.workspace}#${wanted.owner}`;
  const outcome = await writeOptimistically('the keys of this person are', async () => {
    const former = await store.get('keys', pk);
    const claims = (former?.claims ?? []) as readonly Claim[];
    const live = await filterLive(store, claims, nowMs);
    if (live.length >= wanted.max) return 'full';
    const next = [...live, { public_id: wanted.publicId, claimed_at_ms: nowMs }];
    const version = Number(former?.version ?? 0);
    const result = await store.put({
      table: 'keys',
      item: { pk, claims: next, version: version + 1 },
      condition: former === undefined ? absent('pk') : equals('version', version),
    });
    return result.kind === 'written' ? 'claimed' : undefined;
  });
  return outcome === 'claimed';
}

async function filterLive(store: Store, claims: readonly Claim[], nowMs: number): Promise<Claim[]> {
  const live: Claim[] = [];
  for (const claim of claims) {
    const item = await readKeyItem(store, claim.public_id);
    const record = item && recordOf(item, claim.public_id);
    const isYoung = claim.claimed_at_ms > nowMs - claimMs;
    if (record === undefined ? isYoung : isLive(record, nowMs)) live.push(claim);
  }
  return live;
}

const isLive = (record: KeyRecord, nowMs: number): boolean =>
  record.status === 'active' && !isKeyExpired(record, nowMs);
