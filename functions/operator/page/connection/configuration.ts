// The whole configuration: the gateway file with the tag of what is stored, and another file in its place.
import type { AnswerOf } from '../../../../shared/configuration/management/index.ts';
import type { Replacement } from './documents.ts';
import { request } from './management.ts';

export interface StoredFile {
  readonly text: string;
  readonly etag: string;
}

export async function readStoredFile(): Promise<StoredFile> {
  const response = await request('configuration', { headers: { accept: 'application/yaml' } });
  return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
}

/** Throws RequestFailed: `precondition_failed` where what is stored is not `etag` any more. */
export async function sendFile(
  { text, etag }: StoredFile,
  { isDry }: { readonly isDry: boolean },
): Promise<Replacement> {
  const response = await request(`configuration${isDry ? '?dry_run=true' : ''}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/yaml', 'if-match': etag },
    body: text,
  });
  return ((await response.json()) as AnswerOf<'PUT /configuration'>).data;
}
