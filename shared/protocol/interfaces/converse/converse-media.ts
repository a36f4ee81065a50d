// Reads images, documents and other media of a Converse request.
import { isJsonObject, type JsonObject, type StateReference } from '../../wire/index.ts';
import { boundedByContext, type Media, openImageMeasure, sumOfMedia } from '../index.ts';
import { type Block, blockOf, blocksIn, mediaTypeOf } from './block-kinds.ts';

export interface PlacedBlock extends Block {
  /** Path in the request. */
  readonly path: string;
}

/** Yields every block of the messages, including blocks inside results and guarded content. */
export function* blocksOf(messages: unknown): Generator<PlacedBlock> {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    if (isJsonObject(message)) yield* blocksAt(message.content, `messages[${index}].content`);
  }
}

export function* blocksAt(content: unknown, path: string): Generator<PlacedBlock> {
  for (const [index, one] of blocksIn(content).entries()) {
    const block = blockOf(one);
    if (block === undefined) continue;
    const { kind, value } = block;
    const place = `${path}[${index}].${kind}`;
    yield { kind, value, path: place };
    if (!isJsonObject(value)) continue;
    if (kind === 'toolResult') yield* blocksAt(value.content, `${place}.content`);
    if (kind === 'guardContent') yield* blocksAt([value], place);
  }
}

const mediaKinds: ReadonlySet<string> = new Set(['image', 'document', 'video', 'audio']);

const isMedia = ({ kind }: Block): boolean => mediaKinds.has(kind);

export const sourceOf = ({ value }: Block): JsonObject =>
  isJsonObject(value) && isJsonObject(value.source) ? value.source : {};

/** Returns the path of the first block of a kind. */
export function pathOfKind(messages: unknown, kind: string): string | undefined {
  for (const block of blocksOf(messages)) if (block.kind === kind) return block.path;
  return undefined;
}

export const mediaOf = (messages: unknown): Media => sumOfMedia(mediaIn(messages));

function* mediaIn(messages: unknown): Generator<Media> {
  const measure = openImageMeasure();
  for (const block of blocksOf(messages)) {
    if (!isMedia(block)) continue;
    const { bytes, s3Location, text, content } = sourceOf(block);
    const isElsewhere = s3Location !== undefined;
    if (block.kind === 'image' && typeof bytes === 'string') {
      const { format } = block.value as JsonObject;
      const head = `data:${mediaTypeOf('image', format)};base64,`;
      const { tokens } = measure({ url: `${head}${bytes}`, detail: undefined });
      yield { tokens, dataCharacters: bytes.length, isElsewhere };
    } else if (typeof text !== 'string' && !Array.isArray(content)) {
      // A document that consists of text counts like text.
      const dataCharacters = typeof bytes === 'string' ? bytes.length : 0;
      yield { ...boundedByContext, dataCharacters, isElsewhere };
    }
  }
}

/** Maximum number of references. Longer conversations contain their files themselves. */
const referencesMax = 1_024;

/** Returns files that Bedrock reads with the credential of the call. */
export function filesInBuckets(messages: unknown): readonly StateReference[] {
  const found = new Map<string, StateReference>();
  for (const block of blocksOf(messages)) {
    if (!isMedia(block) || found.size > referencesMax) continue;
    const { s3Location } = sourceOf(block);
    if ((s3Location ?? null) === null) continue;
    const { uri } = isJsonObject(s3Location) ? s3Location : {};
    const key = typeof uri === 'string' ? uri : ` ${block.path}`;
    const member = `${block.path}.source.s3Location`;
    if (!found.has(key)) found.set(key, { member, isCompared: false, ...(typeof uri === 'string' ? { id: uri } : {}) });
  }
  return [...found.values()];
}
