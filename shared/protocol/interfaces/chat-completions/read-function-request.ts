// The body of a function call. Only the members that a function does not fix are checked here: any other is
// invalid_function_request, whatever its type.
import { GatewayError } from '../../../errors/index.ts';
import { functionBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { type JsonText, parseJson } from '../../wire/index.ts';
import { type RequestReading, readModel } from '../index.ts';
import type { ChatRequest } from './chat-request.ts';
import { withoutIdleMembers } from './idle-members.ts';
import { readChatRequest } from './read-chat-request.ts';

export function readFunctionRequest(
  json: JsonText,
  { bodyBytes, dropsIdleMembers }: RequestReading,
): ChatRequest | GatewayError {
  // A larger one is refused for its size.
  const isWithinSize = bodyBytes <= functionBodyMaxBytes;
  const raw = isWithinSize ? (parseJson(json.text) as Record<string, unknown>) : { model: readModel(json) };
  const { model, messages } = raw;
  const request = readChatRequest({ model, messages: isWithinSize ? messages : [{ role: 'user' }] });
  if (request instanceof GatewayError) return request;
  return { ...request, raw: dropsIdleMembers ? withoutIdleMembers(raw) : raw };
}
