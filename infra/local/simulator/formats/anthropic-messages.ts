// Implements Anthropic's Messages, and the counting of their tokens.

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
import { fragmentsOf, jsonFrame, serverSentEvent } from '../frames.ts';
import { redactedReasoning, signatureOf } from '../signature.ts';
import { tokensOf } from '../tokens.ts';
import { messagesError } from './anthropic-errors.ts';
import { messagesRefusals, readMessages } from './anthropic-messages-request.ts';

/** A block of an answer: as a whole, and as a stream begins and continues it. */
interface MessagesAnswerBlock {
  readonly whole: object;
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf({ reasoning, hasRedactedReasoning, ...choice }: Choice): readonly MessagesAnswerBlock[] {
  const redacted = { type: 'redacted_thinking', data: redactedReasoning };
  const spokenText = choice.refusal ?? choice.content ?? '';
  return [
    ...(reasoning === undefined ? [] : [thinkingBlock(reasoning)]),
    ...(hasRedactedReasoning ? [{ whole: redacted, start: redacted, deltas: [] }] : []),
    ...(spokenText === ''
      ? []
      : [textBlock(spokenText, choice.refusal === undefined ? piecesOf(choice) : tokensOf(spokenText))]),
    ...choice.toolCalls.map(({ id, name, arguments: text }) => {
      const head = { type: 'tool_use', id: id.replace(/^call_/, 'toolu_'), name };
      const deltas = ['', ...fragmentsOf(text)].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
      return { whole: { ...head, input: JSON.parse(text) }, start: { ...head, input: {} }, deltas };
    }),
  ];
}

function thinkingBlock(thinking: string): MessagesAnswerBlock {
  const signature = signatureOf(thinking);
  const deltas = tokensOf(thinking).map((text) => ({ type: 'thinking_delta', thinking: text }));
  return {
    whole: { type: 'thinking', thinking, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...deltas, { type: 'signature_delta', signature }],
  };
}

const textBlock = (text: string, pieces: readonly string[]): MessagesAnswerBlock => ({
  whole: { type: 'text', text },
  start: { type: 'text', text: '' },
  deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
});

/**
 * Returns the input without cached or written tokens, as Anthropic counts it. A value that is not a number is
 * unchanged.
 */
function inputJson({ input, cached, written, writtenForHour }: TokenCounts) {
  const beside = cached + written;
  return {
    input_tokens: beside === 0 ? input : input - beside,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: {
      ephemeral_5m_input_tokens: written - writtenForHour,
      ephemeral_1h_input_tokens: writtenForHour,
    },
  };
}

const usageJson = (counts: TokenCounts) => ({
  ...inputJson(counts),
  output_tokens: counts.output,
  ...(counts.reasoning ? { output_tokens_details: { thinking_tokens: counts.reasoning } } : {}),
  service_tier: 'standard',
});

/** Returns the report in `message_start`. Only one token was generated before this event. */
const firstUsageJson = (counts: TokenCounts) => ({ ...inputJson(counts), output_tokens: 1, service_tier: 'standard' });

/** Returns the report in `message_delta`, without the details of written tokens. */
function lastUsageJson(counts: TokenCounts) {
  const { cache_creation: _inStart, service_tier: _alsoInStart, ...usage } = usageJson(counts);
  return usage;
}

function stopOf({ finishReason, refusal, stopSequence }: Choice) {
  const reasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' };
  const isRefused = refusal !== undefined;
  const isStopped = finishReason === 'stop' && stopSequence !== undefined;
  return {
    stop_reason: isRefused ? 'refusal' : isStopped ? 'stop_sequence' : finishReason && reasons[finishReason],
    stop_sequence: isStopped ? stopSequence : null,
  };
}

const answerHead = ({ id, model }: SimulatedCompletion) => ({ id, type: 'message', role: 'assistant', model });

const json = (_call: SimulatorCall, completion: SimulatedCompletion) => ({
  ...answerHead(completion),
  content: blocksOf(choiceOf(completion)).map(({ whole }) => whole),
  ...stopOf(choiceOf(completion)),
  ...usageMember('usage', completion, usageJson),
});

const event = (carries: Frame['carries'], type: string, members: object = {}): Frame =>
  jsonFrame(carries, { type, ...members }, type);

function frames(_call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] {
  const message = {
    ...answerHead(completion),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...usageMember('usage', completion, firstUsageJson),
  };
  const choice = choiceOf(completion);
  const blocks = blocksOf(choice).flatMap(({ start, deltas }, index) => [
    event('other', 'content_block_start', { index, content_block: start }),
    ...(index === 0 ? [event('other', 'ping')] : []),
    ...deltas.map((delta) => event('output', 'content_block_delta', { index, delta })),
    event('other', 'content_block_stop', { index }),
  ]);
  const ending = { delta: stopOf(choice), ...usageMember('usage', completion, lastUsageJson) };
  return [
    event('role', 'message_start', { message }),
    ...blocks,
    event('finish', 'message_delta', ending),
    event('done', 'message_stop'),
  ];
}

export const messages: SimulatorFormat = {
  name: 'messages',
  path: /^\/messages$/,
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  idPrefix: 'msg_',
  streamType: 'text/event-stream; charset=utf-8',
  answerMembers: ['content', 'message', 'content_block', 'delta'],
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
  wrongCredential: { status: 401, code: 'authentication_error' },
  refusals: messagesRefusals,
  read: (call) => {
    const request = readMessages(call);
    const isBounded = typeof (call.body as { max_tokens?: unknown } | null)?.max_tokens === 'number';
    return typeof request === 'string' || isBounded ? request : 'max_tokens: Field required';
  },
  json,
  frames,
  encode: serverSentEvent,
  error: (status, code, message) => ({ body: messagesError(status, code, message) }),
  errorFrames: (_call, _completion, code) => [jsonFrame('other', messagesError(500, code), 'error')],
};

export const countTokens: SimulatorFormat = {
  ...messages,
  refusals: [],
  name: 'count-tokens',
  path: /^\/messages\/count_tokens$/,
  read: (call) => {
    const request = readMessages(call);
    return typeof request === 'string' ? request : { ...request, isStream: false };
  },
  json: (_call, completion) => usageMember('input_tokens', completion, ({ input }) => input),
};
