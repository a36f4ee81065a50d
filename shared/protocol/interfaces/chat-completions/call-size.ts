// How much of a chat completion goes in, and how much may come out.
import { chargedAnswersMax } from '../../../foundation/constants/index.ts';
import { type CallSize, findMember, type JsonText } from '../../wire/index.ts';
import type { ChatMembers } from './chat-request.ts';
import { mediaOf } from './media.ts';

export function callSizeOf(request: ChatMembers): CallSize {
  const { raw, maxOutputTokens, isOutputOpen, namesNoBound, choices, responseSchema } = request;
  const json = request.text();
  const { tokens: mediaTokens, dataCharacters, isElsewhere } = mediaOf(request);
  return {
    maxOutputTokens,
    isOutputOpen,
    namesNoBound,
    choices,
    predictionBytes: raw.prediction == null ? 0 : bytesOfMember(json, 'prediction'),
    textBytes: json.compactBytes - dataCharacters,
    mediaTokens,
    hasMediaElsewhere: isElsewhere,
    contexts: 1,
    answersMax: responseSchema === undefined ? 1 : chargedAnswersMax,
  };
}

function bytesOfMember(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}
