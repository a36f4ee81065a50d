// What the client gets: the provider's answer or chunks, with the usage members of the gateway.
import { brokenStreamMessages, hasCounts, type MidStreamCode, rewriteMembers, toEventLine } from '../../wire/index.ts';
import type { AnswerCost, JsonAnswer, StreamWriter, StreamWriting, WrittenAnswer } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';
import { type StreamChunk, textWithoutReasoning, withoutReasoningDeltas } from './provider-answer.ts';

// How a stream of chunks ends: with its end marker, or where it broke with an error line.
export const doneText = '[DONE]';

/** The end marker, the last line of every stream that ends well. */
export const doneLine = toEventLine(doneText);

/** `endsWithDone`: the end marker follows the error line. Nested, so that SDKs find code and message. */
export function brokenStreamEnd(
  code: MidStreamCode,
  endsWithDone: boolean,
  message: string = brokenStreamMessages[code],
): string {
  return toEventLine(JSON.stringify({ error: { code, message } })) + (endsWithDone ? doneLine : '');
}

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
