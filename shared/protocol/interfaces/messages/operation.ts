import { headerNames } from '../../../foundation/constants/index.ts';
import { arrayOf, costHeader, type InterfaceOperation, objectSchema } from '../../description/index.ts';

const messagesHeaders = {
  [headerNames.apiKey]: 'The key, in place of `Authorization`.',
  'anthropic-version': 'Reaches the provider.',
  'anthropic-beta': 'Reaches the provider.',
  [headerNames.messagesSessionId]: 'The session, where no header of the gateway names it.',
};
const messagesAnswerHeaders = { [headerNames.messagesRequestId]: 'As `x-request-id`.' };

export const operation: InterfaceOperation = {
  operationId: 'createMessage',
  summary: 'A message',
  description:
    "Anthropic's Messages, translated for providers that do not speak it. Errors have its form, with our code in `error_code` and `error.details.error_code`.",
  body: {
    kind: 'vendor',
    members: {
      messages: arrayOf({ type: 'object' }),
      max_tokens: { type: 'integer', minimum: 0, description: 'What the worst case is counted from.' },
    },
    required: ['messages', 'max_tokens'],
    example: { model: 'acme/large-1', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] },
    answer: objectSchema({ type: { const: 'message' }, content: arrayOf({}), usage: { type: 'object' } }),
    streams: true,
  },
  requestHeaders: messagesHeaders,
  answerHeaders: { ...messagesAnswerHeaders, ...costHeader },
};

export const countOperation: InterfaceOperation = {
  operationId: 'countTokens',
  summary: 'The tokens of a message',
  description: 'Costs nothing, and needs no credit.',
  body: {
    kind: 'vendor',
    members: { messages: arrayOf({ type: 'object' }) },
    required: ['messages'],
    example: { model: 'acme/large-1', messages: [{ role: 'user', content: 'Hello' }] },
    answer: objectSchema({ input_tokens: { type: 'integer' } }),
    streams: false,
  },
  requestHeaders: messagesHeaders,
  answerHeaders: messagesAnswerHeaders,
};
