// A stream of Converse as its package can read it: frames of an AWS event stream, bounded, with a usage that the package takes.
import { crc32 } from 'node:zlib';
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { formatsOwnEnd } from '../../../../protocol/hub/index.ts';
import type { Bytes } from './body-members.ts';
import { type UsageShape, withReadableUsage } from './readable-usage.ts';

/** Usage of a whole answer, and of the frame that reports it. */
export const converseUsage: UsageShape = {
  member: 'usage',
  required: ['inputTokens', 'outputTokens', 'totalTokens'],
  counts: [],
  parts: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
  isWanted: true,
};

/** Two lengths and their checksum precede the headers of a frame, and its own checksum follows its text. */
const preludeBytes = 12;
const checksumBytes = 4;

/** Frames of an AWS event stream, each whole. Other bytes are passed on: the package reports their fault. */
export async function* bedrockFrames(bytes: AsyncIterable<Uint8Array>): Bytes {
  let pieces: Uint8Array[] = [];
  let heldBytes = 0;
  /** Fewer bytes cannot be a whole frame. */
  let wantedBytes = preludeBytes;
  let isRaw = false;
  for await (const piece of bytes) {
    pieces.push(piece);
    heldBytes += piece.length;
    if (heldBytes < wantedBytes && !isRaw) continue;
    let held = Buffer.concat(pieces);
    const frames: Buffer[] = [];
    wantedBytes = preludeBytes;
    while (held.length >= preludeBytes && !isRaw) {
      const length = held.readUInt32BE(0);
      const headersLength = held.readUInt32BE(4);
      isRaw =
        crc32(held.subarray(0, 8)) !== held.readUInt32BE(8) || preludeBytes + headersLength + checksumBytes > length;
      if (isRaw) break;
      if (length > upstreamEventMaxBytes) throw new RangeError('an event is too large');
      wantedBytes = length;
      if (held.length < length) break;
      const frame = held.subarray(0, length);
      if (!isNewToPackage(frame, headersLength)) frames.push(withReadableFrame(frame, headersLength));
      held = held.subarray(length);
      wantedBytes = preludeBytes;
    }
    if (isRaw) frames.push(held);
    pieces = isRaw ? [] : [held];
    heldBytes = isRaw ? 0 : held.length;
    if (frames.length > 0) yield Buffer.concat(frames);
  }
  if (heldBytes > 0) yield Buffer.concat(pieces);
}

/** The package says nothing of thinking that is empty; of a signature it does. A model signs nothing with this. */
export const emptyThinkingSignature = 'gw-empty-thinking';
const emptyThinking = /"reasoningContent"\s*:\s*\{\s*(?:"text"\s*:\s*""\s*)?\}/;
const withThinkingBegun = (text: string): string =>
  text.replace(emptyThinking, `"reasoningContent":{"signature":"${emptyThinkingSignature}"}`);

/** Pieces of blocks that its package knows: it ends the stream for any other, which adds nothing that was requested. */
const knownPiece = /"delta"\s*:\s*\{\s*"(text|toolUse|reasoningContent|citation)"/;
const anyPiece = /"delta"\s*:\s*\{\s*"\w+"/;
/** The form of most of Bedrock's pieces. */
const usualPiece = '"delta":{"text"';

function isNewToPackage(frame: Buffer, headersLength: number): boolean {
  const textAt = preludeBytes + headersLength;
  const isDelta = frame.subarray(preludeBytes, textAt).includes('contentBlockDelta');
  if (!isDelta || frame.includes(usualPiece, textAt)) return false;
  const text = frame.toString('utf8', textAt);
  // A text that is no piece at all breaks the stream, as ever.
  return anyPiece.test(text) && !knownPiece.test(text);
}

/** Marks the end, whatever its reason. */
const withSpokenEnd = (text: string): string =>
  text.replace(/"stopReason"\s*:\s*(null|"\s*(null)?\s*")/, `"stopReason":"${formatsOwnEnd}"`);

/** The frame with the usage comes last; its name is in its headers. */
function withReadableFrame(frame: Buffer, headersLength: number): Buffer {
  const textAt = preludeBytes + headersLength;
  const headers = frame.subarray(preludeBytes, textAt);
  const readable = headers.includes('metadata')
    ? (text: string) => withReadableUsage(text, converseUsage)
    : headers.includes('messageStop')
      ? withSpokenEnd
      : frame.includes('reasoningContent', textAt) && withThinkingBegun;
  const isWhole = () => crc32(frame.subarray(0, -checksumBytes)) === frame.readUInt32BE(frame.length - checksumBytes);
  if (readable === false || !isWhole()) return frame;
  return frameOf(headers, readable(frame.subarray(textAt, -checksumBytes).toString('utf8')));
}

function frameOf(headers: Buffer, text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(preludeBytes);
  head.writeUInt32BE(preludeBytes + headers.length + content.length + checksumBytes, 0);
  head.writeUInt32BE(headers.length, 4);
  head.writeUInt32BE(crc32(head.subarray(0, 8)), 8);
  const body = Buffer.concat([head, headers, content]);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(crc32(body), 0);
  return Buffer.concat([body, checksum]);
}
