import { arrayOf, costHeader, type InterfaceOperation, objectSchema, passedHeaders } from '../../description/index.ts';

export const operation: InterfaceOperation = {
  operationId: 'createModeration',
  summary: 'A moderation',
  description: "OpenAI's Moderations, relayed alone: free where the model's price is 0.",
  body: {
    kind: 'vendor',
    members: {
      input: { description: 'A text, a list of texts, or a list of parts: `text`, and `image_url`.' },
    },
    required: ['input'],
    example: { model: 'acme/moderation-1', input: 'Hello' },
    answer: objectSchema({ results: arrayOf({}) }),
    streams: false,
  },
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
};
