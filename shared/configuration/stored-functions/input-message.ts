// Finds the input among the messages of a function call.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';
import type { MessageTemplate } from './document.ts';
import { listNames, refuse, shorten } from './refusal.ts';

type Message = Readonly<Record<string, unknown>>;

/** The text of the input message. Throws invalid_function_request. */
export function readInputMessage(fixed: readonly MessageTemplate[], sent: unknown): string {
  const messages: unknown[] = Array.isArray(sent) ? sent : [];
  if (messages.length !== 1 && messages.length !== fixed.length + 1) {
    throw refuse(`${wayToCall(fixed)}: ${messages.length} messages were sent.`);
  }
  for (const [index, message] of messages.slice(0, -1).entries()) {
    const expected = fixed[index];
    if (expected === undefined || !isSameMessage(expected, message)) {
      throw refuse(`messages[${index}] differs from the fixed message of the function: ${shorten(plain(expected))}`);
    }
  }
  const input = plain(messages.at(-1));
  if (!isJsonObject(input) || input.role !== 'user') {
    throw refuse(`${wayToCall(fixed)}: the last message has another role.`);
  }
  return readText(input);
}

function wayToCall(fixed: readonly MessageTemplate[]): string {
  if (fixed.length === 0) return 'Send one user message that holds the input, and no other';
  const prefix = fixed.length === 1 ? 'the fixed message' : `the ${fixed.length} fixed messages`;
  return `Send one user message that holds the input, alone or after ${prefix} of the function`;
}

const isSameMessage = (expected: MessageTemplate, sent: unknown): boolean =>
  canonicalJson(plain(expected)) === canonicalJson(plain(sent));

/** The same message has several forms: members may be null, and a content of one text part is that text. */
function plain(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const members = Object.entries(message).filter(([, value]) => (value ?? null) !== null);
  return Object.fromEntries(
    members.map(([name, value]) => [name, name === 'content' ? (onlyText(value) ?? value) : value]),
  );
}

function onlyText(content: unknown): string | undefined {
  const [part, ...more]: unknown[] = Array.isArray(content) ? content : [];
  const isText = isJsonObject(part) && part.type === 'text' && Object.keys(part).length === 2;
  return isText && typeof part.text === 'string' && more.length === 0 ? part.text : undefined;
}

function readText(message: Message): string {
  const surplus = Object.keys(message).filter((name) => name !== 'role' && name !== 'content');
  if (surplus.length > 0) throw refuse(`The input message takes role and content only, not ${listNames(surplus)}.`);
  if (typeof message.content !== 'string') throw refuse('The content of the input message must be one text.');
  return message.content;
}
