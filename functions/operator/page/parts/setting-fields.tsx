// Shows the settings of keys and workspaces as fields of a form, by the type of their values.
import { type ComponentChildren, Fragment } from 'preact';
import type { SettingKind, SettingRows } from '../../../../shared/configuration/settings/index.ts';
import { contentKeeps, spendLimitResets } from '../../../../shared/foundation/constants/index.ts';
import type { Choices } from '../connection/documents.ts';
import { AmountField, CheckField, Choice, CountField, ListField, TextField } from './field.tsx';
import { formValues } from './form.tsx';
import { tagPairs } from './shown-values.ts';

/** Matches pairs with commas between them, no name twice. The gateway checks names and values. */
const tagsPattern = String.raw`\s*(?!(.*,\s*)?([^,=]+)=.*,\s*\2=)[^,=]+=[^,=]+(,[^,=]+=[^,=]+)*`;

interface FieldProperties {
  readonly title: string;
  readonly name: string;
  readonly initial: string;
  readonly placeholder: string;
  /** The highest limit that the operator may set; absent if any limit is allowed. */
  readonly bound?: string | undefined;
  readonly 'aria-describedby'?: string;
}
type Control = (field: FieldProperties, value: unknown, choices: Choices) => ComponentChildren;

const check: Control = ({ title, name, initial }) => (
  <CheckField title={title} name={name} defaultChecked={initial !== ''} />
);

/** The parts of a content log have fields of their own. An empty field shows `shareOfNone`. */
const contentLog =
  (shareOfNone: string): Control =>
  ({ title, name, placeholder }, value) => {
    const { keep = '', share } = (value ?? {}) as { readonly keep?: string; readonly share?: number };
    return (
      <>
        <Choice title={title} name={`${name}.keep`} initial={keep} options={[['', placeholder], ...contentKeeps]} />
        <TextField
          title="Of this share of the calls"
          name={`${name}.share`}
          pattern="0(\.\d+)?|1(\.0+)?"
          hint="A number from 0 to 1, such as 0.1"
          initial={share}
          placeholder={shareOfNone}
        />
      </>
    );
  };

const controls: { readonly [Kind in SettingKind]: Control } = {
  count: ({ bound, ...field }) => <CountField {...field} {...(bound === undefined ? {} : { max: Number(bound) })} />,
  usd: ({ bound: _checkedByGateway, ...field }) => <AmountField {...field} />,
  reset: ({ placeholder, bound: _shown, ...field }) => (
    <Choice {...field} options={[['', placeholder], ...spendLimitResets]} />
  ),
  instant: ({ bound, title, ...field }) => (
    <TextField
      type="datetime-local"
      title={bound === undefined ? title : `${title} (${bound} at the latest)`}
      {...field}
    />
  ),
  validity: (field) => (
    <TextField pattern="[1-9]\d{0,4}[hdw]" hint="A length of time such as 12h, 30d or 8w" {...field} />
  ),
  models: (field, _value, { models }) => <ListField options={models} {...field} />,
  ids: (field, _value, { guardrails }) => <ListField options={guardrails} {...field} />,
  tags: (field, _value, { tag_names: names }) => (
    <ListField
      options={names.map((name) => `${name}=`)}
      pattern={tagsPattern}
      hint="Pairs such as team=search, feature=rerank, each name once"
      {...field}
    />
  ),
  contentLog: contentLog('all'),
  narrowedLog: contentLog('not narrowed'),
  demand: check,
  collection: check,
  regions: (field) => <TextField {...field} />,
  refusal: check,
  switch: check,
};

/** Writes an instant as the field expects it: `2026-11-22T20:15`, in the time zone of the reader. */
const localTime = (instant: string): string => new Date(instant).toLocaleString('sv').replace(' ', 'T').slice(0, 16);

/** Returns the text of a setting; empty if the setting does not apply. */
function textOf(kind: SettingKind, value: unknown): string {
  if (value === null || value === undefined || value === 'all' || value === 'allow' || value === false) return '';
  if (kind === 'tags') return tagPairs(value as Readonly<Record<string, string>>);
  if (kind === 'instant') return localTime(String(value));
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

type Values = ReturnType<typeof formValues>;
type Reader = (values: Values, name: string) => unknown;

const orNull = <Value extends object>(value: Value) => (Object.keys(value).length === 0 ? null : value);
const readText: Reader = ({ text }, name) => text(name) || null;
const readLog = ({ text, number }: Values, name: string, shareOfNone: number | null) => {
  const [keep, share] = [text(`${name}.keep`), number(`${name}.share`) ?? shareOfNone];
  return { ...(keep === '' ? {} : { keep }), ...(share === null ? {} : { share }) };
};

const readers: { readonly [Kind in SettingKind]: Reader } = {
  count: ({ number }, name) => number(name),
  usd: readText,
  reset: readText,
  instant: ({ text }, name) => (text(name) === '' ? null : new Date(text(name)).toISOString()),
  validity: readText,
  models: ({ list }, name) => orNull(list(name)) ?? 'all',
  ids: ({ list }, name) => list(name),
  tags: ({ list }, name) => Object.fromEntries(list(name).map((pair) => pair.split('='))),
  // A share without `keep` stores nothing.
  contentLog: (values, name) => (values.text(`${name}.keep`) === '' ? null : readLog(values, name, 1)),
  narrowedLog: (values, name) => orNull(readLog(values, name, null)),
  demand: ({ has }, name) => has(name) || null,
  collection: ({ has }, name) => (has(name) ? 'deny' : null),
  regions: ({ list }, name) => orNull(list(name)),
  refusal: ({ has }, name) => (has(name) ? 'refuse' : null),
  switch: ({ has }, name) => has(name),
};

type Part = Readonly<Record<string, unknown>> | null | undefined;

/** Reads a setting, or a field of a setting, for example `data_policy.zdr`. */
const valueAt = (stored: object | undefined, name: string): unknown =>
  name.split('.').reduce<unknown>((part, step) => (part as Part)?.[step], stored);

interface SettingFieldsProperties {
  readonly rows: SettingRows;
  /** Stored settings; undefined in a form that creates something. */
  readonly stored: object | undefined;
  readonly choices: Choices;
  /** The highest limits that the operator may set, by setting. */
  readonly bounds?: Readonly<Record<string, string>>;
}

export const SettingFields = ({ rows, stored, choices, bounds = {} }: SettingFieldsProperties) =>
  Object.entries(rows).map(([name, { kind, title, placeholder, absent = '', note }]) => {
    const value = valueAt(stored, name);
    const bound = bounds[name];
    const inEmptyField = bound === undefined ? (placeholder ?? absent) : `${bound} (the most)`;
    const field = { title, name, initial: textOf(kind, value), placeholder: inEmptyField, bound };
    const id = `${name}-help`;
    return (
      <Fragment key={name}>
        {controls[kind](note === undefined ? field : { ...field, 'aria-describedby': id }, value, choices)}
        {note !== undefined && (
          <p id={id} class="muted">
            {note}
          </p>
        )}
      </Fragment>
    );
  });

/** Returns the fields of a setting that differ. */
const differing = (value: Part, before: Part) =>
  value && Object.fromEntries(Object.entries(value).filter(([name, one]) => one !== before?.[name]));

/**
 * Returns the differences between a form and the stored settings. Only the differences are sent, because another
 * operator may have changed other settings meanwhile.
 */
export function changedSettings(rows: SettingRows, form: HTMLFormElement, stored: object | undefined) {
  const values = formValues(form);
  const changedSettings: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(rows)) {
    const [value, before] = [readers[kind](values, name), valueAt(stored, name)];
    if (textOf(kind, value) === textOf(kind, before)) continue;
    const [setting = '', field] = name.split('.');
    if (field !== undefined) changedSettings[setting] = { ...(changedSettings[setting] as object), [field]: value };
    else changedSettings[setting] = kind === 'contentLog' ? differing(value as Part, before as Part) : value;
  }
  return changedSettings;
}
