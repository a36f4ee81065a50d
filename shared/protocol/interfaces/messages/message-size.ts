// How much of a Messages call goes in, and how much may come out.
import { type CallSize, isJsonObject } from '../../wire/index.ts';
import { mediaOf } from './message-media.ts';
import type { MessagesMembers } from './messages-request.ts';

export function callSizeOf({ raw, text, maxOutputTokens }: MessagesMembers): CallSize {
  const { tokens, dataCharacters, isElsewhere } = mediaOf(raw.messages);
  // The provider reads all of it, writes a summary, and only then the message: two answers on one bill.
  const samplings = asksForCompaction(raw.context_management) ? 2 : 1;
  return {
    // Thinking is part of it.
    maxOutputTokens,
    isOutputOpen: false,
    choices: samplings,
    predictionBytes: 0,
    textBytes: (text().compactBytes - dataCharacters) * samplings,
    mediaTokens: tokens === undefined ? undefined : tokens * samplings,
    hasMediaElsewhere: isElsewhere,
    contexts: samplings,
    answersMax: 1,
  };
}

const compaction = /^compact(_|$)/;

function asksForCompaction(management: unknown): boolean {
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? management.edits : [];
  return edits.some((edit) => isJsonObject(edit) && typeof edit.type === 'string' && compaction.test(edit.type));
}
