// Fields in the form of a key, and the request made from them.
import type { WrittenBody } from '../../../../shared/configuration/management/index.ts';
import type { Key } from '../connection/documents.ts';
import { readContentLog } from '../parts/content-log-fields.tsx';
import { formValues } from '../parts/form.tsx';

/** Whole numbers: each has a field, and words in the list. */
export const countLimits = [
  { member: 'rpm', title: 'Requests per minute', absent: 'no limit', words: 'per minute' },
  { member: 'tpm', title: 'Tokens per minute', absent: 'no limit', words: 'tokens per minute' },
  { member: 'concurrency', title: 'Concurrent calls', absent: 'the default of the service', words: 'concurrent' },
] as const satisfies readonly { readonly member: keyof Key; readonly [text: string]: string }[];

type CountLimits = Pick<Key, (typeof countLimits)[number]['member']>;
type Fields = CountLimits &
  Pick<Key, 'name' | 'expires_at' | 'models' | 'tags' | 'guardrails' | 'spend_limit_usd'> & {
    readonly content_log?: Key['content_log'];
    readonly workspace?: string;
    readonly spend_limit_reset: string | null;
  };

export function readFields(form: HTMLFormElement): Fields {
  const values = formValues(form);
  const { has, text, number, list } = values;
  const [expires, models] = [text('expires_at'), list('models')];
  return {
    ...(has('workspace') ? { workspace: text('workspace') } : {}),
    name: text('name'),
    ...(Object.fromEntries(countLimits.map(({ member }) => [member, number(member)])) as CountLimits),
    spend_limit_usd: text('spend_limit_usd') || null,
    spend_limit_reset: text('spend_limit_reset') || null,
    // The field has minutes only, in the time zone of the reader.
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    models: models.length === 0 ? 'all' : models,
    tags: Object.fromEntries(list('tags').map((pair) => pair.split('='))),
    guardrails: list('guardrails'),
    // Editors alone have these fields.
    ...(has('content_keep') ? { content_log: readContentLog(values) } : {}),
  };
}

/** Unchanged fields are not sent, because another operator may have changed them meanwhile. */
export function differences(fields: Fields, before: Key): WrittenBody<'PATCH /keys/{public_id}'> {
  const isSame = (name: keyof Fields) =>
    name === 'expires_at'
      ? localForm(fields.expires_at) === localForm(before.expires_at)
      : JSON.stringify(fields[name]) === JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isSame(name as keyof Fields)));
}

export const withoutNull = (fields: Fields): WrittenBody<'POST /keys'> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== 'all'),
  ) as WrittenBody<'POST /keys'>;

/** An instant in the field's form: `2026-11-22T20:15`, in the time zone of the reader. */
export const localForm = (instant: string | null): string =>
  instant === null ? '' : new Date(instant).toLocaleString('sv').replace(' ', 'T').slice(0, 16);
