import { binary, costHeader, flag, type InterfaceOperation, objectSchema, text } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'createTranscription',
  summary: 'The text of audio',
  description:
    "OpenAI's Transcriptions, relayed alone: a form with a file, whose fields of the gateway are JSON, or written as `provider[only][]`. Reserved by the file's length, billed as reported: JSON, a text with `response_format`, or events.",
  body: {
    kind: 'vendor',
    members: { response_format: text, language: text, prompt: text, temperature: { type: 'number' }, stream: flag },
    required: [],
    example: { model: 'acme/whisper-1', file: 'speech.wav' },
    form: { files: { file: binary }, needed: ['file'], isOnly: true },
    answer: objectSchema({ text }),
    answerTypes: {
      'application/json': objectSchema({ text }),
      'text/plain': text,
      'text/event-stream': text,
    },
    streams: true,
  },
  answerHeaders: costHeader,
};
