// The operations of interfaces that judge, order, speak and listen.
import { arrayOf, flag, objectSchema, text } from './json-schema.ts';
import { binary, costHeader, passedHeaders, relayedOperation } from './relayed-operations.ts';

export const createModeration = relayedOperation({
  operationId: 'createModeration',
  summary: 'A moderation',
  description: "OpenAI's Moderations, relayed alone: free where the model's price is 0.",
  members: {
    input: { description: 'A text, a list of texts, or a list of parts: `text`, and `image_url`.' },
  },
  required: ['input'],
  example: { model: 'acme/moderation-1', input: 'Hello' },
  answer: objectSchema({ results: arrayOf({}) }),
  streams: false,
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
});

export const rerankDocuments = relayedOperation({
  operationId: 'rerankDocuments',
  summary: 'An order of documents',
  description:
    "Cohere's Rerank, at `/v2/rerank` too: billed by searches, one for a hundred documents, at `price_per_request`. For models of Bedrock too, without `rank_fields`, `return_documents` and bounds of a document.",
  members: {
    query: text,
    documents: arrayOf({ description: 'A text, or an object.' }),
    top_n: { type: ['integer', 'null'], minimum: 1, description: 'How many of them are given.' },
  },
  required: ['query', 'documents'],
  example: { model: 'acme/rerank-1', query: 'Hello', documents: ['Hello, World', 'Goodbye'], top_n: 1 },
  answer: objectSchema({ results: arrayOf({}) }),
  streams: false,
  answerHeaders: costHeader,
});

export const createSpeech = relayedOperation({
  operationId: 'createSpeech',
  summary: 'Speech',
  description:
    "OpenAI's Speech, relayed alone: bytes as they come, or events with `stream_format: sse`. Billed by characters, or by tokens that are reported. Where bytes break the connection is cut.",
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
});

export const createTranscription = relayedOperation({
  operationId: 'createTranscription',
  summary: 'The text of audio',
  description:
    "OpenAI's Transcriptions, relayed alone: a form with a file, whose fields of the gateway are JSON, or written as `provider[only][]`. Reserved by the file's length, billed as reported: JSON, a text with `response_format`, or events.",
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
  answerHeaders: costHeader,
});
