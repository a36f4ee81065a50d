import { headerNames } from '../../../foundation/constants/index.ts';
import { arrayOf, costHeader, type InterfaceOperation, objectSchema } from '../../description/index.ts';

const bedrockHeaders = { [headerNames.amznRequestId]: 'As `x-request-id`.' };

const conversation = {
  messages: arrayOf({ type: 'object' }),
  system: arrayOf({ type: 'object' }),
  inferenceConfig: {
    type: 'object',
    properties: { maxTokens: { type: 'integer', minimum: 1, description: 'What the worst case is counted from.' } },
  },
  toolConfig: { type: 'object' },
};

const example = { messages: [{ role: 'user', content: [{ text: 'Hello' }] }], inferenceConfig: { maxTokens: 256 } };

const frames = {
  'application/vnd.amazon.eventstream': {
    type: 'string',
    format: 'binary',
    description: 'Frames of AWS: the events of ConverseStream, and an exception where it broke.',
  },
} as const;

const described =
  "Amazon Bedrock's Converse, translated for providers that do not speak it. `modelId` is a model of the list, or the upstream name or ARN of one of its entries at Amazon Bedrock; the prefix of a region is served by entries of that prefix alone. Errors have the form of AWS, with our code beside the message.";

const converseOperation: InterfaceOperation = {
  operationId: 'converse',
  summary: 'An answer of Converse',
  description: described,
  body: {
    kind: 'vendor',
    members: conversation,
    required: ['messages'],
    example,
    answer: objectSchema({
      output: { type: 'object' },
      stopReason: { type: 'string' },
      usage: { type: 'object' },
      metrics: { type: 'object' },
    }),
    streams: false,
  },
  answerHeaders: { ...bedrockHeaders, ...costHeader },
};

const streamOperation: InterfaceOperation = {
  ...converseOperation,
  operationId: 'converseStream',
  summary: 'An answer of Converse, as a stream',
  body: {
    kind: 'vendor',
    members: conversation,
    required: ['messages'],
    example,
    answer: { type: 'object' },
    answerTypes: frames,
    streams: false,
  },
};

export const operationOf = (of: string | undefined): InterfaceOperation =>
  of === 'converse-stream' ? streamOperation : converseOperation;

export const countOperation: InterfaceOperation = {
  operationId: 'countTokensOfConverse',
  summary: 'The tokens of a conversation of Converse',
  description: 'Costs nothing, and needs no credit.',
  body: {
    kind: 'vendor',
    members: {
      input: objectSchema(
        { converse: { type: 'object' }, invokeModel: { type: 'object' } },
        { optional: ['converse', 'invokeModel'] },
      ),
    },
    required: ['input'],
    example: { input: { converse: { messages: example.messages } } },
    answer: objectSchema({ inputTokens: { type: 'integer' } }),
    streams: false,
  },
};
