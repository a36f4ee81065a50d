// Implements OpenAI's Responses.
import {
  type Choice,
  choiceOf,
  type Frame,
  piecesOf,
  type SimulatedCompletion,
  type TokenCounts,
  totalTokens,
  usageMember,
} from '../answer.ts';
import type { SimulatorCall, SimulatorFormat } from '../call.ts';
import { errorBody } from '../error-bodies.ts';
import { fragmentsOf, jsonFrame, serverSentEvent } from '../frames.ts';
import { encryptedBy } from '../signature.ts';
import { tokensOf } from '../tokens.ts';
import {
  itemsOfInput,
  readInput,
  readResponses,
  responsesRefusals,
  type SimulatedResponsesBody,
} from './openai-responses-request.ts';

/** An item of the output: as a whole, as a stream begins it, and its events in between. */
interface OutputItem {
  readonly whole: object;
  readonly start: object;
  readonly events: (place: object) => readonly Frame[];
}

const event = (carries: Frame['carries'], type: string, members: object): Frame =>
  jsonFrame(carries, { type, ...members }, type);

function itemsOf(call: SimulatorCall, { reasoning, hasRedactedReasoning, ...choice }: Choice): readonly OutputItem[] {
  const { include, model } = call.body as SimulatedResponsesBody;
  const isEncrypted = include?.includes('reasoning.encrypted_content') ?? false;
  const encrypted = (text: string) => (isEncrypted ? encryptedBy(model, text) : undefined);
  const spokenText = choice.refusal ?? choice.content ?? '';
  return [
    ...(reasoning === undefined ? [] : [reasoningItem(call, reasoning, encrypted(reasoning))]),
    ...(hasRedactedReasoning ? [reasoningItem(call, '', encrypted(''))] : []),
    ...(spokenText === '' ? [] : [messageItem(call, choice)]),
    ...choice.toolCalls.map((toolCall) => functionCallItem(call, toolCall)),
  ];
}

function reasoningItem(call: SimulatorCall, text: string, encrypted: string | undefined): OutputItem {
  const head = { id: call.newId('rs_'), type: 'reasoning' };
  const ending = encrypted === undefined ? {} : { encrypted_content: encrypted };
  const part = (shown: string) => ({ type: 'summary_text', text: shown });
  return {
    start: { ...head, summary: [], ...ending },
    whole: { ...head, summary: text === '' ? [] : [part(text)], ...ending },
    events: (item) => {
      const place = { item_id: head.id, ...item, summary_index: 0 };
      if (text === '') return [];
      return [
        event('other', 'response.reasoning_summary_part.added', { ...place, part: part('') }),
        ...tokensOf(text).map((delta) => event('output', 'response.reasoning_summary_text.delta', { ...place, delta })),
        event('other', 'response.reasoning_summary_text.done', { ...place, text }),
        event('other', 'response.reasoning_summary_part.done', { ...place, part: part(text) }),
      ];
    },
  };
}

function messageItem(
  call: SimulatorCall,
  choice: Pick<Choice, 'content' | 'pieces' | 'refusal' | 'finishReason'>,
): OutputItem {
  const head = { id: call.newId('msg_'), type: 'message', role: 'assistant' };
  const { refusal } = choice;
  const text = refusal ?? choice.content ?? '';
  const [kind, member] = refusal === undefined ? ['output_text', 'text'] : ['refusal', 'refusal'];
  const part = (shown: string) =>
    refusal === undefined
      ? { type: 'output_text', annotations: [], logprobs: [], text: shown }
      : { type: 'refusal', refusal: shown };
  const details = refusal === undefined ? { logprobs: [] } : {};
  const status = choice.finishReason === 'length' ? 'incomplete' : 'completed';
  return {
    start: { ...head, status: 'in_progress', content: [] },
    whole: { ...head, status, content: [part(text)] },
    events: (item) => {
      const place = { item_id: head.id, ...item, content_index: 0 };
      const pieces = refusal === undefined ? piecesOf(choice) : tokensOf(refusal);
      return [
        event('other', 'response.content_part.added', { ...place, part: part('') }),
        ...pieces.map((delta) => event('output', `response.${kind}.delta`, { ...place, delta, ...details })),
        event('other', `response.${kind}.done`, { ...place, [member as string]: text, ...details }),
        event('other', 'response.content_part.done', { ...place, part: part(text) }),
      ];
    },
  };
}

function functionCallItem(call: SimulatorCall, { id, name, arguments: text }: Choice['toolCalls'][number]): OutputItem {
  const head = { id: call.newId('fc_'), type: 'function_call', call_id: id, name };
  return {
    start: { ...head, status: 'in_progress', arguments: '' },
    whole: { ...head, status: 'completed', arguments: text },
    events: (item) => {
      const place = { item_id: head.id, ...item };
      const type = 'response.function_call_arguments';
      return [
        ...fragmentsOf(text).map((delta) => event('output', `${type}.delta`, { ...place, delta })),
        event('other', `${type}.done`, { ...place, name, arguments: text }),
      ];
    },
  };
}

const usageJson = (counts: TokenCounts) => ({
  input_tokens: counts.input,
  input_tokens_details: { cached_tokens: counts.cached },
  output_tokens: counts.output,
  output_tokens_details: { reasoning_tokens: counts.reasoning },
  total_tokens: totalTokens(counts),
});

type ResponseJson = { readonly id: string; readonly background?: boolean };

/** Returns the current response: its `state`, and the request's settings. */
function responseJson({ body }: SimulatorCall, completion: SimulatedCompletion, state: object): ResponseJson {
  const request = body as SimulatedResponsesBody;
  return {
    ...{ id: completion.id, object: 'response', created_at: completion.createdEpochSeconds, model: completion.model },
    ...{
      status: 'in_progress',
      background: request.background ?? false,
      error: null,
      incomplete_details: null,
      output: [],
      usage: null,
    },
    ...{ instructions: request.instructions ?? null, max_output_tokens: request.max_output_tokens ?? null },
    ...{ metadata: request.metadata ?? {}, parallel_tool_calls: request.parallel_tool_calls ?? true },
    ...{ previous_response_id: request.previous_response_id ?? null, reasoning: request.reasoning ?? null },
    ...{ store: request.store ?? true, text: request.text ?? { format: { type: 'text' } } },
    ...{ tool_choice: request.tool_choice ?? 'auto', tools: request.tools ?? [], temperature: 1, top_p: 1 },
    ...state,
  };
}

function endOf(completion: SimulatedCompletion, { finishReason }: Choice): object {
  const usage = usageMember('usage', completion, usageJson);
  if (finishReason === null) return usage;
  const reason = { length: 'max_output_tokens', content_filter: 'content_filter', stop: null, tool_calls: null };
  if (reason[finishReason] === null) return { ...usage, status: 'completed' };
  return { ...usage, status: 'incomplete', incomplete_details: { reason: reason[finishReason] } };
}

function json(call: SimulatorCall, completion: SimulatedCompletion): object {
  const choice = choiceOf(completion);
  const output = itemsOf(call, choice).map(({ whole }) => whole);
  const response = responseJson(call, completion, { output, ...endOf(completion, choice) });
  keep(call, response);
  return response;
}

/** Stores a response, unless the request has `store: false`. */
function keep(call: SimulatorCall, response: ResponseJson, frames?: readonly Frame[]): void {
  const { store, input } = call.body as SimulatedResponsesBody;
  if (store === false) return;
  const inputItems = itemsOfInput(input ?? []).map((item) => ({ ...item, id: item.id ?? call.newId('msg_') }));
  call.keep({ response, inputItems, ...(frames && { events: frames.map(encode) }) });
}

function frames(call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] {
  const choice = choiceOf(completion);
  const items = itemsOf(call, choice);
  const createdEvent = { response: responseJson(call, completion, {}) };
  const type = ['length', 'content_filter'].includes(choice.finishReason ?? '') ? 'incomplete' : 'completed';
  const ended = { output: items.map(({ whole }) => whole), ...endOf(completion, choice) };
  const last = responseJson(call, completion, ended);
  const all = [
    event('role', 'response.created', createdEvent),
    event('role', 'response.in_progress', createdEvent),
    ...items.flatMap(({ start, whole, events }, index) => [
      event('other', 'response.output_item.added', { output_index: index, item: start }),
      ...events({ output_index: index }),
      event('other', 'response.output_item.done', { output_index: index, item: whole }),
    ]),
    event('finish', `response.${type}`, { response: last }),
  ];
  keep(call, last, all);
  return all;
}

/** Returns an event with its position in the stream. */
const encode = (frame: Frame, position: number): string =>
  serverSentEvent({ ...frame, text: frame.text.replace('{', `{"sequence_number":${position},`) });

function failedJson(call: SimulatorCall, completion: SimulatedCompletion, code = 'server_error'): object {
  return responseJson(call, completion, { status: 'failed', error: { code, message: messageOf(code) } });
}

const messageOf = (code: string): string => (errorBody(500, code) as { error: { message: string } }).error.message;

export const responses: SimulatorFormat = {
  name: 'responses',
  path: /^\/responses$/,
  requestIdHeader: 'x-request-id',
  idPrefix: 'resp_',
  streamType: 'text/event-stream; charset=utf-8',
  answerMembers: ['output', 'response', 'item', 'part', 'delta', 'text', 'refusal', 'arguments'],
  keepAlive: ': keep-alive\n\n',
  wrongCredential: { status: 401, code: 'invalid_api_key' },
  refusals: responsesRefusals,
  read: readResponses,
  json,
  frames,
  encode,
  error: (status, code, message) => ({ body: errorBody(status, code, message) }),
  errorFrames: (call, completion, code = 'server_error') => [
    event('other', 'error', { code, message: messageOf(code), param: null }),
    event('other', 'response.failed', { response: failedJson(call, completion, code) }),
  ],
  failedJson,
};

export const inputTokens: SimulatorFormat = {
  ...responses,
  refusals: [],
  name: 'input-tokens',
  path: /^\/responses\/input_tokens$/,
  read: readInput,
  json: (_call, completion) => ({
    object: 'response.input_tokens',
    ...usageMember('input_tokens', completion, ({ input }) => input),
  }),
};

/** Fields of a compacted response, which are few. */
const compactMembers: readonly string[] = [
  ...['model', 'input', 'instructions', 'previous_response_id', 'image', 'service_tier'],
  ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
];

export const compact: SimulatorFormat = {
  ...responses,
  refusals: [],
  name: 'compact',
  path: /^\/responses\/compact$/,
  read: (call) => {
    const unknown = Object.keys(call.body ?? {}).find((name) => !compactMembers.includes(name));
    return unknown === undefined ? readInput(call) : `Unknown parameter: '${unknown}'.`;
  },
  json(call, completion) {
    const { input, model } = call.body as SimulatedResponsesBody;
    const messages = itemsOfInput(input ?? []).filter(({ role }) => role === 'user');
    const compacted = {
      id: call.newId('cmp_'),
      type: 'compaction',
      encrypted_content: encryptedBy(model, 'compacted'),
    };
    return {
      ...{ id: completion.id, object: 'response.compaction', created_at: completion.createdEpochSeconds },
      output: [...messages, compacted],
      ...usageMember('usage', completion, usageJson),
    };
  },
};
