// Keys at rest. Nothing here is kept in memory: a revoked key ends with the next request.
import { keyAttributes } from '../../accounting/holds/index.ts';
import { canonicalJson } from '../../foundation/ids/index.ts';
import { absent, and, equals, type Item, or, type Store } from '../../storage/store/index.ts';
import { claimName, isNameItem, type NamedKey } from './key-names.ts';
import { itemOf, type KeyRecord, recordOf, type WantedKey } from './key-record.ts';
import { attributeOf, type KeySettings, settingNames } from './key-settings.ts';
import { claimSlot, isSlotsItem, type WantedSlot } from './member-slots.ts';

export type KeyWrite = 'created' | 'changed' | 'unchanged';

export interface KeyStore {
  /** Strongly consistent. Undefined: there is no such key. */
  read(publicId: string): Promise<KeyRecord | undefined>;
  /** The same as it is stored: what the admission of a request compares with. */
  readItem(publicId: string): Promise<Item | undefined>;
  /**
   * Creates a key, or makes the settings of a stored one what is wanted, leaving its counters alone. Writes nothing
   * where nothing changes. `counters` are what a new key starts with, none by default. Throws an Error for the operator
   * when the public id belongs to another secret or another workspace: a key never moves.
   */
  write(wanted: WantedKey, counters?: Item): Promise<KeyWrite>;
  /**
   * Writes these settings of a stored key and no other, so that changes of several writers at the same moment all hold: of
   * one setting the later. `stored`: as it was read.
   */
  update(stored: KeyRecord, changes: KeySettingChanges): Promise<KeyWrite>;
  /**
   * Gives an active key its successor and its end. False: it is not active any more, or has another successor, and is
   * left as it is.
   */
  replace(publicId: string, by: string, expiresAtMs: number): Promise<boolean>;
  /**
   * Asked before a write by which a key gets its name. Returns the public id of the key that has the name then: another one
   * where that is taken. `from`: the key whose successor this one is.
   */
  claimName(key: NamedKey, nowMs: number, from?: string): Promise<string>;
  /** Asked before a key is made for a person. False: they have as many as there may be. */
  claimMemberSlot(wanted: WantedSlot, nowMs: number): Promise<boolean>;
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
    async write(wanted, counters = {}) {
      const item = await store.get('keys', wanted.publicId);
      if (item !== undefined) return change(store, recordOf(item), wanted);
      const put = {
        table: 'keys',
        item: { ...counters, ...itemOf(wanted) },
        condition: absent('pk'),
      } as const;
      const result = await store.put(put);
      if (result.kind === 'written') return 'created';
      // Refused by its own first try, or by another writer of the same file.
      if (result.item === undefined) throw conflict(wanted);
      const written = await change(store, recordOf(result.item), wanted);
      return written === 'unchanged' ? 'created' : written;
    },
    update: (stored, changes) => writeChanges(store, stored, changes),
    async replace(publicId, by, expiresAtMs) {
      const result = await store.update({
        table: 'keys',
        key: publicId,
        changes: {
          set: { [attributeOf('replacedBy')]: by, [attributeOf('expiresAtMs')]: expiresAtMs },
          add: countChange,
        },
        // Of two rotations at one moment the second finds the successor of the first.
        condition: and(
          equals(attributeOf('status'), 'active'),
          or(absent(attributeOf('replacedBy')), equals(attributeOf('replacedBy'), null)),
        ),
        repeatable: true,
      });
      return result.kind === 'written' || result.item?.[attributeOf('replacedBy')] === by;
    },
    claimName: (key, nowMs, from) => claimName(store, key, nowMs, from),
    claimMemberSlot: (wanted, nowMs) => claimSlot(store, wanted, nowMs),
    async *list() {
      for await (const item of store.scan('keys')) if (!isNameItem(item) && !isSlotsItem(item)) yield recordOf(item);
    },
  };
}

/** A key is its secret and its workspace; all else may change. */
export const isSameKey = (left: WantedKey, right: WantedKey): boolean =>
  left.workspace === right.workspace && left.secretSha256 === right.secretSha256;

/** Settings as they are to be; undefined: as they are stored. */
export type KeySettingChanges = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | undefined };

/** What differs from the stored record, by setting. */
export const changedSettings = (stored: KeyRecord, wanted: KeySettingChanges) =>
  settingNames.filter((name) => {
    const value = wanted[name];
    return value !== undefined && canonicalJson(value) !== canonicalJson(stored[name]);
  });

/** Calls see by it that what they know of the key stands. One that is repeated counts twice, which does no harm. */
const countChange = { [keyAttributes.settingsVersion]: 1 };

const conflict = ({ publicId }: Pick<WantedKey, 'publicId'>): Error =>
  new Error(`key ${publicId} already exists with another secret or in another workspace`);

async function change(store: Store, stored: KeyRecord, wanted: WantedKey): Promise<KeyWrite> {
  if (!isSameKey(stored, wanted)) throw conflict(wanted);
  return writeChanges(store, stored, wanted);
}

async function writeChanges(store: Store, stored: KeyRecord, wanted: KeySettingChanges): Promise<KeyWrite> {
  const changed = changedSettings(stored, wanted);
  if (changed.length === 0) return 'unchanged';
  const result = await store.update({
    table: 'keys',
    key: stored.publicId,
    changes: { set: Object.fromEntries(changed.map((name) => [attributeOf(name), wanted[name]])), add: countChange },
    condition: and(equals('workspace', stored.workspace), equals('secret_sha256', stored.secretSha256)),
    repeatable: true,
  });
  if (result.kind === 'refused') throw conflict(stored);
  return 'changed';
}
