import { type InterfaceOperation, schemaReference } from '../../description/index.ts';

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

const requestExamples = {
  plain: { summary: 'The cheapest model that can do it', value: { model: 'auto', ...hello } },
  stream: {
    summary: 'A stream with its cost at the end',
    value: { model: 'auto', ...hello, stream: true, usage: { include: true } },
  },
  private: {
    summary: 'Only providers that keep no data, the fastest first',
    value: { model: 'auto', ...hello, provider: { zdr: true, sort: 'latency' } },
  },
  function: {
    summary: 'A stored function',
    value: {
      model: 'gw/function/label-ticket',
      messages: [{ role: 'user', content: '{"ticket": "I cannot log in"}' }],
    },
  },
};

const streamExample = [
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}',
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  'data: [DONE]',
  '',
].join('\n\n');

const eventStream = {
  schema: {
    type: 'string',
    description:
      'Server-sent events. Every `data` is a `ChatCompletionChunk`, or a `StreamError` where the stream broke, and the last is `[DONE]`; below `/openai/v1` a stream that broke ends with its `StreamError`.',
  },
  /** OpenAPI 3.1 cannot express the schema of one event. */
  'x-gw-event-data': {
    anyOf: [schemaReference('StreamError'), schemaReference('ChatCompletionChunk'), { const: '[DONE]' }],
  },
  example: streamExample,
};

export const operation: InterfaceOperation = {
  operationId: 'createChatCompletion',
  summary: 'A chat completion',
  description:
    'Checks, routes, prices and relays a standard chat completion. Providers are tried one after another until the first real output. A JSON answer has 55 seconds, and so has the first output of a stream, which then goes on for the stream budget of the gateway (55 seconds, or as many as the operator set).',
  body: {
    kind: 'described',
    bounds: 'At most 4 MiB; calls of stored functions at most 256 KiB.',
    schema: schemaReference('ChatCompletionRequest'),
    examples: requestExamples,
    answers: {
      'application/json': { schema: schemaReference('ChatCompletion') },
      'text/event-stream': eventStream,
    },
  },
};
