import { binary, type InterfaceOperation, objectSchema, text } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'createSpeech',
  summary: 'Speech',
  description:
    "OpenAI's Speech, relayed alone: bytes as they come, or events with `stream_format: sse`. Billed by characters, or by tokens that are reported. Where bytes break the connection is cut.",
  body: {
    kind: 'vendor',
    members: {
      input: text,
      voice: { description: 'A name, or an object with an `id`.' },
      instructions: text,
      response_format: text,
      speed: { type: 'number' },
      stream_format: text,
    },
    required: ['input'],
    example: { model: 'acme/speech-1', input: 'Hello', voice: 'alloy' },
    answer: objectSchema({}),
    answerTypes: { 'audio/*': binary, 'text/event-stream': text },
    streams: false,
  },
};
