// Reads a request for images, with its highest possible cost, and with the options that some models lack.
import * as z from 'zod/mini';
import { fail } from '../../../errors/index.ts';
import { choicesMax } from '../../../foundation/constants/index.ts';
import type { FormBody } from '../../forms/index.ts';
import { type Feature, findMember, type HubNeed, type JsonObject, type JsonText } from '../../wire/index.ts';
import { plainMembers, type RelayedInput } from '../index.ts';

const word = z.nullish(z.string());
const flag = z.nullish(z.boolean());

/** Fields of both requests that the gateway reads; the provider judges the rest. */
export const imagesSchema = z.looseObject({
  ...plainMembers,
  prompt: z.string().check(z.minLength(1)),
  n: z.nullish(z.int().check(z.minimum(1), z.maximum(choicesMax))),
  size: word,
  quality: word,
  background: word,
  output_format: word,
  response_format: word,
  stream: flag,
  partial_images: z.nullish(z.int().check(z.minimum(0), z.maximum(16))),
});
type ImagesBody = z.infer<typeof imagesSchema>;

/** Types of fields that a form writes as text. */
export const imageFormFields = {
  numbers: new Set(['n', 'partial_images', 'output_compression', 'frame_count', 'frame_duration_ms']),
  flags: new Set(['stream']),
};

/** Output tokens that are billed for each partial image (OpenAI's guide "Image generation", 2026-09). */
const tokensPerPartialImage = 100;
/**
 * Most input tokens of an image (same guide), which are the tiles of an image of any proportions, and the most that
 * high fidelity adds.
 */
const tokensPerInputImage = 8_192;

export const readGeneration = (_json: JsonText, body: ImagesBody, raw: JsonObject): RelayedInput =>
  inputOf({ body, raw, mediaTokens: 0, needs: [] });

/** Reads the images of an edit, which are files of a form, or references in JSON, which only a relay can pass on. */
export function readEdit(json: JsonText, body: ImagesBody, raw: JsonObject, form: FormBody | undefined): RelayedInput {
  if (form === undefined) {
    if (findMember(json, 'images') === undefined && findMember(json, 'image') === undefined) {
      const message = 'image: is missing; send multipart/form-data with a file, or `images` in JSON';
      throw fail('invalid_request', { message, param: 'image' });
    }
    const needs = [{ kind: 'image_reference', member: 'images' } as const];
    return inputOf({ body, raw, mediaTokens: undefined, needs });
  }
  const files = form.filesOf('image');
  if (files.length === 0) throw fail('invalid_request', { message: 'image: must be a file', param: 'image' });
  const more = ['mask', 'markup'].filter((name) => form.filesOf(name).length > 0);
  const needs = more.map((member): HubNeed => ({ kind: 'mask', member }));
  return inputOf({ body, raw, mediaTokens: (files.length + more.length) * tokensPerInputImage, needs });
}

interface ImageCounts {
  readonly body: ImagesBody;
  readonly raw: JsonObject;
  readonly mediaTokens: number | undefined;
  readonly needs: readonly HubNeed[];
}

function inputOf({ body, raw, mediaTokens, needs }: ImageCounts): RelayedInput {
  const { prompt, n, size, quality, partial_images: partialImages } = body;
  const count = n ?? 1;
  const images = { count, size: size ?? undefined, quality: quality ?? undefined };
  return {
    size: {
      maxOutputTokens: undefined,
      isOutputOpen: true,
      choices: count,
      // Partial images are written for each image that was requested.
      predictionBytes: tokensPerPartialImage * (partialImages ?? 0),
      mediaTokens,
      mediaKind: 'imageInput',
      units: { images },
    },
    promptBytes: Buffer.byteLength(prompt),
    hubNeeds: [{ kind: 'image_model', member: 'model' }, ...needs, ...imageNeeds(raw)],
    features: dearerFormats(raw),
  };
}

/** Values of the fields for the look of an image that need no feature, because every image model has these values. */
const plainValues: Readonly<Record<string, readonly unknown[]>> = {
  size: ['auto'],
  quality: ['auto'],
  background: ['auto', 'opaque'],
  output_format: ['png'],
  response_format: ['b64_json'],
  output_compression: [100],
  input_fidelity: ['low'],
  complexity: [],
  style: [],
  svg: [],
  frame_count: [],
  frame_duration_ms: [],
};
/** Options that are passed on as they were sent. */
export const imageOptions = Object.keys(plainValues);

function imageNeeds(raw: JsonObject): readonly HubNeed[] {
  const options = imageOptions.flatMap((member): HubNeed[] => {
    const value = raw[member] ?? undefined;
    if (value === undefined || plainValues[member]?.includes(value)) return [];
    return [{ kind: 'image_option', member, value: `${member}=${value}` }];
  });
  return raw.stream === true ? [...options, { kind: 'image_option', member: 'stream' }] : options;
}

/**
 * Returns the more expensive formats. A GIF consists of several images, and a further model makes an SVG, whose tokens
 * are reported separately.
 */
function dearerFormats({ output_format: format, svg }: JsonObject): readonly Feature[] {
  const members = [
    ...(format === 'gif' || format === 'svg' ? ['output_format'] : []),
    ...((svg ?? undefined) === undefined ? [] : ['svg']),
  ];
  return members.map((member) => ({ extra: 'image_formats', member }));
}
