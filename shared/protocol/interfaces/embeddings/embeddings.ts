// The interface of embeddings: text in, vectors out, no stream.
import * as z from 'zod/mini';
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { plainMembers, relayedInterface } from '../index.ts';
import { readEmbeddingsAnswer, writeEmbeddings } from './embeddings-answer.ts';
import { readEmbeddingsInput } from './embeddings-request.ts';

export const embeddings = relayedInterface({
  id: 'embeddings',
  telemetryOperation: 'embeddings',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  packageModels: 'embedding',
  upstreamPath: '/embeddings',
  takesLong: false,
  schema: z.looseObject(plainMembers),
  uncheckedNames: ['dimensions'],
  // Thousands of texts are checked in the text.
  unparsedName: 'input',
  promptMember: 'input',
  readInput: readEmbeddingsInput,
  readAnswer: readEmbeddingsAnswer,
  writeAnswer: writeEmbeddings,
  answerMaxBytes: largeBodyMaxBytes,
});
