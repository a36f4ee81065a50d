// A provider answers with JSON although the client asked for a stream, or the reverse. The client gets the delivery
// that it asked for, and the official SDKs read from it what they read from an answer in the right delivery.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import {
  type AnswerBlock,
  eventStream,
  type FakeAnswer,
  frames,
  jsonOf,
  streamOf,
} from '../support/provider-answers.ts';
import {
  jsonReply,
  type ScriptedProvider,
  type ScriptedReply,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

const formats = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;
type Format = (typeof formats)[number];
const clients = ['chat-completions', 'messages', 'responses'] as const;
type Client = (typeof clients)[number];

const blocks: readonly AnswerBlock[] = [
  { thinking: 'I look it up.', signature: 'c2lnbmVk' },
  { text: 'Pick "Zürich": 12345678901234567890.' },
  { id: 'call_a', name: 'look', args: { place: 'Zürich', depth: 2 } },
  { id: 'call_b', name: 'look', args: { place: 'Bern' } },
];
const usage = { prompt_tokens: 17, completion_tokens: 5, total_tokens: 22 };
const chatHead = { id: 'c1', created: 1, model: 'm' };
const calls = [
  { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"place":"Zürich","depth":2}' } },
  { id: 'call_b', type: 'function', function: { name: 'look', arguments: '{"place":"Bern"}' } },
];
const message = { content: 'Pick "Zürich".', reasoning_content: 'I look it up.' };
const chatJson = {
  ...chatHead,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', ...message, tool_calls: calls },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage,
};
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...chatHead,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});
const chatStream: FakeAnswer = eventStream(
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'I look ' }),
  chunk({ reasoning_content: 'it up.' }),
  chunk({ content: 'Pick ' }),
  chunk({ content: '"Zürich".' }),
  ...calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
    chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, 9) } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: text.slice(9) } }] }),
  ]),
  chunk({}, 'tool_calls'),
  { ...chatHead, object: 'chat.completion.chunk', choices: [], usage },
);
const done = Buffer.from('data: [DONE]\n\n');

const jsonText = (format: Format): string =>
  JSON.stringify(format === 'chat-completions' ? chatJson : jsonOf(format, { blocks }));
const streamBytes = (format: Format): Buffer =>
  Buffer.concat(format === 'chat-completions' ? [...chatStream.bytes, done] : [...streamOf(format, { blocks }).bytes]);

/**
 * Content types that servers use for their streams; frames with the type of JSON are read as text, which breaks their
 * bytes.
 */
const streamTypes = (format: Format): readonly string[] =>
  format === 'converse'
    ? ['application/vnd.amazon.eventstream', 'application/octet-stream', '']
    : ['text/event-stream', 'application/json', ''];

let reply: ScriptedReply;
let provider: ScriptedProvider;
let gateway: Harness;
let good = 0;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    sendReply(outgoing, reply);
  });
  const sendGood = (outgoing: ServerResponse) => {
    good += 1;
    sendReply(outgoing, jsonReply(chatJson));
  };
  const backup = await startScriptedProvider(sendGood, { requests: 'none' });
  stopBackup = backup.stop;
  gateway = await startHarness({
    models: Object.fromEntries(
      formats.flatMap((format) => [
        [`failing/${format}`, [{ provider: `failing-${format}`, upstream: 'm' }]],
        [
          `on/${format}`,
          [
            { provider: format, upstream: 'm' },
            { provider: 'backup', upstream: 'm', more: { input_price_per_million: '9' } },
          ],
        ],
      ]),
    ),
    providers: {
      ...Object.fromEntries(
        formats.flatMap((format) =>
          [format, `failing-${format}`].map((id) => [id, { apis: [format], base_url: provider.url }]),
        ),
      ),
      backup: { apis: ['chat-completions'], base_url: backup.url },
    },
  });
});
let stopBackup = async () => {};
afterAll(async () => {
  await gateway.settled();
  await expectBalancedBooks(gateway);
  await gateway.stop();
  await provider.stop();
  await stopBackup();
});

const answerJson = (text: string, type = 'application/json') => {
  reply = { type, body: text };
};
const answerStream = (bytes: Buffer, type = 'text/event-stream') => {
  reply = { type, body: bytes };
};

const question = [{ role: 'user' as const, content: 'Where?' }];
const parameters = { type: 'object' as const, properties: {} };
const openai = () => openaiOf(gateway);
const anthropic = () => anthropicOf(gateway);

/** Returns the whole answer, as the client's SDK reads it. */
const ask: Readonly<Record<Client, (model: string, stream: boolean) => Promise<object>>> = {
  'chat-completions'(model, stream) {
    const body = {
      model,
      messages: question,
      tools: [{ type: 'function' as const, function: { name: 'look', parameters } }],
    };
    const { completions } = openai().chat;
    return stream
      ? completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
      : completions.create(body);
  },
  messages(model, stream) {
    const tools = [{ name: 'look', input_schema: parameters }];
    const body = { model, max_tokens: 100, messages: question, tools };
    const { messages } = anthropic();
    return stream ? messages.stream(body).finalMessage() : messages.create(body);
  },
  responses(model, stream) {
    const tools = [{ type: 'function' as const, name: 'look', parameters, strict: false }];
    const body = { model, input: 'Where?', tools, store: false };
    const { responses } = openai();
    return stream ? responses.stream(body).finalResponse() : responses.create(body);
  },
};

/** Fields that differ from call to call, or that the SDK adds. */
const changing = new Set([
  'id',
  'created',
  'created_at',
  'item_id',
  'call_id',
  'encrypted_content',
  'signature',
  'parsed',
  'parsed_arguments',
  'output_parsed',
  'cost',
  'cost_usd',
  '_request_id',
]);
/** The SDK of chat completions keeps only the last piece of a field that it does not know. */
const lastPieceOnly = new Set(['reasoning', 'reasoning_content', 'reasoning_details']);
const comparable = (answer: object, stream: boolean): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value) => {
      if (changing.has(name) || (stream && lastPieceOnly.has(name))) return undefined;
      if (!Array.isArray(value)) return value;
      const items = value.filter((item) => !isSignatureAlone(item));
      return name === 'reasoning_details' ? items.map(({ index: _place, ...detail }) => detail) : items;
    }),
  );
/** Returns whether an item has only the signature of a text, which streams of Gemini send in a part of its own. */
const isSignatureAlone = (item: {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly summary?: unknown[];
}) =>
  (item.type === 'reasoning.text' && item.text === '') ||
  (item.type === 'thinking' && item.thinking === '') ||
  (item.type === 'reasoning' && item.summary?.length === 0);

const rows = clients.flatMap((client) => formats.map((format) => [client, format] as const));

/** Makes one call and checks that one provider was called, once. */
async function answerTo(client: Client, format: Format, stream: boolean): Promise<unknown> {
  const [before, backupsBefore] = [provider.bodies.length, good];
  const answer = await ask[client](`on/${format}`, stream);
  expect([provider.bodies.length - before, good - backupsBefore]).toEqual([1, 0]);
  return comparable(answer, stream);
}

describe.each(rows)('a client of %s, at a provider of %s', (client, format) => {
  it('gets the stream that it asked for, if the provider answers with JSON', async () => {
    // The fake's events lack fields that this SDK reads.
    const isUnread = client === 'responses' && format === 'responses';
    if (isUnread) answerJson(jsonText(format));
    else answerStream(streamBytes(format), streamTypes(format)[0]);
    const expected = await answerTo(client, format, !isUnread);
    for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
      answerJson(jsonText(format), type);
      expect(await answerTo(client, format, true)).toEqual(expected);
    }
  });

  it('gets the JSON that it asked for, if the provider answers with a stream', async () => {
    answerJson(jsonText(format));
    const expected = await answerTo(client, format, false);
    for (const type of streamTypes(format)) {
      answerStream(streamBytes(format), type);
      expect(await answerTo(client, format, false)).toEqual(expected);
    }
  });
});

describe.each(rows)('a client of %s, at a provider of %s, that fails in the other form', (client, format) => {
  const errorOf: Readonly<Record<Format, object>> = {
    'chat-completions': { error: { message: 'overloaded', type: 'server_error', code: 'server_error' } },
    messages: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    responses: { type: 'error', code: 'server_error', message: 'overloaded' },
    converse: { message: 'overloaded' },
    'generate-content': { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } },
  };
  const errorEvent = (): FakeAnswer =>
    format === 'converse'
      ? frames(['serviceUnavailableException', { message: 'overloaded' }])
      : eventStream(errorOf[format] as Record<string, unknown>);
  const expectFailure = async (stream: boolean) => {
    await gateway.settled();
    const [before, spent] = [provider.bodies.length, (await gateway.credit('team')).spent];
    await expect(ask[client](`failing/${format}`, stream)).rejects.toMatchObject({ status: 502 });
    await gateway.settled();
    expect([provider.bodies.length - before, (await gateway.credit('team')).spent]).toEqual([1, spent]);
  };

  it('gets an error, and pays nothing: an error as JSON, or cut JSON, in place of a stream', async () => {
    const error = errorOf[format];
    answerJson(JSON.stringify('type' in error && format === 'responses' ? { error } : error));
    await expectFailure(true);
    answerJson(jsonText(format).slice(0, -20));
    await expectFailure(true);
  });

  it('gets an error, and pays nothing: an error as an event, or a stream that is cut, in place of JSON', async () => {
    const [type] = streamTypes(format);
    answerStream(Buffer.concat([...errorEvent().bytes]), type);
    await expectFailure(false);
    const whole = streamBytes(format);
    answerStream(whole.subarray(0, whole.length >> 1), type);
    await expectFailure(false);
  });
});

it('an answer is replayed and cached in the delivery that was asked for', async () => {
  for (const stream of [true, false]) {
    if (stream) answerJson(jsonText('chat-completions'));
    else answerStream(streamBytes('chat-completions'));
    const before = provider.bodies.length;
    const post = async (key: string, more: object = {}) => {
      const body = { model: 'on/chat-completions', messages: question, stream, ...more };
      const response = await gateway.post(body, { 'idempotency-key': key });
      return { response, text: await response.text() };
    };
    const first = await post(`form-${stream}`);
    expect(first.response.headers.get('content-type')).toContain(stream ? 'text/event-stream' : 'application/json');
    const replay = await post(`form-${stream}`);
    expect([replay.response.headers.get('idempotent-replayed'), replay.text]).toEqual(['true', first.text]);
    await gateway.settled();
    const cached = { cache: { mode: 'exact', ttl_seconds: 60 } };
    await post(`cached-${stream}`, cached);
    await gateway.settled();
    expect((await post(`hit-${stream}`, cached)).response.headers.get('x-gw-cache')).toBe('HIT');
    expect(provider.bodies.length - before).toBe(2);
  }
});

it('an answer in the other delivery keeps digits and names as they came', async () => {
  const odd = '"seed":12345678901234567890,"__proto__":{"a":1}';
  const text = (beside: string) => `{"id":"c1","object":"x",${odd},"choices":[${beside}]}`;
  answerJson(text(`{"index":0,"message":{"role":"assistant","content":"Hi",${odd}},"finish_reason":"stop"}`));
  const streamResponse = await gateway.post({ model: 'on/chat-completions', messages: question, stream: true });
  expect((await streamResponse.text()).split(odd).length).toBe(4);
  const event = text(`{"index":0,"delta":{"role":"assistant","content":"Hi",${odd}},"finish_reason":"stop"}`);
  answerStream(Buffer.from(`data: ${event}\n\ndata: [DONE]\n\n`));
  const whole = await gateway.post({ model: 'on/chat-completions', messages: question });
  expect((await whole.text()).split(odd).length).toBe(3);
});

it('a list of chunks of Gemini becomes either delivery', async () => {
  const chunks = streamBytes('generate-content')
    .toString()
    .split('\n\n')
    .flatMap((event) => (event.startsWith('data: ') ? [event.slice('data: '.length)] : []));
  for (const stream of [true, false]) {
    answerStream(streamBytes('generate-content'));
    const expected = await answerTo('messages', 'generate-content', stream);
    answerJson(`[${chunks.join(',\n')}]`);
    expect(await answerTo('messages', 'generate-content', stream)).toEqual(expected);
  }
});
