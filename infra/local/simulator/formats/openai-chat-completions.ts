// Implements OpenAI's chat completions.

import type { SimulatedToolCall } from '../answer.ts';
import {
  type Choice,
  type Frame,
  piecesOf,
  type SimulatedCompletion,
  type TokenCounts,
  totalTokens,
  usageMember,
} from '../answer.ts';
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { errorBody } from '../error-bodies.ts';
import { fragmentsOf, jsonFrame, serverSentEvent } from '../frames.ts';
import { type ModelRequest, plainRequest, type RequestTurn } from '../model-request.ts';
import { isThinker, thinksInParts } from '../signature.ts';
import { tokensOf } from '../tokens.ts';
import { chatRefusals } from './openai-refusals.ts';

/** The fields that are read; the request may have others. */
interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly n?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: unknown } }[] | null;
  readonly tool_choice?: string | { readonly function?: { readonly name?: string } } | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly reasoning_effort?: string | null;
  readonly response_format?: { readonly type?: string; readonly json_schema?: { readonly schema?: unknown } } | null;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
  readonly tool_call_id?: string;
}

function read({ body: json }: Received): ModelRequest | string {
  if (json === undefined) return 'We could not parse the JSON body of your request.';
  const body = (json ?? {}) as ChatBody;
  const { model, messages, stop, tool_choice: choice, response_format: format } = body;
  if (typeof model !== 'string' || model === '') return 'you must provide a model parameter';
  if (!Array.isArray(messages) || messages.length === 0) return "Invalid 'messages': expected an array with messages.";
  const isMessage = (message: unknown) => typeof (message as { role?: unknown } | null)?.role === 'string';
  if (!messages.every(isMessage)) return "Invalid 'messages': every message needs a role.";
  const invalid = invalidMember(body) ?? invalidCall(body) ?? invalidResult(messages);
  if (invalid !== undefined) return invalid;
  const functionName = typeof choice === 'object' ? choice?.function?.name : undefined;
  return {
    ...plainRequest,
    model,
    isStream: body.stream === true,
    turns: messages.map(turnOf),
    tools: Array.isArray(body.tools) ? body.tools.map((tool) => tool.function) : [],
    toolChoice:
      functionName !== undefined
        ? { name: functionName }
        : choice === 'none' || choice === 'required'
          ? choice
          : 'auto',
    isParallel: body.parallel_tool_calls !== false,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    stopSequences: typeof stop === 'string' ? [stop] : (stop ?? []),
    choiceCount: body.n ?? 1,
    output:
      format?.type === 'json_schema'
        ? { schema: format.json_schema?.schema }
        : format?.type === 'json_object'
          ? 'object'
          : 'text',
    isThinking: thinksInParts(model),
  };
}

/** Returns a field that OpenAI's own thinking models refuse. */
function invalidMember(body: ChatBody): string | undefined {
  const { model, max_tokens: bound, stop } = body;
  if (!isThinker(model)) return undefined;
  if (typeof bound === 'number') {
    return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  }
  return (stop ?? null) === null ? undefined : "Unsupported parameter: 'stop' is not supported with this model.";
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const callIdMaxCharacters = 40;
/** Fields for the thinking of other vendors' models, and Google's own fields. */
const foreignMembers = ['reasoning_details', 'extra_content', 'thinking', 'signature'];

/** Models of OpenAI; other servers accept more. */
const isOpenAi = /(^|\/)(gpt-|o\d)/;

function invalidCall({ model, messages, tools }: ChatBody): string | undefined {
  if (!isOpenAi.test(model)) return undefined;
  const calls = messages.flatMap(({ tool_calls: toolCalls }) => toolCalls ?? []);
  const names = [...(tools ?? []).map((tool) => tool.function?.name), ...calls.map((call) => call.function?.name)];
  if (!names.every((name) => name === undefined || toolName.test(name))) {
    return `Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '${toolName.source}'.`;
  }
  const long = calls.find(({ id = '' }) => id.length > callIdMaxCharacters);
  if (long !== undefined) {
    return `Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length ${callIdMaxCharacters}, but got a string with length ${long.id?.length} instead.`;
  }
  const odd = [...messages, ...calls].flatMap((one) => foreignMembers.filter((member) => member in one));
  return odd.length === 0 ? undefined : `'messages.1' : property '${odd[0]}' is unsupported`;
}

function invalidResult(messages: readonly ChatMessage[]): string | undefined {
  let open: unknown[] = [];
  for (const [index, { role, content, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    if (role === 'tool') {
      if (!open.includes(id)) {
        return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      if (Array.isArray(content) && content.some(({ type }) => type !== 'text')) {
        return `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.`;
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) return unanswered(open);
    open = (role === 'assistant' ? (calls ?? []) : []).map((call) => call.id);
  }
  return open.length > 0 ? unanswered(open) : undefined;
}

const unanswered = (ids: readonly unknown[]): string =>
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;

function turnOf({ role, content, tool_calls = [] }: ChatMessage): RequestTurn {
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: typeof content === 'string' ? content : '' }];
  return {
    role,
    text: parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join(' '),
    images: parts.filter((part) => part.type === 'image_url').length,
    toolArguments: tool_calls.map((toolCall) => toolCall.function?.arguments ?? ''),
  };
}

const usageJson = (counts: TokenCounts) => ({
  prompt_tokens: counts.input,
  completion_tokens: counts.output,
  total_tokens: totalTokens(counts),
  prompt_tokens_details: {
    cached_tokens: counts.cached,
    audio_tokens: 0,
    ...(counts.written ? { cache_write_tokens: counts.written } : {}),
  },
  completion_tokens_details: { reasoning_tokens: counts.reasoning, audio_tokens: 0 },
});

const toolCallJson = ({ id, name, arguments: text }: SimulatedToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

const answerHead = (completion: SimulatedCompletion, object: string) => ({
  id: completion.id,
  object,
  created: completion.createdEpochSeconds,
  model: completion.model,
  system_fingerprint: 'fp_simulator',
});

const thinkingPart = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

const contentJson = (model: string, { content, reasoning }: Choice) =>
  reasoning === undefined
    ? { content }
    : thinksInParts(model)
      ? { content: [thinkingPart(reasoning), ...(content === null ? [] : [{ type: 'text', text: content }])] }
      : { content, reasoning_content: reasoning };

const json = (_call: SimulatorCall, completion: SimulatedCompletion) => ({
  ...answerHead(completion, 'chat.completion'),
  choices: completion.choices.map((choice, index) => ({
    index,
    message: {
      role: 'assistant',
      ...contentJson(completion.model, choice),
      refusal: choice.refusal ?? null,
      ...(choice.toolCalls.length === 0 ? {} : { tool_calls: choice.toolCalls.map(toolCallJson) }),
    },
    logprobs: null,
    finish_reason: choice.finishReason,
  })),
  ...usageMember('usage', completion, usageJson),
});

/** Returns role, output, finish reason, usage if the request asks for it, and end marker. */
function frames(call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] {
  const { choices, isUsageOnContent = false } = completion;
  const isAsked = (call.body as ChatBody).stream_options?.include_usage === true && !isUsageOnContent;
  const reported = usageMember('usage', completion, usageJson);
  const isReported = isAsked && 'usage' in reported;
  const frame = (
    carries: Frame['carries'],
    shown: readonly object[],
    usage: object = isReported ? { usage: null } : {},
  ) => jsonFrame(carries, { ...answerHead(completion, 'chat.completion.chunk'), choices: shown, ...usage });
  const choiceJson = (index: number, delta: object, finishReason: string | null = null) => [
    { index, delta, logprobs: null, finish_reason: finishReason },
  ];
  const roles = choices.map((choice, index) => frame('role', choiceJson(index, roleDelta(choice))));
  // The frames of the choices alternate.
  const deltas = choices
    .flatMap((choice, index) =>
      deltasOf(completion.model, choice).map((delta, position) => ({ index, position, delta })),
    )
    .sort((one, other) => one.position - other.position || one.index - other.index);
  const last = isUsageOnContent ? deltas.length - 1 : undefined;
  const outputs = deltas.map(({ index, delta }, position) =>
    position === last
      ? frame('output', choiceJson(index, delta, choices[index]?.finishReason), reported)
      : frame('output', choiceJson(index, delta)),
  );
  const finishes = choices.map((choice, index) => frame('finish', choiceJson(index, {}, choice.finishReason)));
  const usage = isReported ? [frame('usage', [], reported)] : [];
  return [...roles, ...outputs, ...(isUsageOnContent ? [] : finishes), ...usage, done];
}

const done: Frame = { carries: 'done', text: '[DONE]' };

const roleDelta = (choice: Choice) => ({
  role: 'assistant',
  content: choice.content === null ? null : '',
  refusal: null,
});

function deltasOf(model: string, choice: Choice): readonly object[] {
  return [
    ...tokensOf(choice.reasoning ?? '').map((text) =>
      thinksInParts(model) ? { content: [thinkingPart(text)] } : { reasoning_content: text },
    ),
    ...piecesOf(choice).map((text) => ({ content: text })),
    ...tokensOf(choice.refusal ?? '').map((text) => ({ refusal: text })),
    ...choice.toolCalls.flatMap((toolCall, index) => [
      { tool_calls: [{ index, ...toolCallJson({ ...toolCall, arguments: '' }) }] },
      ...fragmentsOf(toolCall.arguments).map((fragment) => ({
        tool_calls: [{ index, function: { arguments: fragment } }],
      })),
    ]),
  ];
}

export const chatCompletions: SimulatorFormat = {
  name: 'chat-completions',
  path: /^\/chat\/completions$/,
  requestIdHeader: 'x-request-id',
  idPrefix: 'chatcmpl-',
  streamType: 'text/event-stream; charset=utf-8',
  answerMembers: ['choices'],
  keepAlive: ': keep-alive\n\n',
  wrongCredential: { status: 401, code: 'invalid_api_key' },
  refusals: chatRefusals,
  read,
  json,
  frames,
  encode: serverSentEvent,
  error: (status, code, message) => ({ body: errorBody(status, code, message) }),
  errorFrames: (_call, _completion, code) => [jsonFrame('other', errorBody(500, code)), done],
};
