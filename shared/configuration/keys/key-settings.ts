// Converts a key's settings between its record, its item and the fields of a gateway file.
import { instantOf } from '../../foundation/time/index.ts';
import type { Tags } from '../../protocol/wire/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { keySettings, type Setting } from '../settings/index.ts';
import type { WrittenKey } from './key-schema.ts';

type Rows = typeof keySettings;

/** Types of values that a record has in another form than a gateway file, by their kind. */
interface RecordValues {
  /** Instant in epoch milliseconds. */
  readonly instant: number | null;
  readonly models: readonly string[] | null;
  readonly tags: Tags | null;
  readonly ids: readonly string[] | null;
}
/** Values of a gateway file that stand for null. */
const writtenNulls: Readonly<Record<string, unknown>> = { models: 'all', tags: {}, ids: [] };

type NameOf<Member extends keyof Rows> = Rows[Member] extends { readonly name: infer Name extends string }
  ? Name
  : Member;
type ValueOf<Member extends keyof Rows> = Rows[Member]['kind'] extends keyof RecordValues
  ? RecordValues[Rows[Member]['kind']]
  : WrittenKey[Member];
type RowSettings = { readonly [Member in keyof Rows as NameOf<Member>]: ValueOf<Member> };

export interface KeySettings extends Pick<WrittenKey, 'name' | 'status'>, RowSettings {
  /** Person who made the key for themselves. Null: an operator made it. */
  readonly owner: string | null;
}

type SettingName = keyof KeySettings;

interface StoredSetting {
  readonly name: SettingName;
  readonly attribute: string;
  /** Name in a gateway file; undefined for a setting that no file has. */
  readonly member: keyof WrittenKey | undefined;
  readonly kind?: string;
}

const settings: readonly StoredSetting[] = [
  { name: 'name', attribute: 'name', member: 'name' },
  { name: 'status', attribute: 'status', member: 'status' },
  ...Object.entries<Setting>(keySettings).map(([member, { kind, name = member, attribute = member }]) => ({
    name: name as SettingName,
    attribute,
    member: member as keyof Rows,
    kind,
  })),
  { name: 'owner', attribute: 'owner', member: undefined },
];
export const settingNames = settings.map(({ name }) => name);
const attributes = Object.fromEntries(settings.map(({ name, attribute }) => [name, attribute]));
export const attributeOf = (name: SettingName): string => attributes[name] ?? name;

/** Status of a new key. */
const status = 'active';

/**
 * Returns the attributes of an item. Null is omitted, so that the item of a key with every limit is below a kilobyte.
 */
export const settingAttributes = (wanted: { readonly [Name in SettingName]?: unknown }): Item => ({
  status,
  ...Object.fromEntries(
    settings.flatMap(({ name, attribute }) => (wanted[name] == null ? [] : [[attribute, wanted[name]]])),
  ),
});

/** Reads one setting, for a call that needs no other. */
export const readKeySetting = <Name extends SettingName>(item: Item, name: Name): KeySettings[Name] =>
  (item[attributeOf(name)] ?? null) as KeySettings[Name];

export const readKeySettings = (item: Item): KeySettings =>
  Object.fromEntries(settingNames.map((name) => [name, readKeySetting(item, name)])) as unknown as KeySettings;

type Some<Members> = { readonly [Name in keyof Members]?: Members[Name] | undefined };

/** Converts settings to a file's; undefined values are omitted. */
export function writtenKey(key: KeySettings): WrittenKey;
export function writtenKey(key: Some<KeySettings>): Some<WrittenKey>;
export function writtenKey(key: Some<KeySettings>): Some<WrittenKey> {
  return Object.fromEntries(
    settings.flatMap(({ name, member, kind = '' }) => {
      const value = key[name];
      if (member === undefined || value === undefined) return [];
      return [[member, kind === 'instant' ? instantOf(value as number | null) : (value ?? writtenNulls[kind] ?? null)]];
    }),
  );
}

/** Settings of a new key if none are written. */
export const initialKey = writtenKey(readKeySettings({ status }));

export const fromWrittenKey = (written: Some<WrittenKey>) =>
  Object.fromEntries(
    settings.flatMap(({ name, member, kind = '' }) => {
      const value: unknown = member && written[member];
      if (value === undefined) return [];
      if (kind === 'instant') return [[name, typeof value === 'string' ? Date.parse(value) : value]];
      return [[name, JSON.stringify(value) === JSON.stringify(writtenNulls[kind]) ? null : value]];
    }),
  ) as Some<Omit<KeySettings, 'owner'>>;
