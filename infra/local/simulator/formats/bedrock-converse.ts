// Amazon Bedrock's Converse and ConverseStream. A stream is made of binary messages, with lengths and checksums.
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
import { bedrockError, bedrockException } from './bedrock-errors.ts';

/** A block of an answer: whole, and as a stream begins and continues it. Only a tool use has a beginning. */
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

/** Input without cached or written tokens. A value that is no number is unchanged. */
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

/** The stop sequence that ended a Claude's answer, where the request asks for it. */
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

/** Bedrock pads each event with `p`, so that its length does not reveal its text. */
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

/** Counts a conversation, or the body of an invocation. */
export const converseTokens: SimulatorFormat = {
  ...converse,
  refusals: [],
  name: 'converse-tokens',
  path: /^\/model\/(?<model>.+)\/count-tokens$/,
  answerMembers: ['inputTokens'],
  read({ body, ...received }) {
    const { converse: conversation, invokeModel } = (body as CountBody | undefined)?.input ?? {};
    if (invokeModel !== undefined) {
      const text = Buffer.from(invokeModel.body ?? '', 'base64').toString('utf8');
      return { ...plainRequest, model: received.fromPath.model ?? '', turns: [{ role: 'user', text }] };
    }
    const request = readConverse({ ...received, body: conversation });
    return typeof request === 'string' ? request : { ...request, isStream: false };
  },
  json: (_call, completion) => usageMember('inputTokens', completion, ({ input }) => input),
};
