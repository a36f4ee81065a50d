// Defines the settings of keys and workspaces as options and columns, by the kind of their values.
import { isKeyExpired } from '../../../shared/configuration/keys/index.ts';
import { keySettings, type SettingKind, type SettingRows } from '../../../shared/configuration/settings/index.ts';
import { duration, modelChoice, regions, text, validity } from '../../../shared/configuration/value-forms/index.ts';
import { type ContentKeep, contentKeeps, spendLimitResets } from '../../../shared/foundation/constants/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { listOf, type Tags, tagsMax } from '../../../shared/protocol/wire/index.ts';
import { input, type LaterValue, type LineInput } from '../args/call-command.ts';
import {
  asText,
  none,
  type ParseOption,
  partsOf,
  readAs,
  readChoice,
  readMoreTags,
  readOrNone,
  readPositiveInteger,
  readTime,
  readUsd,
  readValid,
  UsageError,
} from '../args/option-values.ts';
import type { CellValue, Field } from '../output/table.ts';

export const expiresHint = keySettings.expires_at.option[1];
const instantShape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Parses an instant, once the time of the command is known. */
export const readExpires = readOrNone(
  (name: string, text: string): ((session: Parameters<LaterValue>[0]) => string) => {
    const inMs = readTime(text);
    const atMs = instantShape.test(text) ? Date.parse(text) : Number.NaN;
    if (inMs === undefined && Number.isNaN(atMs)) throw new UsageError(`${name} is ${expiresHint}`);
    return ({ clock }) => {
      const nowMs = clock.nowMs();
      const expiresAtMs = inMs === undefined ? atMs : nowMs + inMs;
      if (!isKeyExpired({ expiresAtMs }, nowMs)) return instantOf(expiresAtMs);
      throw new UsageError('--expires is not in the future; keys revoke ends a key now');
    };
  },
);

export const readGrace = readValid(duration, 'is a length of time of at most a year: 90s, 15m, 24h, 7d', asText);

/** Parses `30d`, or `30d:0.1` for a tenth of the calls. */
const readContentLog = readOrNone((name: string, text: string) => {
  const [written = '', share, ...more] = text.split(':');
  const keep = contentKeeps.find((one): one is ContentKeep => one === written);
  const isShare = share === undefined || /^(0(\.\d+)?|1(\.0+)?)$/.test(share);
  if (keep !== undefined && isShare && more.length === 0) {
    return { keep, ...(share === undefined ? {} : { share: Number(share) }) };
  }
  throw new UsageError(
    `${name} is none, or one of ${contentKeeps.join(', ')}, with :SHARE from 0 to 1 behind it or not`,
  );
});

const readModels = readValid(
  modelChoice,
  'is all, or ids of models with commas between them',
  (written): string[] | 'all' => (written === 'all' ? written : partsOf(written)),
);
/** Parses ids; `none` is an empty list. */
const readIds = readValid(listOf(text(128)), 'is none, or ids with commas between them', (written) =>
  written === 'none' ? [] : partsOf(written),
);

/** `none` alone removes the stored tags. */
const noTags: Tags = {};

function readKeyTags(name: string, text: string, former: unknown): Tags {
  if (text === 'none' && former === undefined) return noTags;
  if (former === noTags) throw new UsageError(`${name} is none, or tags`);
  const tags = readMoreTags(name, text, former);
  if (Object.keys(tags).length <= tagsMax) return tags;
  throw new UsageError(`${name} gives a key at most ${tagsMax} tags`);
}

const readSwitch = readAs(readChoice(['on', 'off']), (word) => word === 'on');
/** Parses a switch. Switching a policy off removes it. */
const readDemand = readAs(readSwitch, (isOn) => isOn || none);

const readRegions = readValid(regions, 'takes codes of regions or countries in lower case, as in eu,us', partsOf);
const readValidity = readValid(validity, 'is none, or a length of time such as 12h, 30d or 8w', asText);

const readers: { readonly [Kind in SettingKind]: ParseOption | undefined } = {
  count: readOrNone(readPositiveInteger),
  usd: readOrNone(readUsd),
  reset: readOrNone(readChoice([...spendLimitResets, 'none'])),
  instant: readExpires,
  validity: readOrNone(readValidity),
  models: readModels,
  ids: readIds,
  tags: undefined,
  contentLog: readContentLog,
  narrowedLog: readContentLog,
  demand: readDemand,
  collection: readOrNone(readChoice(['allow', 'deny', 'none'])),
  regions: readOrNone(readRegions),
  refusal: readOrNone(readChoice(['refuse', 'none'])),
  switch: readSwitch,
};

/** Returns the options. `absent` tells how a command line expresses that a setting does not apply. */
export const settingOptions = (rows: SettingRows, absent: 'left out' | 'none'): readonly LineInput[] =>
  Object.entries(rows).map(
    ([
      name,
      {
        kind,
        option: [flags, help],
        absent: meaning,
      },
    ]) => {
      const word = absent === 'none' && kind === 'models' ? 'all' : absent;
      const summary = meaning === undefined ? help : `${help}; ${word}: ${meaning}`;
      return input(flags, `body.${name}`, readers[kind], summary, kind === 'tags' ? { readAll: readKeyTags } : {});
    },
  );

/** Returns the columns. `all` and an empty list are null if the row has a text for none. */
export const settingFields = <Row extends object>(rows: SettingRows): readonly Field<Row>[] =>
  Object.entries(rows).map(([member, { column, absent }]) => ({
    member,
    ...column,
    value: (row) => {
      const value = row[member as keyof Row] as CellValue;
      const isNone = value === 'all' || (Array.isArray(value) && value.length === 0);
      return isNone && absent !== undefined ? null : value;
    },
  }));
