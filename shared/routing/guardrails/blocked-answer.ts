// An answer whose text is blocked: the guardrail's message in its place, and an end that says so.
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { findMember, type JsonText, replaceValues, rewriteMembers } from '../../protocol/wire/index.ts';
import { wordAt } from './event-texts.ts';

/** Undefined for an interface whose answers are not checked. */
export function blockedAnswer(interfaceId: InterfaceId, json: JsonText, message: string): string | undefined {
  if (interfaceId === 'messages') {
    const content = [{ type: 'text', text: message }];
    return rewriteMembers(
      json,
      new Map<string, unknown>([...Object.entries({ content, stop_reason: 'refusal', stop_sequence: null })]),
    );
  }
  if (interfaceId === 'responses') {
    const output = [messageItem(wordAt(json, 'id') ?? '', message)];
    const end = {
      output,
      output_text: undefined,
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    };
    return rewriteMembers(json, new Map<string, unknown>(Object.entries(end)));
  }
  if (interfaceId === 'transcriptions') {
    const said = { text: inPlaceOf(wordAt(json, 'text') ?? '', message), ...spokenTwice };
    return rewriteMembers(json, new Map<string, unknown>(Object.entries(said)));
  }
  const choices = findMember(json, 'choices');
  if (interfaceId !== 'chat-completions' || choices === undefined || !json.isArray(choices)) return undefined;
  const said = {
    message: { role: 'assistant', content: message, refusal: null },
    logprobs: null,
    finish_reason: 'content_filter',
  };
  const replaced = [...json.inside(choices)]
    .filter((choice) => json.isObject(choice))
    .map((choice) => [choice, rewriteMembers(json, new Map<string, unknown>(Object.entries(said)), choice)] as const);
  return replaceValues(json, replaced);
}

const spokenTwice = { segments: undefined, words: undefined, logprobs: undefined };

/** Subtitles stay such, of one line. */
function inPlaceOf(text: string, message: string): string {
  if (/^WEBVTT\b/.test(text)) return `WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${message}\n\n`;
  return /^\d+\r?\n\d+:\d\d:\d\d,/.test(text) ? `1\n00:00:00,000 --> 00:00:01,000\n${message}\n\n` : message;
}

export const messageItem = (responseId: string, text: string, status = 'completed') => ({
  id: `msg_guardrail_${responseId.replaceAll(/\W/g, '')}`,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
