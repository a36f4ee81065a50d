// Reads the input of a function call. The input is found among the call's messages, then parsed as the revision
// declares it, as free text or as one JSON object that satisfies a schema.
import { isDeepStrictEqual } from 'node:util';
import { fail, type GatewayError } from '../../errors/index.ts';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import { checkValue, type SchemaWork } from '../../protocol/json-schema/index.ts';
import { isJsonObject, type JsonObject, readJsonBody } from '../../protocol/wire/index.ts';
import type { MessageTemplate, RevisionContent } from './function-document.ts';
import { noSteps, valueAt } from './render.ts';
import { revisionReferences } from './template.ts';

export type FunctionInput = string | JsonObject;

/** Reads the declared input from the text of a message. Throws invalid_function_request. */
export async function readDeclaredInput(
  content: RevisionContent,
  text: string,
  work?: SchemaWork,
): Promise<FunctionInput> {
  if (content.input.type === 'text') return text;
  if (text.length > inOneTurn.checkedCharacters) await nextTurn();
  const read = readJsonBody(Buffer.from(text));
  if (read.kind === 'unreadable') throw refuse('The input message must hold exactly one JSON object and nothing else.');
  if (text.length > inOneTurn.checkedCharacters) await nextTurn();
  await checkInput(content, read.value, work);
  return read.value;
}

/**
 * Checks an input, which may also be the input of a test case. Every path that a template needs is looked up before any
 * step of a workflow is paid for. Throws invalid_function_request.
 */
export async function checkInput(content: RevisionContent, input: FunctionInput, work?: SchemaWork): Promise<void> {
  if (content.input.type === 'object') {
    if (typeof input === 'string') throw refuse('The input must be a JSON object.');
    const problem = await checkValue(content.input.schema, input, work);
    if (problem !== undefined) {
      throw refuse(`The input${problem.path === '' ? '' : ` at ${problem.path}`}: ${problem.message}`);
    }
  } else if (typeof input !== 'string') throw refuse('The input must be text.');
  for (const reference of revisionReferences(content)) {
    if (reference.source === 'input') valueAt(reference, { input, steps: noSteps });
  }
}

/** Returns the text of the input message. Throws invalid_function_request. */
export function readInputMessage(fixed: readonly MessageTemplate[], messageInput: unknown): string {
  const messages: unknown[] = Array.isArray(messageInput) ? messageInput : [];
  if (messages.length !== 1 && messages.length !== fixed.length + 1) {
    throw refuse(`${wayToCall(fixed)}: ${messages.length} messages were sent.`);
  }
  for (const [index, message] of messages.slice(0, -1).entries()) {
    const expected = fixed[index];
    if (expected === undefined || !isSameMessage(expected, message)) {
      // The text is not quoted, because callers of a function may not be allowed to read it.
      throw refuse(`messages[${index}] differs from the fixed message that the function has there.`);
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

/** Compares messages; the sent message is read no deeper than the fixed message. */
const isSameMessage = (expected: MessageTemplate, message: unknown): boolean =>
  isDeepStrictEqual(plain(expected), plain(message));

/**
 * Converts a message to one of its several forms. Fields may be null, and a content of one text part equals that text.
 */
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

function readText(message: JsonObject): string {
  const surplus = Object.keys(message).filter((name) => name !== 'role' && name !== 'content');
  if (surplus.length > 0) throw refuse(`The input message takes role and content only, not ${listNames(surplus)}.`);
  if (typeof message.content !== 'string') throw refuse('The content of the input message must be one text.');
  return message.content;
}

// Messages of invalid_function_request name fields and fixed values, shortened; values of the client are not repeated.
const textShownMax = 80;
const namesShownMax = 5;

/** Returns the error. `member` is its path in the request. */
export const refuse = (message: string, member = 'messages'): GatewayError =>
  fail('invalid_function_request', { message, param: shorten(member) });

export const shorten = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= textShownMax ? text : `${text.slice(0, textShownMax)}…`;
};

export const listNames = (names: readonly string[]): string =>
  `${names.slice(0, namesShownMax).map(shorten).join(', ')}${names.length > namesShownMax ? ' and others' : ''}`;
