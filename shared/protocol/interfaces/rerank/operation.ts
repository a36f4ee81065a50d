import { arrayOf, costHeader, type InterfaceOperation, objectSchema, text } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'rerankDocuments',
  summary: 'An order of documents',
  description:
    "Cohere's Rerank, at `/v2/rerank` too: billed by searches, one for a hundred documents, at `price_per_request`. For models of Bedrock too, without `rank_fields`, `return_documents` and bounds of a document.",
  body: {
    kind: 'vendor',
    members: {
      query: text,
      documents: arrayOf({ description: 'A text, or an object.' }),
      top_n: { type: ['integer', 'null'], minimum: 1, description: 'How many of them are given.' },
    },
    required: ['query', 'documents'],
    example: { model: 'acme/rerank-1', query: 'Hello', documents: ['Hello, World', 'Goodbye'], top_n: 1 },
    answer: objectSchema({ results: arrayOf({}) }),
    streams: false,
  },
  answerHeaders: costHeader,
};
