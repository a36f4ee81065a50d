// Input and output sizes of a call of generateContent.
import { type CallSize, type JsonObject, type JsonText, type StateReference, toCount } from '../../wire/index.ts';
import {
  boundedByContext,
  bringsInput,
  claudeToolTokens,
  isStorageUrl,
  type Media,
  openImageMeasure,
  providerStateIn,
  sumOfMedia,
} from '../index.ts';
import { fileOf, functionsOf, generationConfigOf, inlineDataOf, partsOf } from './parts.ts';

export const mediaOf = (body: JsonObject): Media => sumOfMedia(mediaIn(body));

function* mediaIn(body: JsonObject): Generator<Media> {
  const measure = openImageMeasure();
  for (const { part } of partsOf(body)) {
    const inline = inlineDataOf(part);
    if (inline?.mimeType.startsWith('image/') === true) {
      const url = `data:${inline.mimeType};base64,${inline.data}`;
      yield { ...measure({ url, detail: undefined }), dataCharacters: inline.data.length };
    } else if (inline !== undefined) yield { ...boundedByContext, dataCharacters: inline.data.length };
    else if (fileOf(part) !== undefined) yield { ...boundedByContext, isElsewhere: true };
  }
}

export const toolTokensOf = (body: JsonObject): number => {
  const { responseSchema, responseJsonSchema } = generationConfigOf(body);
  return claudeToolTokens(
    functionsOf(body.tools).map(() => ({ type: 'function' })),
    (responseSchema ?? responseJsonSchema ?? null) !== null,
  );
};

interface SizedRequest {
  readonly body: JsonObject;
  readonly json: JsonText;
  readonly media: Media;
  readonly providerState: readonly StateReference[];
}

export function callSizeOf({ body, json, media, providerState }: SizedRequest): CallSize {
  const { maxOutputTokens, candidateCount } = generationConfigOf(body);
  return {
    maxOutputTokens: toCount(maxOutputTokens),
    // Without a bound the model's own counts.
    isOutputOpen: (maxOutputTokens ?? null) === null,
    namesNoBound: (maxOutputTokens ?? null) === null,
    choices: Math.max(1, toCount(candidateCount) ?? 1),
    predictionBytes: 0,
    textBytes: json.compactBytes - media.dataCharacters,
    // Input that the provider keeps counts too, and only the context bounds it.
    mediaTokens: bringsInput(providerState) ? undefined : media.tokens,
    claudeToolTokens: toolTokensOf(body),
    hasMediaElsewhere: media.isElsewhere,
    contexts: 1,
    answersMax: 1,
  };
}

/** A cached content, and files that Google, or a bucket, keeps. */
export function providerStateOf(body: JsonObject): readonly StateReference[] {
  const files = new Map<string, StateReference>();
  for (const { part, path } of partsOf(body)) {
    const uri = fileOf(part)?.uri;
    if (uri === undefined || files.has(uri) || !isStorageUrl(uri)) continue;
    files.set(uri, { member: `${path}.fileData.fileUri`, id: uri, isCompared: false });
  }
  return [...providerStateIn({ cachedContent: body.cachedContent }), ...files.values()];
}
