// What the client gets: the provider's answer or chunks, with the usage members of the gateway.
import { hasCounts, rewriteMembers, toEventLine } from '../../wire/index.ts';
import type { AnswerCost, JsonAnswer, StreamWriter, StreamWriting, WrittenAnswer } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';
import { type StreamChunk, textWithoutReasoning, withoutReasoningDeltas } from './provider-answer.ts';
import { brokenStreamEnd, doneLine } from './stream-ending.ts';

export function writeAnswer({ reasoning }: ChatMembers, { json }: JsonAnswer, cost: AnswerCost): WrittenAnswer {
  const changes = new Map([['usage', cost.mergedUsage()]]);
  const isExcluded = reasoning?.exclude === true;
  return { body: isExcluded ? textWithoutReasoning(json, changes) : rewriteMembers(json, changes), headers: {} };
}

export function openChunkWriter(
  { includeUsage, includeMergedUsage, reasoning }: ChatMembers,
  { mergesUsageChunk, endsBrokenStreamWithDone }: StreamWriting,
): StreamWriter {
  const asksMergedUsage = includeMergedUsage || (includeUsage && mergesUsageChunk);
  let head: Record<string, unknown> = {};
  return {
    event(chunk: StreamChunk) {
      head = chunk.head;
      // With the merged usage too, only that one: clients add up what they see.
      if (chunk.details.isUsageOnly && (!includeUsage || asksMergedUsage)) return '';
      const text = reasoning?.exclude === true ? withoutReasoningDeltas(chunk) : chunk.text;
      return text === undefined ? '' : toEventLine(text);
    },
    /** A usage chunk of ours: asked for, or in place of the one that the provider did not send. */
    beforeEnd(reported, cost) {
      const isMissing = reported === undefined || !hasCounts(reported);
      return asksMergedUsage || (includeUsage && isMissing) ? usageLine(head, cost().mergedUsage()) : '';
    },
    end: doneLine,
    broken: (code, message) => brokenStreamEnd(code, endsBrokenStreamWithDone, message),
  };
}

/** The head of the provider's last chunk, no choice, the merged usage. */
const usageLine = ({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string =>
  toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
