// Defines the interface of Anthropic's Messages, and its count of tokens.

import { upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  type ClientInterface,
  credentialPlaces,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type RejectionToTell,
  readTokenCount,
  vendorHeaders,
} from '../index.ts';
import { openEventReader } from './message-events.ts';
import { readMessage } from './read-message.ts';
import { readCountRequest, readMessagesRequest } from './read-messages-request.ts';

export const messages: ClientInterface = {
  id: 'messages',
  telemetryOperation: 'chat',
  upstreamPath: () => '/messages',
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  takesLong: false,
  callsFunctions: false,
  credentialPlace: credentialPlaces.messages,
  // Some organisations have to name the user of a call.
  passedHeaders: [...vendorHeaders, 'anthropic-user-profile-id'],
  passesQuery: true,
  repairWords,
  readRequest: readMessagesRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer: readMessage,
  openEventReader,
  formFields: undefined,
  measureForm: undefined,
  seldomOffered: undefined,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  translation: async () => (await import('./translation/index.ts')).messagesSource,
  packageModels: undefined,
  cacheMarks: { kinds: undefined, onTools: true },
};

/**
 * The count of tokens, with the same routing and without a charge. The count is a separate interface, so that it never
 * gets the answer of a message under the same Idempotency-Key.
 */
export const countTokens: ClientInterface = {
  ...messages,
  id: 'count-tokens',
  telemetryOperation: 'count_tokens',
  upstreamPath: () => '/messages/count_tokens',
  seldomOffered: 'counts tokens',
  readRequest: readCountRequest,
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer: readTokenCount,
  cacheMarks: undefined,
  operation: async () => (await import('./operation.ts')).countOperation,
  playground: undefined,
};

// Writes the words for a rejected request of Messages. Agents search for the words of Anthropic's interface, shorten
// the conversation or drop images, and send it again. Another provider's rejection with the same meaning is therefore
// written in Anthropic's words.

/** Returns undefined if the provider gave no text, or the gateway has no words for the rejection. */
function repairWords(rejection: RejectionToTell): string | undefined {
  const { providerText, reason } = rejection;
  if (providerText !== undefined && ownWords.test(providerText)) return providerText;
  if (reason === 'context_length_exceeded') return overflowWords(rejection);
  if (reason === 'invalid_image' || reason === 'unsupported_image_format')
    return providerText === undefined ? noImage : `${noImage}: ${providerText}`;
  return providerText;
}

const noImage = 'Could not process image';
const ownWords =
  /prompt is too long: \d+ tokens > \d+ maximum|input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+|Could not process image/;

const number = String.raw`(\d[\d,]{0,9})`;
/**
 * Matches `This model's maximum context length is 8192 tokens`, `the maximum number of tokens allowed (8192)`, `Max
 * size: 8000 tokens`.
 */
const limitShape = new RegExp(
  `(?:context (?:length|window|limit|size)|tokens allowed|token limit|max size|maximum)(?: \\w+){0,3}[ (:]+${number}`,
  'i',
);
/**
 * Matches `you requested 9001 tokens (8000 in the messages, 1001 in the completion)`, `your request has 8000 input
 * tokens`.
 */
const inputShape = new RegExp(`${number} (?:in the (?:messages|prompt|input)|input tokens)`, 'i');
const outputShape = new RegExp(
  `${number} (?:in the (?:completion|output)|output tokens)|max_\\w*tokens\\W.{0,40}too large: ${number}`,
  'i',
);
/** Matches figures of a context. Fewer digits, or digits within a name, are a version or a position. */
const figures = /(?<![\w.-])\d[\d,]{2,9}(?![\w-])/g;

const numberIn = (text: string): number => Number(text.replaceAll(',', ''));

function overflowWords({ providerText = '', promptTokens, contextTokens }: RejectionToTell): string {
  const read = (shape: RegExp): number | undefined => {
    const [, first, second] = shape.exec(providerText) ?? [];
    const found = first ?? second;
    return found === undefined ? undefined : numberIn(found);
  };
  const [limit = contextTokens, input, output = 0] = [read(limitShape), read(inputShape), read(outputShape)];
  if (input !== undefined && input <= limit && input + output > limit) {
    return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`;
  }
  const beyond = (providerText.match(figures) ?? []).map(numberIn).filter((figure) => figure > limit);
  const tokens = input ?? (beyond.length > 0 ? Math.max(...beyond) : promptTokens);
  return `prompt is too long: ${Math.max(tokens, limit + 1)} tokens > ${limit} maximum`;
}
