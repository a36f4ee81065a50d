// The fields that say which bodies of calls are kept, of a workspace or a key.
import { contentKeeps } from '../../../../shared/foundation/constants/index.ts';
import type { Key, Workspace } from '../connection/documents.ts';
import { Choice, TextField } from './field.tsx';
import type { formValues } from './form.tsx';

interface ContentLogFieldsProperties {
  readonly initial: Workspace['content_log'] | Key['content_log'] | undefined;
  /** Meaning of an empty field. */
  readonly absent: { readonly keep: string; readonly share: string };
}

export const ContentLogFields = ({ initial, absent }: ContentLogFieldsProperties) => (
  <>
    <Choice
      title="Bodies of calls are kept for"
      name="content_keep"
      initial={initial?.keep ?? ''}
      options={[['', absent.keep], ...contentKeeps]}
    />
    <TextField
      title="Of this share of the calls"
      name="content_share"
      pattern="0(\.\d+)?|1(\.0+)?"
      form="A number from 0 to 1, such as 0.1"
      initial={initial?.share}
      placeholder={absent.share}
    />
  </>
);

/** Null where both fields are empty. */
export function readContentLog({
  text,
  number,
}: ReturnType<typeof formValues>): NonNullable<Key['content_log']> | null {
  const keep = contentKeeps.find((one) => one === text('content_keep'));
  const share = number('content_share');
  if (keep === undefined && share === null) return null;
  return { ...(keep === undefined ? {} : { keep }), ...(share === null ? {} : { share }) };
}
