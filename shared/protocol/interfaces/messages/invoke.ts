// Defines Messages in the form of Amazon Bedrock's InvokeModel. The model and the delivery are in the path, betas are
// in the body, and a stream consists of frames of AWS. Everything else is the same as in Messages.
import { fail, type GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { frameStreamType } from '../../../foundation/constants/index.ts';
import { frameText } from '../../event-frames/index.ts';
import {
  type AnswerEvent,
  brokenStreamMessages,
  type JsonText,
  type MidStreamCode,
  type RequestNeeds,
} from '../../wire/index.ts';
import {
  type ClientInterface,
  type ClientRequest,
  credentialPlaces,
  orFault,
  type RejectionToTell,
  type RequestReading,
  type StreamWriter,
} from '../index.ts';
import { messages } from './messages.ts';
import { messagesSchema } from './messages-request.ts';
import { checkMessages } from './read-messages-request.ts';

export const invoke: ClientInterface = {
  ...messages,
  id: 'invoke',
  credentialPlace: credentialPlaces.aws,
  passedHeaders: [],
  passesQuery: false,
  repairWords,
  readRequest: readInvokeRequest,
  operation: async (of) => (await import('./operation.ts')).invokeOperationOf(of),
  playground: undefined,
};

/**
 * Returns the words of the rejection. Agents on Bedrock search for the words of Bedrock, and other agents for the words
 * of Anthropic.
 */
function repairWords(rejection: RejectionToTell): string | undefined {
  const words = messages.repairWords?.(rejection);
  return rejection.reason === 'context_length_exceeded' ? `Input is too long for requested model: ${words}` : words;
}

const streamOperation = 'invoke-with-response-stream';

function readInvokeRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  return orFault(() => {
    const stream = reading.path?.operation === streamOperation;
    const request = checkMessages(messagesSchema, json, { ...reading, changes: changesFor(stream) });
    return {
      ...request,
      interfaceId: 'invoke',
      namesModelsOf: 'bedrock',
      stream,
      needs: once(() => withStreaming(request.needs(), stream)),
      headers: betaHeader(request.raw.anthropic_beta),
      streamForm: { contentType: frameStreamType, keepAlive: chunkOf('{"type":"ping"}') },
      openStreamWriter: openFrameWriter,
    };
  });
}

/** Returns the changes that turn fields of InvokeModel into fields of Messages. */
const changesFor = (stream: boolean): readonly (readonly [string, unknown])[] => [
  ['anthropic_version', undefined],
  ['anthropic_beta', undefined],
  ['stream', stream ? true : undefined],
];

const betaName = /^[\w.-]{1,128}$/;

/** Returns the header in which Anthropic expects betas. */
function betaHeader(betas: unknown): Readonly<Record<string, string>> | undefined {
  if (!Array.isArray(betas) || betas.length === 0) return undefined;
  const bad = betas.findIndex((beta) => typeof beta !== 'string' || !betaName.test(beta));
  if (bad >= 0) {
    const param = `anthropic_beta[${bad}]`;
    throw fail('invalid_request', { message: `${param}: is no name of a beta`, param });
  }
  return { 'anthropic-beta': betas.join(',') };
}

const withStreaming = (needs: RequestNeeds, stream: boolean): RequestNeeds =>
  stream ? { ...needs, features: [...needs.features, { name: 'streaming', member: streamOperation }] } : needs;

const chunkOf = (text: string): string =>
  frameText({ name: 'chunk', text: JSON.stringify({ bytes: Buffer.from(text).toString('base64') }) });

/** Exceptions of a stream of InvokeModel, from the service model of @aws-sdk/client-bedrock-runtime 3.1162. */
const exceptions: Readonly<Record<MidStreamCode, string>> = {
  no_available_provider: 'modelStreamErrorException',
  request_deadline_exceeded: 'modelTimeoutException',
  rate_limited: 'throttlingException',
  invalid_request: 'validationException',
  schema_validation_failed: 'validationException',
};

const openFrameWriter = (): StreamWriter => ({
  event: ({ text }: AnswerEvent) => chunkOf(text),
  // The provider's own end is the last event.
  beforeEnd: () => '',
  end: '',
  broken: (code, message = brokenStreamMessages[code]) =>
    frameText({ name: exceptions[code], text: JSON.stringify({ message, code }) }),
});
