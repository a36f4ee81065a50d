// What stands in the form of a key, and what of it is sent.
import type { Key } from '../connection/documents.ts';
import { formValues } from '../parts/form-values.ts';

/** In the words of the interface. */
interface Fields {
  readonly workspace?: string;
  readonly name: string;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly spend_limit_usd: string | null;
  readonly spend_limit_reset: string | null;
  readonly expires_at: string | null;
  readonly models: readonly string[] | 'all';
  readonly tags: Readonly<Record<string, string>>;
}

export function readFields(form: HTMLFormElement): Fields {
  const { has, text, number, list } = formValues(form);
  const [expires, models] = [text('expires_at'), list('models')];
  return {
    ...(has('workspace') ? { workspace: text('workspace') } : {}),
    name: text('name'),
    rpm: number('rpm'),
    concurrency: number('concurrency'),
    spend_limit_usd: text('spend_limit_usd') || null,
    spend_limit_reset: text('spend_limit_reset') || null,
    // The field has minutes only, in the time zone of the reader.
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    models: models.length === 0 ? 'all' : models,
    tags: Object.fromEntries(list('tags').map((pair) => pair.split('='))),
  };
}

export function fieldsOf(key: Key): Fields {
  const { name, rpm, concurrency, spend_limit_usd, spend_limit_reset, expires_at, models, tags } = key;
  return {
    name,
    rpm,
    concurrency,
    spend_limit_usd,
    spend_limit_reset,
    expires_at,
    models: models ?? 'all',
    tags,
  };
}

/** What the form leaves as it was is not sent: another operator may have changed it meanwhile. */
export function differences(fields: Fields, before: Fields): object {
  const isSame = (name: keyof Fields) =>
    name === 'expires_at'
      ? localForm(fields.expires_at) === localForm(before.expires_at)
      : JSON.stringify(fields[name]) === JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isSame(name as keyof Fields)));
}

export const withoutNull = (fields: Fields): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== 'all'));

/** As the field writes an instant: `2026-11-22T20:15`, in the time zone of the reader. */
export const localForm = (instant: string | null): string =>
  instant === null ? '' : new Date(instant).toLocaleString('sv').replace(' ', 'T').slice(0, 16);
