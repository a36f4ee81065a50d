// Reads a provider's images, and writes them for the client with the cost in `usage`. The gateway does not decode the
// images.
import { headerNames, largeBodyMaxBytes, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  type AnswerCost,
  findMember,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  mediaIn,
  pick,
  type ReadAnswer,
  rewriteMembers,
  toCount,
  type Units,
  type UsageReport,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { countValues, type LongValues, membersOf, putBackValues, readListAnswer, takeOutValues } from '../index.ts';

const base64Images: LongValues = {
  memberName: '"b64_json"',
  valueMaxCharacters: largeBodyMaxBytes,
  valuesMax: 128,
};

interface ImagesAnswer extends JsonAnswer {
  readonly values: readonly string[];
}

const words = membersOf({ size: {}, quality: {} });

export async function readImagesAnswer(text: string): Promise<ReadAnswer> {
  const without = await takeOutValues(text, base64Images);
  // Without the images an answer has the usual bound.
  if (without.text.length > upstreamBodyMaxBytes)
    return { kind: 'refused', refused: { usage: undefined, outputBytes: 0 } };
  const read = await readListAnswer(without.text, { list: 'data', readUsage: readImagesUsage });
  if (read.kind !== 'answer') return read;
  const { json } = read.answer;
  const list = findMember(json, 'data');
  const count = list === undefined ? 0 : [...json.inside(list)].length;
  const units = { images: { count, ...wordsIn(pick(json, 0, words)) } };
  const answer: ImagesAnswer = { ...read.answer, text, values: without.values, units };
  return { kind: 'answer', answer };
}

/** Returns size and quality as the answer names them. */
export function wordsIn(object: unknown): Omit<NonNullable<Units['images']>, 'count'> {
  const { size, quality } = isJsonObject(object) ? object : {};
  return {
    size: typeof size === 'string' ? size : undefined,
    quality: typeof quality === 'string' ? quality : undefined,
  };
}

/** Reads the usage. Without details, input counts as images if a request has some, and so does output. */
export function readImagesUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const output = toCount(usage.output_tokens);
  const details = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : { image_tokens: output };
  const input = toCount(usage.input_tokens);
  const inputDetails = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : { image_tokens: input };
  const tokens = {
    input,
    cached: toCount(inputDetails.cached_tokens) ?? 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output,
    reasoning: 0,
    media: mediaIn(inputDetails, details),
  };
  return { tokens, members: usage };
}

interface ImageItem {
  /** Position of its value in the answer. */
  readonly item: number;
  /** Text without the dropped fields, and without its image. */
  readonly text: string;
  /** Returns this text, or a text around it, with its image. */
  readonly withImage: (text: string) => string;
}

/** Yields the objects in `data`. `answer` is a result of `readImagesAnswer`. */
export function* imageItems(answer: JsonAnswer, leftOut: readonly string[]): Generator<ImageItem> {
  const { json, values } = answer as ImagesAnswer;
  const list = findMember(json, 'data');
  if (list === undefined) return;
  const changes = new Map(leftOut.map((name) => [name, undefined]));
  let place = countValues(json.text.slice(0, json.start(list)), base64Images);
  for (const item of json.inside(list)) {
    const end = place + countValues(json.slice(item), base64Images);
    const valuesOfImage = values.slice(place, end);
    place = end;
    if (!json.isObject(item)) continue;
    const withImage = (text: string) => putBackValues({ text, values: valuesOfImage }, base64Images);
    yield { item, text: rewriteMembers(json, changes, item), withImage };
  }
}

/** Writes the answer. `answer` is a result of `readImagesAnswer`. */
export function writeImages(answer: JsonAnswer, { cost, costUsd }: AnswerCost): WrittenAnswer {
  const { values, usage: reported } = answer as ImagesAnswer;
  const usage: JsonObject = { ...reported?.members, cost, cost_usd: costUsd };
  const text = rewriteMembers(answer.json, new Map([['usage', usage]]));
  return { body: putBackValues({ text, values }, base64Images), headers: { [headerNames.cost]: costUsd } };
}
