// What the money and the limits of a call know of its request: how much goes in and how much may come out. Read once from
// the body, so that what is held, what is estimated and what a provider's limits count rest on the same figures.
import { chargedAnswersMax } from '../../foundation/constants/index.ts';
import { type ChatRequest, findMember, type JsonText } from '../../protocol/wire/index.ts';
import type { CallSize } from '../billing/index.ts';
import { mediaOf } from './media.ts';

export function callSizeOf(request: ChatRequest): CallSize {
  const { raw, maxOutputTokens, isOutputOpen, choices, responseSchema } = request;
  const json = request.text();
  const { tokens: mediaTokens, dataCharacters } = mediaOf(request);
  return {
    maxOutputTokens,
    isOutputOpen,
    choices,
    predictionBytes: raw.prediction == null ? 0 : bytesOfMember(json, 'prediction'),
    textBytes: json.compactBytes - dataCharacters,
    mediaTokens,
    answersMax: responseSchema === undefined ? 1 : chargedAnswersMax,
  };
}

function bytesOfMember(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}

/** Of a workflow's step before it runs: answers of other steps come into its messages, so only the context bounds them. */
export const withUnknownInput = (size: CallSize): CallSize => ({ ...size, mediaTokens: undefined });
