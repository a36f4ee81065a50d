// Reads the media of a Messages request.
import { isJsonObject, type JsonObject, openPixelReader, type Pixels } from '../../wire/index.ts';
import { boundedByContext, type Media, sumOfMedia } from '../index.ts';

/**
 * Side of an image's patch in pixels. Anthropic's documented cost (platform.claude.com, "Images and vision", November
 * 2026): an image takes one token for each patch of 28 px, after scaling to the size that the model reads, 4,784
 * patches at most with the models of highest resolution.
 */
const patchPx = 28;
const imageTokensMax = 4_784;

interface Part {
  /** Path in the request. */
  readonly path: string;
  readonly part: JsonObject;
}

/** Yields every part of the messages, including those inside tool results and documents. */
function* partsOf(messages: unknown): Generator<Part> {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    if (isJsonObject(message)) yield* partsIn(message.content, `messages[${index}].content`);
  }
}

function* partsIn(content: unknown, path: string): Generator<Part> {
  for (const [index, part] of (Array.isArray(content) ? content : []).entries()) {
    if (!isJsonObject(part)) continue;
    const partPath = `${path}[${index}]`;
    yield { path: partPath, part };
    yield* partsIn(part.content, `${partPath}.content`);
    if (isJsonObject(part.source)) yield* partsIn(part.source.content, `${partPath}.source.content`);
  }
}

/** Returns the path of a part of the messages that is an image. */
export function pathOfImage(messages: unknown): string | undefined {
  for (const { path, part } of partsOf(messages)) if (part.type === 'image') return path;
  return undefined;
}

/** Types of a document's source whose text and parts count like the text and parts of messages. */
const textSources: readonly unknown[] = ['text', 'content'];

export const mediaOf = (messages: unknown): Media => sumOfMedia(mediaIn(messages));

function* mediaIn(messages: unknown): Generator<Media> {
  const pixelsOf = openPixelReader();
  for (const { part } of partsOf(messages)) {
    // A part without a source counts as text, whatever its type.
    if (!isJsonObject(part.source) || textSources.includes(part.source.type)) continue;
    const data = part.source.type === 'base64' && typeof part.source.data === 'string' ? part.source.data : '';
    const { tokens } = part.type === 'image' ? { tokens: imageTokens(pixelsOf(data)) } : boundedByContext;
    yield { tokens, dataCharacters: data.length, isElsewhere: part.source.type !== 'base64' };
  }
}

function imageTokens(pixels: Pixels | undefined): number {
  const { width, height } = pixels ?? { width: Infinity, height: Infinity };
  return Math.min(imageTokensMax, Math.ceil(width / patchPx) * Math.ceil(height / patchPx));
}
