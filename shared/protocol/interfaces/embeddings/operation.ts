import { arrayOf, type InterfaceOperation, objectSchema, passedHeaders } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'createEmbeddings',
  summary: 'Embeddings',
  description:
    'Vectors of texts: at most 2,048 inputs. Only the input costs. Translated for models of Bedrock, Gemini and Vertex, which take texts alone, `dimensions` where the model has them, and of Cohere `input_type` (`search_document` if left out).',
  body: {
    kind: 'vendor',
    members: { input: { description: 'A text, a list of texts, a list of tokens, or a list of such lists.' } },
    required: ['input'],
    example: { model: 'acme/embed-1', input: ['Hello', 'World'] },
    answer: objectSchema({
      data: arrayOf({}),
      usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
    }),
    streams: false,
  },
  requestHeaders: passedHeaders,
};
