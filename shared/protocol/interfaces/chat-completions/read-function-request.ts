// The body of a function call. Only the members that a function does not fix are checked here: any other is
// invalid_function_request, whatever its type.
import { GatewayError } from '../../../errors/index.ts';
import { functionBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { type JsonText, parseJson } from '../../wire/index.ts';
import { membersOf, orFault, type RequestReading, readMembers } from '../index.ts';
import type { ChatRequest } from './chat-request.ts';
import { withoutIdleMembers } from './idle-members.ts';
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
