// What the client gets: the provider's message or events, byte for byte. Clients are strict about members of `usage` here, so
// the cost of a message stands in a header.
import { headerNames } from '../../../foundation/constants/index.ts';
import { brokenStreamMessages, toEventLine } from '../../wire/index.ts';
import type { AnswerCost, JsonAnswer, StreamWriter, WrittenAnswer } from '../index.ts';

export const writeMessage = ({ text }: JsonAnswer, { costUsd }: AnswerCost): WrittenAnswer => ({
  body: text,
  headers: { [headerNames.cost]: costUsd },
});

export const openEventWriter = (): StreamWriter => ({
  event: ({ name, text }) => toEventLine(text, name),
  ping: toEventLine(JSON.stringify({ type: 'ping' }), 'ping'),
  // The provider's own end is the last event.
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    const error = {
      type: 'api_error',
      message: `${code}: ${message}`,
      details: { error_code: code },
    };
    return toEventLine(JSON.stringify({ type: 'error', error }), 'error');
  },
});
