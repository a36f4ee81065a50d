// The documents of a request, measured in its text.
import { fail } from '../../../errors/index.ts';
import type { JsonText } from '../../wire/index.ts';

interface DocumentSizes {
  /** Bytes of each document. */
  readonly sizes: readonly number[];
  /** There are texts and objects among them. */
  readonly isMixed: boolean;
}

/** Throws invalid_request. */
export function readDocuments(json: JsonText): DocumentSizes {
  const [documents, again] = json.members().filter(({ name }) => name === 'documents');
  if (again !== undefined) throw bad('stands twice');
  if (documents === undefined) throw bad('is missing');
  if (!json.isArray(documents.value)) throw bad('must be a list');
  const sizes: number[] = [];
  let texts = 0;
  for (const item of json.inside(documents.value)) {
    if (json.isString(item)) texts += 1;
    else if (!json.isObject(item)) throw bad('must hold texts or objects', `documents[${sizes.length}]`);
    sizes.push(Buffer.byteLength(json.slice(item)));
  }
  if (sizes.length === 0) throw bad('is empty');
  return { sizes, isMixed: texts > 0 && texts < sizes.length };
}

const bad = (what: string, param = 'documents') => fail('invalid_request', { message: `documents: ${what}`, param });
