// What stands in the form of a key, and what of it is sent.
import type { Key } from '../connection/documents.ts';

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
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const expires = text('expires_at');
  const listed = (name: string) =>
    text(name)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  const models = listed('models');
  return {
    ...(data.has('workspace') ? { workspace: text('workspace') } : {}),
    name: text('name'),
    rpm: numberIn(text('rpm')),
    concurrency: numberIn(text('concurrency')),
    spend_limit_usd: text('spend_limit_usd') || null,
    spend_limit_reset: text('spend_limit_reset') || null,
    // The field has minutes only, in the time zone of the reader.
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    models: models.length === 0 ? 'all' : models,
    tags: Object.fromEntries(listed('tags').map((pair) => pair.split('='))),
  };
}

const numberIn = (written: string): number | null => (written === '' ? null : Number(written));

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
