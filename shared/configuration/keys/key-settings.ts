// Settings of a key: the attributes of the item and the settings of a record follow from this table, and key-schema.ts
// defines the valid values of each.
import { keyAttributes, type SpendLimitReset } from '../../accounting/holds/index.ts';
import { instantOf } from '../../foundation/time/index.ts';
import type { Tags } from '../../protocol/wire/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { KeyContentLog } from './content-log.ts';

interface Setting<Value, Written, Member extends string | undefined> {
  readonly attribute: string;
  /** Value in a new key that does not set it. An absent attribute means null too. */
  readonly initial: Value;
  /** Name in a gateway file; undefined for a setting that is in none. */
  readonly member: Member;
  readonly toWritten: (value: Value) => Written;
  readonly fromWritten: (written: Written) => Value;
}

const asItIs = <Value>(value: Value): Value => value;
/** The same value in a gateway file and in the item. */
const plain = <Value, Member extends string | undefined>(
  attribute: string,
  member: Member,
  initial: Value,
): Setting<Value, Value, Member> => ({ attribute, member, initial, toWritten: asItIs, fromWritten: asItIs });
const converted = <Value, Written, Member extends string>(
  setting: Setting<Value, Written, Member>,
): Setting<Value, Written, Member> => setting;

const settings = {
  /** Always given. */
  name: plain('name', 'name', '' as string),
  status: plain(keyAttributes.status, 'status', 'active' as 'active' | 'revoked'),
  /** Requests per minute; null: no limit. */
  rpm: plain(keyAttributes.requestsPerMinute, 'rpm', null as number | null),
  /** Tokens per minute; null: no limit. */
  tpm: plain('tokens_per_minute', 'tpm', null as number | null),
  /** Calls in flight; null: the default of the service. */
  concurrency: plain(keyAttributes.concurrency, 'concurrency', null as number | null),
  spendLimitUsd: plain(keyAttributes.spendLimitUsd, 'spend_limit_usd', null as string | null),
  /** When the spending that counts against the limit starts again (UTC). Null: never. */
  spendLimitReset: plain(keyAttributes.spendLimitReset, 'spend_limit_reset', null as SpendLimitReset | null),
  /** From here on the key is expired. Null: never. */
  expiresAtMs: converted({
    attribute: keyAttributes.expiresAtMs,
    member: 'expires_at',
    initial: null as number | null,
    toWritten: instantOf,
    fromWritten: (instant: string | null) => (instant === null ? null : Date.parse(instant)),
  }),
  /** Ids of the models that the key may call; any other is unknown to it. Null: those of its workspace. */
  models: converted({
    attribute: 'models',
    member: 'models',
    initial: null as readonly string[] | null,
    toWritten: (ids): readonly string[] | 'all' => ids ?? 'all',
    fromWritten: (ids) => (ids === 'all' ? null : ids),
  }),
  /** On each of its calls, whatever a request says under the same names. Null: none. */
  tags: converted({
    attribute: 'tags',
    member: 'tags',
    initial: null as Tags | null,
    toWritten: (tags): Tags => tags ?? {},
    fromWritten: (tags) => (Object.keys(tags).length === 0 ? null : tags),
  }),
  /** Narrows which bodies of its calls are kept. Null: as its workspace. */
  contentLog: plain('content_log', 'content_log', null as KeyContentLog | null),
  /** Ids of guardrails that check its calls beside those of its workspace. Null: none. */
  guardrails: converted({
    attribute: 'guardrails',
    member: 'guardrails',
    initial: null as readonly string[] | null,
    toWritten: (ids): readonly string[] => ids ?? [],
    fromWritten: (ids) => (ids.length === 0 ? null : ids),
  }),
  /** Person who made it for themselves. Null: an operator made it. */
  owner: plain('owner', undefined, null as string | null),
};

type Settings = typeof settings;
type SettingName = keyof Settings;
type WrittenName = { [Name in SettingName]: Settings[Name]['member'] extends string ? Name : never }[SettingName];

export type KeySettings = { readonly [Name in SettingName]: Settings[Name]['initial'] };
/** The settings of a key in the words of a gateway file. */
export type WrittenKey = {
  readonly [Name in WrittenName as NonNullable<Settings[Name]['member']>]: ReturnType<Settings[Name]['toWritten']>;
};

/** For the keys of a workspace's members, too. */
export const noLimits = { rpm: null, concurrency: null, spend_limit_usd: null, spend_limit_reset: null } as const;
export type KeyLimits = Pick<WrittenKey, keyof typeof noLimits>;

export const settingNames = Object.keys(settings) as SettingName[];
/** Left out of an item where they are null: the item of a key with every limit is to be below a kilobyte. */
const rarelySet: ReadonlySet<SettingName> = new Set(['contentLog', 'guardrails']);
export const attributeOf = (name: SettingName): string => settings[name].attribute;

/** Each setting has its own type, which a loop over all of them cannot express. */
const settingOf = (name: SettingName) => settings[name] as unknown as Setting<unknown, unknown, string | undefined>;
const writtenMembers = settingNames.flatMap((name) => {
  const { member, ...setting } = settingOf(name);
  return member === undefined ? [] : [{ name, member, ...setting }];
});

/** Attributes of an item, with defaults of a new key for absent settings. */
export const settingAttributes = (wanted: { readonly [Name in SettingName]?: unknown }): Item =>
  Object.fromEntries(
    settingNames
      .filter((name) => !rarelySet.has(name) || wanted[name] != null)
      .map((name) => [attributeOf(name), wanted[name] ?? settings[name].initial]),
  );

/** One of them costs a call less than all. */
export const readKeySetting = <Name extends SettingName>(item: Item, name: Name): KeySettings[Name] =>
  (item[attributeOf(name)] ?? (settings[name].initial === null ? null : undefined)) as KeySettings[Name];

export const readKeySettings = (item: Item): KeySettings =>
  Object.fromEntries(settingNames.map((name) => [name, readKeySetting(item, name)])) as unknown as KeySettings;

type Some<Members> = { readonly [Name in keyof Members]?: Members[Name] | undefined };

/** Undefined values are not written. */
export function writtenKey(key: KeySettings): WrittenKey;
export function writtenKey(key: Some<KeySettings>): Some<WrittenKey>;
export function writtenKey(key: Some<KeySettings>): Some<WrittenKey> {
  return Object.fromEntries(
    writtenMembers.flatMap(({ name, member, toWritten }) =>
      key[name] === undefined ? [] : [[member, toWritten(key[name])]],
    ),
  );
}

/** Settings of a new key where nothing is written. */
export const initialKey: Some<WrittenKey> = Object.fromEntries(
  writtenMembers.map(({ member, initial, toWritten }) => [member, toWritten(initial)]),
);

/** Absent values are undefined. */
export const fromWrittenKey = (written: Some<WrittenKey>) =>
  Object.fromEntries(
    writtenMembers.map(({ name, member, fromWritten }) => {
      const value = written[member as keyof WrittenKey];
      return [name, value === undefined ? undefined : fromWritten(value)];
    }),
  ) as Pick<Some<KeySettings>, WrittenName>;
