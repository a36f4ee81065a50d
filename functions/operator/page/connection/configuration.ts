// Reads the whole configuration as a gateway file with its tag, and replaces it.
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

/** Throws RequestFailed: `precondition_failed` if the stored configuration no longer has the tag `etag`. */
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
