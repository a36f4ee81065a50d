// Writes the client's answer, which is the provider's answer or chunks, with the gateway's usage fields.
import {
  type AnswerCost,
  brokenStreamMessages,
  doneText,
  hasCounts,
  isJsonObject,
  type JsonAnswer,
  type MidStreamCode,
  rewriteMembers,
  toEventLine,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { answerJson, type StreamWriter, type StreamWriting } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';
import { type StreamChunk, textWithoutReasoning, withoutReasoningDeltas } from './provider-answer.ts';

// Writes the end of a stream of chunks, which is its end marker, or an error line if the stream broke.

/** The end marker, the last line of every stream that ends without an error. */
const doneLine = toEventLine(doneText);

/**
 * Writes the error line. `endsWithDone` means that the end marker follows it. The error is nested, so that SDKs find
 * code and message.
 */
function brokenStreamEnd(
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

/** Maximum number of delayed chunks. A provider sends one or two chunks without a choice. */
const heldMax = 16;

export function openChunkWriter(
  { includeUsage, includeMergedUsage, reasoning }: ChatMembers,
  { mergesUsageChunk, endsBrokenStreamWithDone }: StreamWriting,
): StreamWriter {
  const asksMergedUsage = includeMergedUsage || (includeUsage && mergesUsageChunk);
  const mergesLastChunk = asksMergedUsage && mergesUsageChunk;
  let head: Record<string, unknown> = {};
  let reportedToClient = false;
  /**
   * A chunk that finishes a choice and reports usage, and the chunks after it. The chunk is sent with the merged usage
   * if no choice follows.
   */
  let held: readonly StreamChunk[] = [];
  const lineOf = (chunk: StreamChunk, usage?: Record<string, unknown>): string => {
    const text = reasoning?.exclude === true ? withoutReasoningDeltas(chunk) : chunk.text;
    if (text === undefined) return '';
    return toEventLine(usage === undefined ? text : rewriteMembers(answerJson(text), new Map([['usage', usage]])));
  };
  const release = (merged?: Record<string, unknown>): string => {
    const lines = held.map((chunk, at) => lineOf(chunk, at === 0 ? merged : undefined));
    held = [];
    return lines.join('');
  };
  return {
    event(chunk: StreamChunk) {
      head = chunk.head;
      // With merged usage no other usage is sent, because clients add up the usage that they receive.
      if (chunk.details.isUsageOnly && (!includeUsage || asksMergedUsage)) return '';
      const { usage, choices } = chunk.details;
      const isUsageShown = usage !== undefined && isJsonObject(chunk.head.usage);
      reportedToClient ||= isUsageShown;
      const before = choices.length > 0 || held.length === heldMax ? release() : '';
      const mergesThis = mergesLastChunk && isUsageShown && choices.some(({ finished }) => finished);
      if (!mergesThis && held.length === 0) return before + lineOf(chunk);
      held = [...held, chunk];
      return before;
    },
    /** Writes the gateway's usage chunk if the client requested it, or in place of the provider's missing chunk. */
    beforeEnd(reported, cost) {
      if (held.length > 0) return release(cost().mergedUsage());
      const isMissing = reported === undefined || !hasCounts(reported) || !reportedToClient;
      return asksMergedUsage || (includeUsage && isMissing) ? usageLine(head, cost().mergedUsage()) : '';
    },
    end: doneLine,
    broken: (code, message) => release() + brokenStreamEnd(code, endsBrokenStreamWithDone, message),
  };
}

/** Writes the head of the provider's last chunk with no choice and the merged usage. */
const usageLine = ({ id, created, model }: Record<string, unknown>, usage: Record<string, unknown>): string =>
  toEventLine(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }));
