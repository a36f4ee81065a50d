// How much of a Responses request goes in, and how much may come out.
import type { CallSize, JsonText } from '../../wire/index.ts';
import { boundedByContext, type Media, measureImage, sumOfMedia } from '../index.ts';
import { imageTypes, partsOf } from './response-parts.ts';
import { keptIds, type ResponsesBody } from './responses-body.ts';

export function responseSize(body: ResponsesBody, json: JsonText): CallSize {
  const { tokens, dataCharacters, isElsewhere } = sumOfMedia(mediaIn(body));
  return {
    maxOutputTokens: body.max_output_tokens ?? undefined,
    isOutputOpen: (body.max_output_tokens ?? null) === null,
    namesNoBound: (body.max_output_tokens ?? null) === null,
    choices: 1,
    predictionBytes: 0,
    textBytes: json.compactBytes - dataCharacters,
    // What the provider keeps comes into the context too, and only the context bounds it.
    mediaTokens: keptIds(body) === undefined ? tokens : undefined,
    hasMediaElsewhere: isElsewhere,
    contexts: 1,
    answersMax: 1,
  };
}

function* mediaIn({ input }: ResponsesBody): Generator<Media> {
  for (const { part } of partsOf(input)) if (!isText(part)) yield imageOf(part) ?? boundedByContext;
}

const textTypes: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'reasoning_text',
  'summary_text',
]);
const isText = ({ type }: Readonly<Record<string, unknown>>): boolean => textTypes.has(type);

function imageOf({ type, image_url: url, detail }: Readonly<Record<string, unknown>>) {
  return imageTypes.has(type) && typeof url === 'string' ? measureImage({ url, detail }) : undefined;
}
