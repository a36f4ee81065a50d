// The content of a revision on its way into an item and back.
import { inlineMaxBytes, packText, unpackText } from '../../storage/blobs/index.ts';
import type { Item, Put } from '../../storage/store/index.ts';
import type { RevisionContent } from './document.ts';
import { contentKey } from './function-item.ts';
import type { FunctionRecord } from './function-record.ts';
import type { RevisionText } from './revision-text.ts';

/** Four calls of the largest size. Instances keep contents in memory, so they cannot be much larger. */
export const contentMaxBytes = 1024 * 1024;

export interface StoredContent {
  readonly content: RevisionContent;
  /** Of its text: what it weighs in memory, about. */
  readonly bytes: number;
}

/** Throws an Error for the operator where it is too large to be stored. */
export async function contentPut(record: FunctionRecord, { text, textSha256 }: RevisionText): Promise<Put> {
  const name = `function ${record.id} of ${record.workspace}`;
  const bytes = Buffer.byteLength(text);
  if (bytes > contentMaxBytes) throw new Error(`${name}: a revision of ${bytes} bytes; at most ${contentMaxBytes} fit`);
  const packed = await packText(text);
  if (packed.bytes.byteLength > inlineMaxBytes) {
    throw new Error(`${name}: a revision of ${packed.bytes.byteLength} bytes packed; at most ${inlineMaxBytes} fit`);
  }
  return {
    table: 'functions',
    item: { pk: contentKey(record, textSha256), content_gzip: packed.bytes, packed_sha256: packed.sha256 },
    // What stands under a hash is never written again.
    condition: 'attribute_not_exists(pk)',
    repeatable: true,
  };
}

/** Throws an Error when the item is gone or damaged: a revision that is called has its content. */
export async function readContentItem(item: Item | undefined): Promise<StoredContent> {
  if (item === undefined) throw new Error('the content of a revision is gone');
  const text = await unpackText({ bytes: item.content_gzip as Uint8Array, sha256: String(item.packed_sha256) });
  if (text === undefined) throw new Error('the content of a revision is damaged');
  return { content: JSON.parse(text) as RevisionContent, bytes: Buffer.byteLength(text) };
}
