// How much of a Messages call goes in, and how much may come out.
import type { CallSize } from '../../wire/index.ts';
import { mediaOf } from './message-media.ts';
import type { MessagesMembers } from './messages-request.ts';

export function callSizeOf({ raw, text, maxOutputTokens }: MessagesMembers): CallSize {
  const { tokens: mediaTokens, dataCharacters } = mediaOf(raw.messages);
  return {
    // Thinking is part of it.
    maxOutputTokens,
    isOutputOpen: false,
    choices: 1,
    predictionBytes: 0,
    textBytes: text().compactBytes - dataCharacters,
    mediaTokens,
    contexts: 1,
    answersMax: 1,
  };
}
