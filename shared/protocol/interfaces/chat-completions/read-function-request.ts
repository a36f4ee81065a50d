// The body of a function call. Only the members that a function does not fix are checked here: any other is
// invalid_function_request, whatever its type.
import { GatewayError } from '../../../errors/index.ts';
import { functionBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { type JsonText, parseJson } from '../../wire/index.ts';
import { membersOf, orFault, type RequestReading, readMembers } from '../index.ts';
import type { ChatRequest } from './chat-request.ts';
import { readChatRequest } from './read-chat-request.ts';

/** Of a larger one it is told what is wrong with these, then that it is too large. */
const checked = {
  names: new Set(['model', 'messages']),
  shapes: { messages: { items: membersOf({ role: {} }) } },
  indivisible: new Set<string>(),
};

export const readFunctionRequest = (json: JsonText, reading: RequestReading): ChatRequest | GatewayError =>
  orFault(() => read(json, reading));

function read(json: JsonText, { bodyBytes, dropsIdleMembers }: RequestReading): ChatRequest | GatewayError {
  const isWithinSize = bodyBytes <= functionBodyMaxBytes;
  const raw = isWithinSize ? (parseJson(json.text) as Record<string, unknown>) : readMembers(json, checked);
  const { model, messages } = raw;
  const request = readChatRequest({ model, messages });
  if (request instanceof GatewayError) return request;
  return { ...request, raw: dropsIdleMembers ? withoutIdleMembers(raw) : raw };
}

/** Members that frameworks always send and that ask for nothing. */
const idle: Readonly<Record<string, (value: unknown) => boolean>> = {
  stream: (value) => value === false,
  n: (value) => value === 1,
  tools: (value) => Array.isArray(value) && value.length === 0,
  store: (value) => value === false,
  parallel_tool_calls: () => true,
};

/** A copy without members that ask for nothing, null included. */
const withoutIdleMembers = (raw: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(raw).filter(
      ([name, value]) => value !== null && !(Object.hasOwn(idle, name) && idle[name]?.(value) === true),
    ),
  );
