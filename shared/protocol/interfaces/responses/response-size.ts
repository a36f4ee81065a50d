// Computes the input and output sizes of a Responses request.
import { type CallSize, isJsonObject, type JsonObject, type JsonText, type StateReference } from '../../wire/index.ts';
import { boundedByContext, bringsInput, claudeToolTokens, type Media, openImageMeasure, sumOfMedia } from '../index.ts';
import { imageTypes, partsOf, toolListsOf } from './response-parts.ts';
import type { ResponsesBody } from './responses-body.ts';

export function responseSize(body: ResponsesBody, json: JsonText, providerState: readonly StateReference[]): CallSize {
  const { tokens, dataCharacters, isElsewhere } = sumOfMedia(mediaIn(body));
  // The provider reads the whole input, writes a summary, and only then the answer, which makes two answers on one
  // bill.
  const samplings = asksForCompaction(body.context_management) ? 2 : 1;
  const mediaTokens = !bringsInput(providerState) && tokens !== undefined ? tokens * samplings : undefined;
  return {
    maxOutputTokens: body.max_output_tokens ?? undefined,
    isOutputOpen: (body.max_output_tokens ?? null) === null,
    namesNoBound: (body.max_output_tokens ?? null) === null,
    keepsBound: true,
    choices: samplings,
    predictionBytes: 0,
    textBytes: (json.compactBytes - dataCharacters) * samplings,
    // Input that the provider stores counts too, and only the context bounds it.
    mediaTokens,
    claudeToolTokens: claudeToolTokens(toolsOf(body), asksForJson(body.text)) * samplings,
    hasMediaElsewhere: isElsewhere,
    contexts: samplings,
    answersMax: 1,
  };
}

export const toolsOf = (body: ResponsesBody): unknown[] =>
  [...toolListsOf(body)].flatMap(({ list }) => (Array.isArray(list) ? list : []));

export const asksForJson = (text: unknown): boolean =>
  isJsonObject(text) && isJsonObject(text.format) && text.format.type !== 'text';

const asksForCompaction = (edits: unknown): boolean =>
  Array.isArray(edits) && edits.some((edit) => isJsonObject(edit) && edit.type === 'compaction');

export function* mediaIn({ input }: ResponsesBody): Generator<Media> {
  const measure = openImageMeasure();
  for (const { part } of partsOf(input)) if (!isText(part)) yield imageOf(part, measure) ?? boundedByContext;
}

const textTypes: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'reasoning_text',
  'summary_text',
]);
const isText = ({ type }: JsonObject): boolean => textTypes.has(type);

function imageOf({ type, image_url: url, detail }: JsonObject, measure: ReturnType<typeof openImageMeasure>) {
  return imageTypes.has(type) && typeof url === 'string' ? measure({ url, detail }) : undefined;
}
