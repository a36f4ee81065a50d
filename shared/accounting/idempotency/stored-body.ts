// Bodies of results at rest: packed, in the item where they fit, else in the blob store. Both return exactly the stored
// text, or fail.

import { resultPrefix, storedAnswerMaxBytes } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type AnswerAllocation, answerWeights, smallAnswerMaxBytes } from '../../protocol/memory-budget/index.ts';
import { type BlobStore, inlineMaxBytes, packText, textBytesIn, unpackText } from '../../storage/blobs/index.ts';
import { type CallOptions, StoreUnavailable } from '../../storage/store/index.ts';
import type { PackedBody } from './record.ts';

/**
 * Packs a body; when this resolves, one that is too large for an item is in the blob store, because no record may name
 * a missing blob. Blobs of a refused completion expire. Returns undefined for a text that is too long.
 */
export async function storeBody(
  blobs: BlobStore,
  { pk, owner, body }: { readonly pk: string; readonly owner: string; readonly body: string },
  options: CallOptions,
): Promise<PackedBody | undefined> {
  const textBytes = Buffer.byteLength(body);
  if (textBytes > storedAnswerMaxBytes) return undefined;
  const { bytes, sha256 } = await packText(body);
  if (bytes.byteLength <= inlineMaxBytes) return { bytes, sha256 };
  // The name includes owner and content, because the value of a key never changes.
  const blobKey = resultPrefix + sha256Hex(canonicalJson([pk, owner, sha256]));
  try {
    await orUnavailable(blobs.put(blobKey, bytes, options));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return { blobKey, sha256, textBytes };
}

/** Rather too much than too little. */
const unknownTextBytes = 8 * 1024 * 1024;

export interface LoadOptions extends CallOptions {
  /** Of the call that loads an answer. */
  readonly allocation?: Pick<AnswerAllocation, 'take'> | undefined;
}

/**
 * Throws StoreUnavailable when the blob store does not answer, RATE_LIMITER_UNAVAILABLE where there is no memory for it. Throws an Error when the body is gone or damaged: the
 * call is not run again, because that would charge twice for a key whose whole purpose is that it is charged once.
 */
export async function loadBody(
  blobs: BlobStore,
  body: PackedBody,
  { allocation, ...options }: LoadOptions,
): Promise<string> {
  const textBytes = 'bytes' in body ? textBytesIn(body.bytes) : (body.textBytes ?? unknownTextBytes);
  await allocation?.take(answerWeights.replayed * textBytes, { mayWait: textBytes > smallAnswerMaxBytes });
  const bytes = 'bytes' in body ? body.bytes : await orUnavailable(blobs.get(body.blobKey, options));
  if (bytes === undefined) throw new Error('the stored result of an idempotency key is gone from the blob store');
  const text = await unpackText({ bytes, sha256: body.sha256 });
  if (text === undefined) throw new Error('the stored result of an idempotency key is damaged');
  return text;
}

async function orUnavailable<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    // Too large for any place: asking again changes nothing.
    if (error instanceof RangeError) throw error;
    throw new StoreUnavailable(error);
  }
}
