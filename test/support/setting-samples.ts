// A value of each kind of setting, as a command line and as a file write it.
import type { SettingKind, SettingRows } from '../../shared/configuration/settings/index.ts';

interface Sample {
  readonly text: string;
  readonly value: unknown;
  /** A text and a value that are not valid for the kind, on a command line and in a file. */
  readonly wrong: readonly [text: string, value: unknown];
  /** Text that removes the setting. */
  readonly none?: string;
  /** Value of a removed setting. */
  readonly absent?: unknown;
}

const log = { text: '7d:0.5', value: { keep: '7d', share: 0.5 }, wrong: ['8d', { keep: '8d' }] } as const;
export const samples: { readonly [Kind in SettingKind]: Sample } = {
  count: { text: '7', value: 7, wrong: ['0', 0] },
  usd: { text: '2.50', value: '2.5', wrong: ['2,50', 2.5] },
  reset: { text: 'weekly', value: 'weekly', wrong: ['yearly', 'yearly'] },
  instant: { text: '2099-01-01', value: '2099-01-01T00:00:00.000Z', wrong: ['2099-13-01', '2099-13-01'] },
  validity: { text: '8w', value: '8w', wrong: ['8', 8] },
  models: { text: 'acme/small', value: ['acme/small'], wrong: ['a,', ['']], none: 'all', absent: 'all' },
  ids: { text: 'words,names', value: ['words', 'names'], wrong: ['a,', ['']], absent: [] },
  tags: { text: 'team=search', value: { team: 'search' }, wrong: ['Team=search', { Team: 'search' }], absent: {} },
  contentLog: log,
  narrowedLog: log,
  demand: { text: 'on', value: true, wrong: ['yes', 'yes'], none: 'off' },
  collection: { text: 'deny', value: 'deny', wrong: ['never', 'never'] },
  regions: { text: 'eu,us', value: ['eu', 'us'], wrong: ['Europe', ['Europe']] },
  refusal: { text: 'refuse', value: 'refuse', wrong: ['allow', 'allow'] },
  switch: { text: 'on', value: true, wrong: ['yes', 'yes'], none: 'off', absent: false },
};

export type SettingPart = Readonly<Record<string, unknown>>;
export const valueAt = (document: object, name: string): unknown =>
  name.split('.').reduce<unknown>((part, step) => (part as SettingPart | undefined)?.[step], document) ?? null;
export const withValue = (name: string, value: unknown): SettingPart =>
  name
    .split('.')
    .reverse()
    .reduce<unknown>((inner, step) => ({ [step]: inner }), value) as SettingPart;

/** Returns every setting of a table, as a gateway file writes them. */
export const allSet = (rows: SettingRows): SettingPart => {
  const all: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(rows)) {
    const [setting = '', field] = name.split('.');
    const { value } = samples[kind];
    all[setting] = field === undefined ? value : { ...(all[setting] as SettingPart), [field]: value };
  }
  return all;
};
