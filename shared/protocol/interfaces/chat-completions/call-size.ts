// Input and output sizes of a chat completion.
import { chargedAnswersMax } from '../../../foundation/constants/index.ts';
import { type CallSize, findMember, isJsonObject, type JsonText } from '../../wire/index.ts';
import { boundedByContext, bringsInput, claudeToolTokens, type Media, openImageMeasure, sumOfMedia } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';

export function callSizeOf(request: ChatMembers): CallSize {
  const { raw, maxOutputTokens, isOutputOpen, namesNoBound, choices, responseSchema, providerState } = request;
  const json = request.text();
  const { tokens, dataCharacters, isElsewhere } = mediaOf(request);
  return {
    maxOutputTokens,
    isOutputOpen,
    namesNoBound,
    choices,
    predictionBytes: raw.prediction == null ? 0 : bytesOfMember(json, 'prediction'),
    textBytes: json.compactBytes - dataCharacters,
    // Input that the provider stores counts too, and only the context bounds it.
    mediaTokens: bringsInput(providerState) ? undefined : tokens,
    claudeToolTokens: claudeToolTokens(raw.tools ?? raw.functions, asksForJson(raw.response_format)),
    hasMediaElsewhere: isElsewhere,
    contexts: 1,
    answersMax: responseSchema === undefined ? 1 : chargedAnswersMax,
  };
}

const asksForJson = (format: unknown): boolean => isJsonObject(format) && format.type !== 'text';

function bytesOfMember(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}

// The media of a chat-completions request.

const mediaOf = ({ raw }: Pick<ChatMembers, 'raw'>): Media => sumOfMedia(mediaIn(raw.messages));

function* mediaIn(messages: unknown): Generator<Media> {
  const measure = openImageMeasure();
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    // An assistant message that refers to its audio brings it into the context again.
    if (isJsonObject(message.audio)) yield boundedByContext;
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (!isTextPart(part)) yield imageOf(part, measure) ?? boundedByContext;
    }
  }
}

const isTextPart = (part: unknown): boolean => isJsonObject(part) && (part.type === 'text' || part.type === 'refusal');

function imageOf(part: unknown, measure: ReturnType<typeof openImageMeasure>): Media | undefined {
  if (!isJsonObject(part) || part.type !== 'image_url') return undefined;
  const { url, detail } = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url, detail: undefined };
  return typeof url === 'string' ? measure({ url, detail }) : undefined;
}
