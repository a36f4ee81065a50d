// Implements Amazon Bedrock's Converse and ConverseStream. A stream consists of binary messages, with lengths and
// checksums.
import { EventStreamCodec } from '@smithy/core/event-streams';
import {
  type Choice,
  choiceOf,
  type Frame,
  piecesOf,
  type SimulatedCompletion,
  type TokenCounts,
  usageMember,
} from '../answer.ts';
import type { SimulatorCall, SimulatorFormat } from '../call.ts';
import { fragmentsOf, jsonFrame } from '../frames.ts';
import { plainRequest } from '../model-request.ts';
import { redactedReasoning, signatureOf } from '../signature.ts';
import { tokensOf } from '../tokens.ts';
import { converseRefusals, readConverse } from './bedrock-converse-request.ts';

const types: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['ValidationException', 'The provided request is not valid.'],
  401: ['UnauthorizedException', 'The request is not authorized.'],
  403: ['AccessDeniedException', "You don't have access to the model with the specified model ID."],
  404: ['ResourceNotFoundException', 'Could not resolve the foundation model from the provided model identifier.'],
  408: ['ModelTimeoutException', 'Model has timed out in processing the request. Try your request again.'],
  424: ['ModelErrorException', 'The model returned an error while processing the request.'],
  429: ['ThrottlingException', 'Too many requests, please wait before trying again.'],
  503: ['ServiceUnavailableException', 'Bedrock is unable to process your request.'],
};

/** Type and message by code. */
const errorsByCode: Readonly<Record<string, readonly [type: string, message: string]>> = {
  UnrecognizedClientException: [
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ],
  context_length_exceeded: ['ValidationException', 'Input is too long for requested model.'],
  max_tokens_exceeded: [
    'ValidationException',
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
  ],
  content_policy_violation: [
    'ValidationException',
    'The model returned the following errors: Output blocked by content filtering policy',
  ],
  unsupported_parameter: [
    'ValidationException',
    'The model returned the following errors: Malformed input request: extraneous key [logit_bias] is not permitted, please reformat your input and try again.',
  ],
  unsupported_value: [
    'ValidationException',
    'The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled.',
  ],
  invalid_function_parameters: [
    'ValidationException',
    'The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.',
  ],
  invalid_image_url: ['ValidationException', 'The model returned the following errors: Could not process image'],
  image_too_large: [
    'ValidationException',
    'The model returned the following errors: messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  ],
  invalid_image_format: [
    'ValidationException',
    "Value 'tiff' at 'messages.1.member.content.1.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [jpeg, png, gif, webp]",
  ],
  insufficient_quota: ['ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.'],
  rate_limit_exceeded: ['ThrottlingException', 'Too many tokens, please wait before trying again.'],
};

const internal = [
  'InternalServerException',
  'The system encountered an unexpected error during processing. Try your request again.',
] as const;

/** A block of an answer: as a whole, and as a stream begins and continues it. Only a tool use has a beginning. */
interface ConverseAnswerBlock {
  readonly whole: object;
  readonly start?: object;
  readonly deltas: readonly object[];
}

function blocksOf({ reasoning, hasRedactedReasoning, ...choice }: Choice): readonly ConverseAnswerBlock[] {
  const redacted = { reasoningContent: { redactedContent: redactedReasoning } };
  const spokenText = choice.refusal ?? choice.content ?? '';
  return [
    ...(reasoning === undefined ? [] : [reasoningBlock(reasoning)]),
    ...(hasRedactedReasoning ? [{ whole: redacted, deltas: [redacted] }] : []),
    ...(spokenText === ''
      ? []
      : [textBlock(spokenText, choice.refusal === undefined ? piecesOf(choice) : tokensOf(spokenText))]),
    ...choice.toolCalls.map(({ id, name, arguments: text }) => {
      const toolUse = { toolUseId: id.replace(/^call_/, 'tooluse_'), name };
      return {
        whole: { toolUse: { ...toolUse, input: JSON.parse(text) } },
        start: { toolUse },
        deltas: fragmentsOf(text).map((input) => ({ toolUse: { input } })),
      };
    }),
  ];
}

function reasoningBlock(text: string): ConverseAnswerBlock {
  const signature = signatureOf(text);
  return {
    whole: { reasoningContent: { reasoningText: { text, signature } } },
    deltas: [...tokensOf(text).map((piece) => ({ text: piece })), { signature }].map((reasoningContent) => ({
      reasoningContent,
    })),
  };
}

const textBlock = (text: string, pieces: readonly string[]): ConverseAnswerBlock => ({
  whole: { text },
  deltas: pieces.map((piece) => ({ text: piece })),
});

/** Returns the input without cached or written tokens. A value that is not a number is unchanged. */
function usageJson({ input, cached, written, writtenForHour, output }: TokenCounts) {
  const beside = cached + written;
  const details = [
    { ttl: '5m', inputTokens: written - writtenForHour },
    { ttl: '1h', inputTokens: writtenForHour },
  ];
  return {
    inputTokens: beside === 0 ? input : input - beside,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: written,
    ...(written ? { cacheDetails: details.filter(({ inputTokens }) => inputTokens > 0) } : {}),
  };
}

function stopReasonOf({ finishReason, refusal, stopSequence }: Choice): string | null {
  const reasons = {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    content_filter: 'content_filtered',
  };
  if (refusal !== undefined) return 'content_filtered';
  if (finishReason === 'stop' && stopSequence !== undefined) return 'stop_sequence';
  return finishReason && reasons[finishReason];
}

const metrics = { metrics: { latencyMs: 1 } };

/** Returns the stop sequence that ended a Claude's answer, if the request asks for it. */
const stopMember = ({ bodyText }: SimulatorCall, { stopSequence }: Choice) =>
  stopSequence !== undefined && bodyText.includes('"/delta/stop_sequence"')
    ? { additionalModelResponseFields: { delta: { stop_sequence: stopSequence } } }
    : {};

const json = (call: SimulatorCall, completion: SimulatedCompletion) => ({
  output: { message: { role: 'assistant', content: blocksOf(choiceOf(completion)).map(({ whole }) => whole) } },
  stopReason: stopReasonOf(choiceOf(completion)),
  ...stopMember(call, choiceOf(completion)),
  ...usageMember('usage', completion, usageJson),
  ...metrics,
});

/** Returns an event. Bedrock pads each event with `p`, so that its length does not reveal its text. */
const event = (carries: Frame['carries'], name: string, members: object): Frame =>
  jsonFrame(carries, { ...members, p: 'abcdefgh' }, name);

function frames(call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] {
  const choice = choiceOf(completion);
  const blocks = blocksOf(choice).flatMap(({ start, deltas }, contentBlockIndex) => [
    ...(start === undefined ? [] : [event('other', 'contentBlockStart', { contentBlockIndex, start })]),
    ...deltas.map((delta) => event('output', 'contentBlockDelta', { contentBlockIndex, delta })),
    event('other', 'contentBlockStop', { contentBlockIndex }),
  ]);
  const usage = usageMember('usage', completion, usageJson);
  return [
    event('role', 'messageStart', { role: 'assistant' }),
    ...blocks,
    event('finish', 'messageStop', { stopReason: stopReasonOf(choice), ...stopMember(call, choice) }),
    ...('usage' in usage ? [event('usage', 'metadata', { ...usage, ...metrics })] : []),
  ];
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

export function encode({ event: name = '', text }: Pick<Frame, 'event' | 'text'>): Uint8Array {
  const kind = name.endsWith('Exception') ? 'exception' : 'event';
  const header = (value: string) => ({ type: 'string' as const, value });
  const headers = {
    [`:${kind}-type`]: header(name),
    ':content-type': header('application/json'),
    ':message-type': header(kind),
  };
  return codec.encode({ headers, body: Buffer.from(text, 'utf8') });
}

export const converse: SimulatorFormat = {
  name: 'converse',
  path: /^\/model\/(?<model>.+)\/(?<method>converse|converse-stream)$/,
  requestIdHeader: 'x-amzn-requestid',
  idPrefix: '',
  streamType: 'application/vnd.amazon.eventstream',
  answerMembers: ['output', 'role', 'start', 'delta', 'stopReason'],
  keepAlive: '',
  wrongCredential: { status: 403, code: 'UnrecognizedClientException' },
  refusals: converseRefusals,
  read: readConverse,
  json,
  frames,
  encode,
  error: bedrockError,
  errorFrames: (_call, _completion, code) => {
    const { name, body } = bedrockException(code);
    return [jsonFrame('other', body, name)];
  },
};

interface CountBody {
  readonly input?: { readonly converse?: unknown; readonly invokeModel?: { readonly body?: string } };
}

/** Counts the tokens of a conversation, or of the body of an invocation. */
export const converseTokens: SimulatorFormat = {
  ...converse,
  refusals: [],
  name: 'converse-tokens',
  path: /^\/model\/(?<model>.+)\/count-tokens$/,
  answerMembers: ['inputTokens'],
  read({ body, ...rest }) {
    const { converse: conversation, invokeModel } = (body as CountBody | undefined)?.input ?? {};
    if (invokeModel !== undefined) {
      const text = Buffer.from(invokeModel.body ?? '', 'base64').toString('utf8');
      return { ...plainRequest, model: rest.fromPath.model ?? '', turns: [{ role: 'user', text }] };
    }
    const request = readConverse({ ...rest, body: conversation });
    return typeof request === 'string' ? request : { ...request, isStream: false };
  },
  json: (_call, completion) => usageMember('inputTokens', completion, ({ input }) => input),
};

// Writes errors as Amazon Bedrock does. The codes come from the simulator's model names, or are Bedrock's own types.

function typeAndMessage(status: number, code = ''): readonly [type: string, message: string] {
  const [type, message] =
    types[status] ?? (status < 500 ? ['ValidationException', 'The request is not valid.'] : internal);
  return errorsByCode[code] ?? (code.endsWith('Exception') ? [code, message] : [type, message]);
}

export function bedrockError(status: number, code?: string, message?: string) {
  const [type, text] = typeAndMessage(status, code);
  return { body: { message: message ?? text }, headers: { 'x-amzn-errortype': type } };
}

/** Returns the exception that ends a stream, if its name begins with a small letter. */
function bedrockException(code?: string): { readonly name: string; readonly body: object } {
  const [type, message] = typeAndMessage(500, code);
  return { name: `${type.charAt(0).toLowerCase()}${type.slice(1)}`, body: { message } };
}
