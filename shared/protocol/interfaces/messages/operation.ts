import { headerNames } from '../../../foundation/constants/index.ts';
import {
  arrayOf,
  costHeader,
  type InterfaceOperation,
  objectSchema,
  type VendorBody,
} from '../../description/index.ts';

const messagesHeaders = {
  [headerNames.apiKey]: 'The key, in place of `Authorization`.',
  'anthropic-version': 'Reaches the provider.',
  'anthropic-beta': 'Reaches the provider.',
  [headerNames.messagesSessionId]: 'The session, where no header of the gateway names it.',
};
const messagesAnswerHeaders = { [headerNames.messagesRequestId]: 'As `x-request-id`.' };

const messagesBody: VendorBody = {
  kind: 'vendor',
  members: {
    messages: arrayOf({ type: 'object' }),
    max_tokens: { type: 'integer', minimum: 0, description: 'What the worst case is counted from.' },
  },
  required: ['messages', 'max_tokens'],
  example: { model: 'acme/large-1', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] },
  answer: objectSchema({ type: { const: 'message' }, content: arrayOf({}), usage: { type: 'object' } }),
  streams: true,
};

export const operation: InterfaceOperation = {
  operationId: 'createMessage',
  summary: 'A message',
  description:
    "Anthropic's Messages, translated for providers that do not speak it. Errors have its form, with our code in `error_code` and `error.details.error_code`.",
  body: messagesBody,
  requestHeaders: messagesHeaders,
  answerHeaders: { ...messagesAnswerHeaders, ...costHeader },
};

export const countOperation: InterfaceOperation = {
  operationId: 'countTokens',
  summary: 'The tokens of a message',
  description: 'Costs nothing, and needs no credit.',
  body: {
    kind: 'vendor',
    members: { messages: arrayOf({ type: 'object' }) },
    required: ['messages'],
    example: { model: 'acme/large-1', messages: [{ role: 'user', content: 'Hello' }] },
    answer: objectSchema({ input_tokens: { type: 'integer' } }),
    streams: false,
  },
  requestHeaders: messagesHeaders,
  answerHeaders: messagesAnswerHeaders,
};

const invokeBody: VendorBody = {
  ...messagesBody,
  members: { anthropic_version: { type: 'string' }, ...messagesBody.members },
  example: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] },
  streams: false,
};

const invokeOperation: InterfaceOperation = {
  operationId: 'invokeModel',
  summary: 'A message of InvokeModel',
  description:
    "Amazon Bedrock's InvokeModel with a body of Claude's Messages, which becomes that of Messages: the model is in the path, as Converse has it. Errors have the form of AWS, with our code beside the message.",
  body: invokeBody,
  answerHeaders: { [headerNames.amznRequestId]: 'As `x-request-id`.', ...costHeader },
};

const invokeStreamOperation: InterfaceOperation = {
  ...invokeOperation,
  operationId: 'invokeModelWithResponseStream',
  summary: 'A message of InvokeModel, as a stream',
  body: {
    ...invokeBody,
    answerTypes: {
      'application/vnd.amazon.eventstream': {
        type: 'string',
        format: 'binary',
        description: 'Frames of AWS: an event of Messages in each, and an exception where it broke.',
      },
    },
  },
};

export const invokeOperationOf = (of: string | undefined): InterfaceOperation =>
  of === 'invoke' ? invokeOperation : invokeStreamOperation;
