// Stores the content of a revision, which is one compressed text in a separate item. The sequence of its fields counts,
// because providers write the fields of a structured answer in the order of the schema.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { inlineMaxBytes, packText, unpackText } from '../../storage/blobs/index.ts';
import { absent, type Item, type Put, WriteRefused } from '../../storage/store/index.ts';
import type { FunctionDocument, RevisionContent } from './function-document.ts';
import { contentKey, type FunctionRecord } from './function-record.ts';

export interface RevisionText {
  readonly text: string;
  readonly textSha256: string;
  readonly contentSha256: string;
}

export type DeclaredRevision = FunctionDocument['revisions'][number];

/** Returns all of a declared revision except its id and its state. */
export function contentOf(kind: FunctionDocument['kind'], revision: DeclaredRevision): RevisionContent {
  const { id: _id, state: _state, ...content } = revision;
  return { kind, ...content } as RevisionContent;
}

export function toText(content: RevisionContent): RevisionText {
  const text = JSON.stringify(content);
  return { text, textSha256: sha256Hex(text), contentSha256: sha256Hex(canonicalJson(content)) };
}

/**
 * Bound of a content, which is four calls of the largest size. Instances cache contents, so they cannot be much larger.
 */
const contentMaxBytes = 1024 * 1024;

export interface StoredContent {
  readonly content: RevisionContent;
  /** Bytes of the text, which are about its size in memory. */
  readonly bytes: number;
}

/** Returns the write. Throws WriteRefused if the content is too large to be stored. */
export async function contentPut(record: FunctionRecord, { text, textSha256 }: RevisionText): Promise<Put> {
  const name = `function ${record.id} of ${record.workspace}`;
  const bytes = Buffer.byteLength(text);
  if (bytes > contentMaxBytes)
    throw new WriteRefused(`${name}: a revision of ${bytes} bytes; at most ${contentMaxBytes} fit`);
  const packed = await packText(text);
  if (packed.bytes.byteLength > inlineMaxBytes) {
    throw new WriteRefused(
      `${name}: a revision of ${packed.bytes.byteLength} bytes packed; at most ${inlineMaxBytes} fit`,
    );
  }
  return {
    table: 'functions',
    item: { pk: contentKey(record, textSha256), content_gzip: packed.bytes, packed_sha256: packed.sha256 },
    // The content under a hash never changes.
    condition: absent('pk'),
    repeatable: true,
  };
}

/**
 * Reads a content. Throws an Error when the item is missing or damaged, because a revision that is called has its
 * content.
 */
export async function readContentItem(item: Item | undefined): Promise<StoredContent> {
  if (item === undefined) throw new Error('the content of a revision is gone');
  const text = await unpackText({ bytes: item.content_gzip as Uint8Array, sha256: String(item.packed_sha256) });
  if (text === undefined) throw new Error('the content of a revision is damaged');
  return { content: JSON.parse(text) as RevisionContent, bytes: Buffer.byteLength(text) };
}
