// Defines the interfaces of images, from text, and from images with text.
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  toEventLine,
  type UsageReport,
} from '../../wire/index.ts';
import { endMarkerEvent, membersOf, ParsedEvent, parseEvent, relayedInterface, type StreamWriter } from '../index.ts';
import { readImagesAnswer, readImagesUsage, wordsIn, writeImages } from './images-answer.ts';
import { imageFormFields, imageOptions, imagesSchema, readEdit, readGeneration } from './images-request.ts';

const details = membersOf({ image_tokens: {}, text_tokens: {}, cached_tokens: {} });
/** Fields of an event; the image of some megabytes is skipped, and never becomes a value. */
const eventShape = membersOf({
  type: {},
  size: {},
  quality: {},
  error: membersOf({ code: {}, type: {}, message: {}, param: {} }),
  usage: membersOf({
    input_tokens: {},
    output_tokens: {},
    total_tokens: {},
    input_tokens_details: details,
    output_tokens_details: details,
  }),
});

/** Opens a writer. There is no end marker, because clients stop at the end of the body. */
const openImageWriter = (): StreamWriter => ({
  event: ({ name, text, details: { isEndMarker: isMarker } }) => (isMarker ? '' : toEventLine(text, name)),
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    return toEventLine(JSON.stringify({ type: 'error', error: { type: 'api_error', code, message } }), 'error');
  },
});

const common = {
  telemetryOperation: 'generate_content',
  packageModels: 'image',
  schema: imagesSchema,
  uncheckedNames: imageOptions,
  promptMember: 'prompt',
  readAnswer: readImagesAnswer,
  writeAnswer: writeImages,
  answerMaxBytes: largeBodyMaxBytes,
  streams: { openEventReader: openImageReader, openStreamWriter: openImageWriter },
} as const;

export const images = relayedInterface({
  ...common,
  id: 'images',
  upstreamPath: '/images/generations',
  takesLong: true,
  readInput: readGeneration,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
});

export const imageEdits = relayedInterface({
  ...common,
  id: 'image-edits',
  upstreamPath: '/images/edits',
  takesLong: true,
  readInput: readEdit,
  grammar: async () => (await import('./grammar.ts')).editGrammar,
  operation: async () => (await import('./operation.ts')).editOperation,
  playground: undefined,
  formFields: imageFormFields,
});

// Reads the stream of a request for images, which has partial images, and each image when it is complete, relayed byte
// for byte.

/** Opens a reader. `images` is the requested number of images. */
function openImageReader(images: number): EventReader {
  let completed = 0;
  let usage: UsageReport | undefined;
  return {
    read({ name, text }): EventReading {
      if (isEndMarker(text)) return { kind: 'event', event: endMarkerEvent(name, text) };
      const event = parseEvent(text, eventShape);
      if (event === undefined) return { kind: 'unreadable' };
      if (event.type === 'error' || name === 'error' || isJsonObject(event.error))
        return { kind: 'error', error: isJsonObject(event.error) ? event : { error: event } };
      const isComplete = typeof event.type === 'string' && event.type.endsWith('.completed');
      if (isComplete) completed += 1;
      const reported = isComplete ? readImagesUsage(event.usage) : undefined;
      usage = reported === undefined ? usage : sumOf(usage, reported);
      const read = {
        hasOutput: true,
        isLast: completed >= images && isComplete,
        usage: reported && usage,
        outputBytes: 0,
        ...(isComplete ? { units: { images: { count: 1, ...wordsIn(event) } } } : {}),
      };
      return { kind: 'event', event: new ParsedEvent(name, text, read) };
    },
    // A provider may make fewer images than requested.
    isComplete: () => completed > 0,
    mayBeMarked: true,
  };
}

/** Adds the usage of another image, because each image reports its own usage. */
function sumOf(known: UsageReport | undefined, { tokens, members }: UsageReport): UsageReport {
  if (known === undefined) return { tokens, members };
  const { media, ...former } = known.tokens;
  const add = (one: number | undefined, other: number | undefined) =>
    one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
  return {
    members,
    tokens: {
      ...former,
      input: add(former.input, tokens.input),
      output: add(former.output, tokens.output),
      cached: former.cached + tokens.cached,
      media: {
        imageInput: add(media?.imageInput, tokens.media?.imageInput) ?? 0,
        imageOutput: add(media?.imageOutput, tokens.media?.imageOutput) ?? 0,
      },
    },
  };
}
