// Stores a document in an item of the configuration: canonical JSON next to its hash, by which a change is recognized.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { absent, equals } from './condition.ts';
import type { Item } from './item.ts';
import type { Store } from './store.ts';

export type DocumentWrite = 'created' | 'changed' | 'unchanged';

export const documentIn = <Document>({ document_json: json }: Item): Document => JSON.parse(String(json)) as Document;

/**
 * Writes the document if it has changed. Returns undefined when the write is refused, because another write was made
 * since `former` was read.
 */
export async function writeDocument(
  store: Pick<Store, 'put'>,
  key: string,
  former: Item | undefined,
  document: unknown,
): Promise<DocumentWrite | undefined> {
  const json = canonicalJson(document);
  const sha256 = sha256Hex(json);
  if (former?.sha256 === sha256) return 'unchanged';
  const condition = former === undefined ? absent('pk') : equals('sha256', former.sha256);
  const item = { pk: key, sha256, document_json: json };
  const { kind } = await store.put({ table: 'config', item, condition });
  if (kind !== 'written') return undefined;
  return former === undefined ? 'created' : 'changed';
}
