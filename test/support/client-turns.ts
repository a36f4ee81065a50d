// The turn that a client of each interface receives, assembled by the official SDK.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Harness } from './harness.ts';
import { argsOf, type RecordedOutcome, type RecordedTurn } from './recorded-turn.ts';

export interface RecordedRequest {
  readonly model: string;
  readonly isStream: boolean;
  /** Names of the client's tools. */
  readonly toolNames: readonly string[];
}

export type RecordedClient = (request: RecordedRequest) => Promise<RecordedTurn>;
export type ClientName = 'chat-completions' | 'messages' | 'responses';

const prompt = 'Hello';
const schema = { type: 'object' as const, properties: {} };
const listOf = <Tool>(tools: readonly Tool[]): { tools?: Tool[] } => (tools.length === 0 ? {} : { tools: [...tools] });

export function clientsOf(gateway: Harness): Readonly<Record<ClientName, RecordedClient>> {
  const baseURL = new URL(gateway.url).origin;
  const openai = new OpenAI({ baseURL: `${baseURL}/openai/v1`, apiKey: gateway.key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL, authToken: gateway.key, apiKey: null, maxRetries: 0 });
  return {
    'chat-completions': (request) => askChat(openai, request),
    messages: (request) => askMessages(anthropic, request),
    responses: (request) => askResponses(openai, request),
  };
}

export const outcomeOf = (turn: Promise<RecordedTurn>): Promise<RecordedOutcome> =>
  turn.catch((error: Error) => ({ error: error.message }));

const chatEnds: Readonly<Record<string, string>> = { tool_calls: 'tool-calls', content_filter: 'content-filter' };

async function askChat(openai: OpenAI, { model, isStream, toolNames }: RecordedRequest): Promise<RecordedTurn> {
  const body = {
    model,
    messages: [{ role: 'user' as const, content: prompt }],
    ...listOf(toolNames.map((name) => ({ type: 'function' as const, function: { name, parameters: schema } }))),
  };
  // The helper only stores the last piece of fields that it does not know.
  let thinking = '';
  const addThinking = (from: object | undefined) => {
    const { reasoning, reasoning_content: content } = (from ?? {}) as Record<string, string | null | undefined>;
    thinking += reasoning ?? content ?? '';
  };
  let answer: OpenAI.ChatCompletion;
  if (isStream) {
    const stream = openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    stream.on('chunk', ({ choices }) => addThinking(choices[0]?.delta));
    answer = await stream.finalChatCompletion();
  } else {
    answer = await openai.chat.completions.create(body);
    addThinking(answer.choices[0]?.message);
  }
  const { choices, usage } = answer;
  const [{ message, finish_reason: end } = { message: undefined, finish_reason: 'none' }] = choices;
  return {
    text: message?.content ?? '',
    thinking,
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, args: argsOf(call.function.arguments) }] : [],
    ),
    end: chatEnds[end] ?? end,
    tokens: {
      input: usage?.prompt_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
    },
  };
}

const messagesEnds: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  compaction: 'other',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content-filter',
};

async function askMessages(
  anthropic: Anthropic,
  { model, isStream, toolNames }: RecordedRequest,
): Promise<RecordedTurn> {
  const body = {
    model,
    max_tokens: 2_000,
    messages: [{ role: 'user' as const, content: prompt }],
    ...listOf(toolNames.map((name) => ({ name, input_schema: schema }))),
  };
  const answer = isStream
    ? await anthropic.messages.stream(body).finalMessage()
    : await anthropic.messages.create(body);
  const { content, usage, stop_reason: end } = answer;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : [])),
    end: messagesEnds[end ?? ''] ?? String(end),
    tokens: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      cached,
      output: usage.output_tokens,
    },
  };
}

const responsesEnds: Readonly<Record<string, string>> = {
  max_output_tokens: 'length',
  content_filter: 'content-filter',
};

async function askResponses(openai: OpenAI, { model, isStream, toolNames }: RecordedRequest): Promise<RecordedTurn> {
  const body = {
    model,
    input: prompt,
    ...listOf(toolNames.map((name) => ({ type: 'function' as const, name, parameters: schema, strict: false }))),
  };
  const {
    output,
    usage,
    incomplete_details: incomplete,
  } = isStream ? await openai.responses.stream(body).finalResponse() : await openai.responses.create(body);
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, args: argsOf(item.arguments) }] : [],
  );
  const reason = incomplete?.reason;
  return {
    text: output
      .flatMap((item) => (item.type === 'message' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : ''))
      .join(''),
    thinking: output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map(({ text }) => text)
      .join(''),
    calls,
    end: reason === undefined ? (calls.length > 0 ? 'tool-calls' : 'stop') : (responsesEnds[reason] ?? reason),
    tokens: {
      input: usage?.input_tokens ?? 0,
      cached: usage?.input_tokens_details.cached_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
    },
  };
}
