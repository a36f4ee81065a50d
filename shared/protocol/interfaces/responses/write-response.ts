// What the client gets: the provider's events, byte for byte; its JSON with the cost in `usage`.
import { brokenStreamMessages, isJsonObject, rewriteMembers, toEventLine } from '../../wire/index.ts';
import {
  type AnswerCost,
  type AnswerEvent,
  type JsonAnswer,
  readUsageMember,
  type StreamWriter,
  type WrittenAnswer,
} from '../index.ts';
import type { ResponseEventDetails } from './response-events.ts';

export function writeResponse({ json, usage }: JsonAnswer, { cost, costUsd }: AnswerCost): WrittenAnswer {
  // An answer of the gateway's own has an estimate where its provider reported nothing.
  const said = usage?.members ?? readUsageMember(json);
  const merged = { ...(isJsonObject(said) ? said : {}), cost, cost_usd: costUsd };
  return { body: rewriteMembers(json, new Map([['usage', merged]])), headers: {} };
}

export function openResponseWriter(): StreamWriter {
  let sequenceNumber = -1;
  let responseId: string | undefined;
  return {
    event({ name, text, details }: AnswerEvent & { readonly details: ResponseEventDetails }) {
      sequenceNumber = details.sequenceNumber ?? sequenceNumber;
      responseId = details.responseId ?? responseId;
      return toEventLine(text, name);
    },
    // The provider's own end is the last event.
    beforeEnd: () => '',
    end: '',
    /** SDKs throw the first of the two, agents show the text of the second. */
    broken(code, message = brokenStreamMessages[code]) {
      const error = { type: 'error', code, message, sequence_number: sequenceNumber + 1 };
      const response = {
        id: responseId,
        object: 'response',
        status: 'failed',
        error: { code: 'server_error', message: `${code}: ${message}` },
      };
      const failed = { type: 'response.failed', sequence_number: sequenceNumber + 2, response };
      return toEventLine(JSON.stringify(error), 'error') + toEventLine(JSON.stringify(failed), 'response.failed');
    },
  };
}
