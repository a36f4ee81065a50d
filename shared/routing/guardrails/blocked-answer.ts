// An answer whose text is blocked: the guardrail's message in its place, and an end that says so.
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { findMember, type JsonText, replaceValues, rewriteMembers } from '../../protocol/wire/index.ts';
import { wordAt } from './event-texts.ts';

/** Undefined for an interface whose answers hold no texts. */
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

export const messageItem = (responseId: string, text: string, status = 'completed') => ({
  id: `msg_guardrail_${responseId.replaceAll(/\W/g, '')}`,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
