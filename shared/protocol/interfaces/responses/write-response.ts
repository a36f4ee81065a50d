// Writes the client's answer, which is the provider's events, byte for byte, or its JSON with the cost in `usage`.
import {
  type AnswerCost,
  type AnswerEvent,
  brokenStreamMessages,
  findMember,
  isJsonObject,
  type JsonAnswer,
  replaceValues,
  rewriteMembers,
  toEventLine,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { readUsageMember, type StreamWriter } from '../index.ts';
import type { ResponseEventDetails } from './response-events.ts';
import { responseText } from './response-opening.ts';

export function writeResponse({ json, usage }: JsonAnswer, { cost, costUsd }: AnswerCost): WrittenAnswer {
  // An answer that the gateway wrote has an estimate if its provider reported nothing.
  const usageMembers = usage?.members ?? readUsageMember(json);
  const merged = { ...(isJsonObject(usageMembers) ? usageMembers : {}), cost, cost_usd: costUsd };
  const member = findMember(json, 'usage');
  const body =
    member === undefined
      ? rewriteMembers(json, new Map([['usage', merged]]))
      : replaceValues(json, [[member, JSON.stringify(merged)]]);
  return { body, headers: {} };
}

/** Settings of the request that a broken response repeats. */
interface ResponseRequest {
  readonly model: string;
  /** Returns the JSON text of an object. */
  readonly settings: () => string;
}

export function openResponseWriter(request: ResponseRequest): StreamWriter {
  let sequenceNumber = -1;
  let responseId: string | undefined;
  let model: string | undefined;
  let createdSeconds: number | undefined;
  return {
    event({ name, text, details }: AnswerEvent & { readonly details: ResponseEventDetails }) {
      sequenceNumber = details.sequenceNumber ?? sequenceNumber;
      responseId = details.responseId ?? responseId;
      model = details.model ?? model;
      createdSeconds = details.createdSeconds ?? createdSeconds;
      return toEventLine(text, name);
    },
    // The provider's own end is the last event.
    beforeEnd: () => '',
    end: '',
    /** Writes two events. SDKs throw the first event, and agents show the text of the second event. */
    broken(code, message = brokenStreamMessages[code]) {
      const error = { type: 'error', code, message, sequence_number: sequenceNumber + 1 };
      const response = responseText({
        id: responseId,
        createdSeconds: createdSeconds ?? 0,
        model: model ?? request.model,
        status: 'failed',
        error: { code: 'server_error', message: `${code}: ${message}` },
        settings: request.settings(),
      });
      const failed = `{"type":"response.failed","sequence_number":${sequenceNumber + 2},"response":${response}}`;
      return toEventLine(JSON.stringify(error), 'error') + toEventLine(failed, 'response.failed');
    },
  };
}
