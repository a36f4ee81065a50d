// Makes answers of providers that are as long as an answer may be, in one length, and a provider that sends these
// answers. Answers come in the delivery that the client asks for, or in the other delivery, and in the client's
// interface, or in another interface.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { frameStreamType, type ProviderApi } from '../../../shared/foundation/constants/index.ts';
import { frameOf } from '../../../shared/protocol/event-frames/index.ts';

/** Size of a JSON text. */
export interface JsonSize {
  readonly bytes: number;
  readonly values: number;
}

interface SentAnswer {
  readonly type: string;
  readonly body: string | Uint8Array;
  /** Size of the answer, or of the longest event of a stream. */
  readonly size: JsonSize;
}

/** A text, or a call of a tool by its arguments. */
type Part = { readonly text: string } | { readonly args: string };

interface AnswerForm {
  readonly whole: (parts: readonly Part[]) => object;
  /** The events of a text that comes in these pieces. */
  readonly events: (pieces: readonly string[]) => readonly object[];
}

const chatHead = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'bench' };
const chatUsage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const chatChunk = (delta: object, finish_reason: string | null, more = {}) => ({
  ...chatHead,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const chatWhole = (choices: readonly object[]) => ({
  ...chatHead,
  object: 'chat.completion',
  usage: chatUsage,
  choices: choices.map((choice, index) => ({ index, finish_reason: 'stop', ...choice })),
});
const messageHead = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench', stop_sequence: null };
const messageUsage = { input_tokens: 10, output_tokens: 10 };
const responseHead = { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'bench' };
const responseOf = (output: readonly object[]) => ({
  ...responseHead,
  status: 'completed',
  output,
  usage: { ...messageUsage, total_tokens: 20 },
});
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] });
const outputMessage = (text: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [outputText(text)],
});
const candidateOf = (parts: readonly object[], finish: object) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...finish }],
  modelVersion: 'bench',
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
});
const item = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const namedEvent = (name: string, event: object) => ({ name, event });

const answerForms = {
  'chat-completions': {
    whole: (parts) =>
      chatWhole([
        {
          message: {
            role: 'assistant',
            content: parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('') || null,
            tool_calls: parts.flatMap((part, at) =>
              'args' in part
                ? [{ id: `call_${at}`, type: 'function', function: { name: 'f', arguments: part.args } }]
                : [],
            ),
          },
        },
      ]),
    events: (pieces) => [
      ...pieces.map((content) => chatChunk({ content }, null)),
      chatChunk({}, 'stop', { usage: chatUsage }),
    ],
  },
  messages: {
    whole: (parts) => ({
      ...messageHead,
      ...{ stop_reason: 'end_turn', usage: messageUsage },
      content: parts.map((part, at) =>
        'text' in part
          ? { type: 'text', text: part.text }
          : { type: 'tool_use', id: `toolu_${at}`, name: 'f', input: JSON.parse(part.args) },
      ),
    }),
    events: (pieces) => [
      { type: 'message_start', message: { ...messageHead, content: [], stop_reason: null, usage: messageUsage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: messageUsage },
      { type: 'message_stop' },
    ],
  },
  responses: {
    whole: (parts) =>
      responseOf(
        parts.map((part, at) =>
          'text' in part
            ? outputMessage(part.text)
            : {
                ...{ type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, name: 'f', arguments: part.args },
                status: 'completed',
              },
        ),
      ),
    events: (pieces) => {
      const text = pieces.join('');
      const events = [
        { type: 'response.created', response: { ...responseHead, status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item: { ...outputMessage(''), content: [] } },
        { type: 'response.content_part.added', ...item, part: outputText('') },
        ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...item, delta })),
        { type: 'response.output_text.done', ...item, text },
        { type: 'response.content_part.done', ...item, part: outputText(text) },
        { type: 'response.output_item.done', output_index: 0, item: outputMessage(text) },
        { type: 'response.completed', response: responseOf([outputMessage(text)]) },
      ];
      return events.map((event, sequence_number) => ({ ...event, sequence_number }));
    },
  },
  'generate-content': {
    whole: (parts) =>
      candidateOf(
        parts.map((part) => ('text' in part ? part : { functionCall: { name: 'f', args: JSON.parse(part.args) } })),
        { finishReason: 'STOP' },
      ),
    events: (pieces) =>
      pieces.map((text, at) => candidateOf([{ text }], at === pieces.length - 1 ? { finishReason: 'STOP' } : {})),
  },
  converse: {
    whole: (parts) => ({
      output: {
        message: {
          role: 'assistant',
          content: parts.map((part, at) =>
            'text' in part ? part : { toolUse: { toolUseId: `t${at}`, name: 'f', input: JSON.parse(part.args) } },
          ),
        },
      },
      ...{ stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 10, totalTokens: 20 } },
    }),
    events: (pieces) => [
      namedEvent('messageStart', { role: 'assistant' }),
      ...pieces.map((text) => namedEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
      namedEvent('contentBlockStop', { contentBlockIndex: 0 }),
      namedEvent('messageStop', { stopReason: 'end_turn' }),
      namedEvent('metadata', {
        usage: { inputTokens: 10, outputTokens: 10, totalTokens: 20 },
        metrics: { latencyMs: 1 },
      }),
    ],
  },
} satisfies Partial<Record<ProviderApi, AnswerForm>>;
type Spoken = keyof typeof answerForms;

/** Returns the size of a value and of its text. */
export const sizeOf = (value: object, text: string): JsonSize => ({
  bytes: Buffer.byteLength(text),
  values: valuesIn(value),
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let values = 1;
  for (const inner of Object.values(value)) values += valuesIn(inner);
  return values;
}

function jsonOf(whole: object): SentAnswer {
  const body = JSON.stringify(whole);
  return { type: 'application/json', body, size: sizeOf(whole, body) };
}

function streamOf(api: Spoken, events: readonly object[]): SentAnswer {
  const sizes = events.map((event) => sizeOf(event, JSON.stringify(event)));
  const size = sizes.reduce((longest, one) => (one.bytes > longest.bytes ? one : longest));
  if (api === 'converse') {
    const frames = (events as ReturnType<typeof namedEvent>[]).map(({ name, event }) =>
      frameOf({ name, text: JSON.stringify(event) }),
    );
    return { type: frameStreamType, body: Buffer.concat(frames), size };
  }
  const lines = events.map((event) => {
    const name = 'type' in event ? `event: ${event.type}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const body = lines.join('') + (api === 'chat-completions' ? 'data: [DONE]\n\n' : '');
  return { type: 'text/event-stream', body, size };
}

/** An answer whose length its provider chooses. */
export interface LongAnswer {
  readonly from: BenchClientName;
  readonly to: ProviderApi;
  readonly member: string;
  readonly max: number;
  readonly isStream: boolean;
  readonly answer: (length: number) => SentAnswer;
  /** Number of inputs of the request, where there are several. */
  readonly inputs?: (length: number) => number;
}

/** Maximum length of an answer, without the JSON around its text, and of an answer that is assembled from a stream. */
const charactersMax = 15_000_000;
const collectedMax = 7_000_000;
/** Maximum number of values, and of values in a call. */
const valuesMax = 98_000;
const valuesOfCall = 7;
const shortPiece = ' word';

const each = <One>(count: number, make: (at: number) => One): One[] =>
  Array.from({ length: count }, (_, at) => make(at));
const wordsOf = (length: number) => 'a '.repeat(length / 2);

function rowsOf(from: BenchClientName, to: Spoken): readonly LongAnswer[] {
  const form: AnswerForm = answerForms[to];
  const whole = (parts: readonly Part[]) => jsonOf(form.whole(parts));
  const stream = (pieces: readonly string[]) => streamOf(to, form.events(pieces));
  const row = (member: string, isStream: boolean, max: number, answer: LongAnswer['answer']): LongAnswer => ({
    ...{ from, to, member, isStream, max, answer },
  });
  const callsMax = valuesMax / valuesOfCall;
  const rows = [
    row('a text', false, charactersMax, (length) => whole([{ text: wordsOf(length) }])),
    row('a text below 1 MiB', false, 1_000_000, (length) => whole([{ text: wordsOf(length) }])),
    row('escapes', false, charactersMax / 6, (length) => whole([{ text: '\u0001'.repeat(length) }])),
    row('calls', false, callsMax, (length) => whole(each(length, () => ({ args: '{}' })))),
    row('arguments', false, charactersMax / 8, (length) =>
      whole([{ args: JSON.stringify({ a: '\u0001'.repeat(length) }) }]),
    ),
    row('a stream of words', true, 40_000, (length) => stream(each(length, () => shortPiece))),
  ];
  if (from !== to) return rows;
  return [
    ...rows,
    row('CJK', false, charactersMax / 3, (length) => whole([{ text: '漢'.repeat(length) }])),
    row('a stream of long texts', true, collectedMax, (length) => stream(each(4, () => wordsOf(length / 4)))),
    row('a text, to a stream', true, charactersMax, (length) => whole([{ text: wordsOf(length) }])),
    row('calls, to a stream', true, callsMax, (length) => whole(each(length, () => ({ args: '{}' })))),
    row('words, to JSON', false, 30_000, (length) => stream(each(length, () => shortPiece))),
    row('long texts, to JSON', false, collectedMax, (length) => stream(each(4, () => wordsOf(length / 4)))),
  ];
}

const logprob = { token: ' word', logprob: -0.5, bytes: [32, 119], top_logprobs: [] };
const vector = each(1_536, (at) => ((at % 199) - 99) / 1_234.5);
const chatRow = { from: 'chat-completions', to: 'chat-completions' } as const;
const choicesOf = (length: number) =>
  jsonOf(chatWhole(each(128, () => ({ message: { role: 'assistant', content: wordsOf(length / 128) } }))));

/** Answers of every interface to clients of the same interface, and of another interface. */
export const longAnswers: readonly LongAnswer[] = [
  ...Object.keys(answerForms).flatMap((api) => rowsOf(api as Spoken, api as Spoken)),
  ...(['messages', 'responses', 'generate-content', 'converse'] as const).flatMap((api) => [
    ...rowsOf('chat-completions', api),
    ...rowsOf(api, 'chat-completions'),
  ]),
  { ...chatRow, member: 'choices', isStream: false, max: charactersMax, answer: choicesOf },
  { ...chatRow, member: 'choices, to a stream', isStream: true, max: charactersMax, answer: choicesOf },
  {
    ...{ ...chatRow, member: 'log probabilities', isStream: false, max: 200_000 },
    answer: (length) =>
      jsonOf(
        chatWhole([
          { message: { role: 'assistant', content: 'a' }, logprobs: { content: each(length, () => logprob) } },
        ]),
      ),
  },
  {
    ...{ from: 'embeddings', to: 'embeddings', member: 'vectors', isStream: false, max: 1_900, inputs: Math.floor },
    answer: (length) =>
      jsonOf({
        ...{ object: 'list', model: 'bench', usage: { prompt_tokens: 10, total_tokens: 10 } },
        data: each(length, (index) => ({ object: 'embedding', index, embedding: vector })),
      }),
  },
];

const smallAnswers: Readonly<Partial<Record<ProviderApi, SentAnswer>>> = {
  ...Object.fromEntries(
    Object.entries(answerForms).map(([api, { whole }]) => [api, jsonOf(whole([{ text: 'Yes.' }]))]),
  ),
  embeddings: jsonOf({
    ...{ object: 'list', model: 'bench', usage: { prompt_tokens: 10, total_tokens: 10 } },
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  }),
};

/** Starts a provider that answers every call alike, until another answer is set. */
export async function startLongProvider() {
  let answer: SentAnswer | undefined;
  const server = createServer({ keepAliveTimeout: 600_000 }, async (incoming, outgoing) => {
    await incoming.resume().toArray();
    const [, api = ''] = /^\/of-([\w-]+)/.exec(incoming.url ?? '') ?? [];
    const { type, body } = answer ?? smallAnswers[api as ProviderApi] ?? jsonOf({});
    outgoing.writeHead(200, { 'content-type': type }).end(body);
  });
  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    /** Returns the base URL of an interface. */
    url: (api: ProviderApi) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/of-${api}`,
    /** Sets the answer; undefined for a small answer in the interface of the call. */
    answerWith: (sentAnswer: SentAnswer | undefined) => {
      answer = sentAnswer;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface BenchClient {
  /** Path below the origin. */
  readonly path: (model: string, isStream: boolean) => string;
  /** Fields of every body, `model` and the limit of the output among them. */
  readonly fields: (model: string, isStream: boolean) => object;
  readonly question: object;
}

const chatClient = (path: string, bound: object, question: object): BenchClient => ({
  path: () => path,
  fields: (model, isStream) => ({ model, ...bound, ...(isStream && { stream: true }) }),
  question,
});
const greeting = { messages: [{ role: 'user', content: 'Hi.' }] };

/** Clients of the gateway, by the interface that they speak. */
export const benchClients = {
  'chat-completions': chatClient('/v1/chat/completions', { max_tokens: 16 }, greeting),
  messages: chatClient('/v1/messages', { max_tokens: 16 }, greeting),
  'count-tokens': chatClient('/v1/messages/count_tokens', { max_tokens: 16 }, greeting),
  responses: chatClient('/v1/responses', { max_output_tokens: 16 }, { input: 'Hi.' }),
  embeddings: chatClient('/v1/embeddings', {}, { input: 'a' }),
  'generate-content': {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    fields: () => ({ generationConfig: { maxOutputTokens: 16 } }),
    question: { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] },
  },
  converse: {
    path: (model, isStream) => `/bedrock/model/${encodeURIComponent(model)}/converse${isStream ? '-stream' : ''}`,
    fields: () => ({ inferenceConfig: { maxTokens: 16 } }),
    question: { messages: [{ role: 'user', content: [{ text: 'Hi.' }] }] },
  },
  invoke: {
    path: (model) => `/bedrock/model/${encodeURIComponent(model)}/invoke`,
    fields: () => ({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 16 }),
    question: greeting,
  },
} satisfies Readonly<Record<string, BenchClient>>;
export type BenchClientName = keyof typeof benchClients;
