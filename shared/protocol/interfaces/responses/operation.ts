import { headerNames } from '../../../foundation/constants/index.ts';
import { arrayOf, type InterfaceOperation, objectSchema, passedHeaders } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'createResponse',
  summary: 'A response',
  description:
    "OpenAI's Responses, translated for providers that do not speak it. `previous_response_id`, `conversation` and `prompt` bind a call to the provider that made the response (unknown: to the first candidate); `background` is refused.",
  body: {
    kind: 'vendor',
    members: {
      input: { description: 'A text, or a list of items.' },
      max_output_tokens: { type: ['integer', 'null'], minimum: 1, description: 'What the worst case is counted from.' },
      store: { type: ['boolean', 'null'], description: 'A response that a provider keeps is not cached here.' },
    },
    required: [],
    example: { model: 'acme/large-1', input: 'Hello' },
    answer: objectSchema({
      object: { const: 'response' },
      output: arrayOf({}),
      usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
    }),
    streams: true,
  },
  requestHeaders: {
    ...passedHeaders,
    [headerNames.responsesSessionId]: 'The session, where no header of the gateway names it.',
  },
};

const answeringModel = { input: { description: 'A text, or a list of items.' } };

export const countOperation: InterfaceOperation = {
  operationId: 'countInputTokens',
  summary: 'The tokens of the input of a response',
  description:
    'Costs nothing, and needs no credit. Estimated where the provider of the model does not speak Responses.',
  body: {
    kind: 'vendor',
    members: answeringModel,
    required: [],
    example: { model: 'acme/large-1', input: 'Hello' },
    answer: objectSchema({ object: { const: 'response.input_tokens' }, input_tokens: { type: 'integer' } }),
    streams: false,
  },
  requestHeaders: passedHeaders,
};

export const compactOperation: InterfaceOperation = {
  operationId: 'compactResponse',
  summary: 'A shorter form of a conversation',
  description:
    'A call of the model: its output is the input of later responses. The most that is reserved for it is the output bound of the model. Only where a provider speaks Responses.',
  body: {
    kind: 'vendor',
    members: answeringModel,
    required: [],
    example: { model: 'acme/large-1', input: 'Hello' },
    answer: objectSchema({
      object: { const: 'response.compaction' },
      output: arrayOf({}),
      usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
    }),
    streams: false,
  },
  requestHeaders: passedHeaders,
};
