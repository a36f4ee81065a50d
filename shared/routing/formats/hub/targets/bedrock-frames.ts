// A stream of Converse as its package can read it: frames of an AWS event stream, bounded, with a usage that the package takes.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { partsOfFrame, splitFrames, withFrameText } from '../../../../protocol/event-frames/index.ts';
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

/** Frames of an AWS event stream, each whole. Other bytes are passed on: the package reports their fault. */
export async function* bedrockFrames(bytes: AsyncIterable<Uint8Array>): Bytes {
  for await (const { frames, rest, cut } of splitFrames(bytes, upstreamEventMaxBytes)) {
    const readable = frames.filter((frame) => !isNewToPackage(frame)).map(withReadableText);
    for (const others of [rest, cut]) if (others !== undefined) readable.push(others);
    if (readable.length > 0) yield Buffer.concat(readable);
  }
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

function isNewToPackage(frame: Buffer): boolean {
  const { headers, text } = partsOfFrame(frame);
  if (!headers.includes('contentBlockDelta') || text.includes(usualPiece)) return false;
  const piece = text.toString('utf8');
  // A text that is no piece at all breaks the stream, as ever.
  return anyPiece.test(piece) && !knownPiece.test(piece);
}

/** Marks the end, whatever its reason. */
const withSpokenEnd = (text: string): string =>
  text.replace(/"stopReason"\s*:\s*(null|"\s*(null)?\s*")/, `"stopReason":"${formatsOwnEnd}"`);

/** The frame with the usage comes last; its name is in its headers. */
function withReadableText(frame: Buffer): Uint8Array {
  const { headers, text } = partsOfFrame(frame);
  if (headers.includes('metadata')) return withFrameText(frame, (usage) => withReadableUsage(usage, converseUsage));
  if (headers.includes('messageStop')) return withFrameText(frame, withSpokenEnd);
  return text.includes('reasoningContent') ? withFrameText(frame, withThinkingBegun) : frame;
}
