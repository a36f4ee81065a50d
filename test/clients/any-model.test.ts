// Clients of one interface on models of another: requests reach the model, and answers are whole in the form of the
// client's own SDK, from JSON and from a stream alike.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { countedTexts } from '../support/counted-texts.ts';
import { hello as chatHello, type Harness, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';
import { baseUrlOf, citySchema, formats, startClientGateway } from './client-gateway.ts';
import { formatResults } from './results.ts';

let gateway: Harness;
let client: Anthropic;
beforeAll(async () => {
  gateway = await startClientGateway();
  client = new Anthropic({ baseURL: new URL(gateway.url).origin, authToken: gateway.key, apiKey: null });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const translatedFormats = formats.filter((format) =>
  ['responses', 'converse', 'generate-content', 'chat-completions'].includes(format),
);
const tools: Anthropic.Tool[] = [
  { name: 'get_weather', description: 'Asks about a city', input_schema: { ...citySchema, required: ['city'] } },
];
const ask = (
  model: string,
  content: Anthropic.MessageParam['content'],
  more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 2_000,
  messages: [{ role: 'user', content }],
  ...more,
});

const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
/** Returns the message without fields that may differ between two calls of the same kind. */
const comparable = ({ id: _id, usage: _usage, ...message }: Anthropic.Message & { parsed_output?: unknown }) => ({
  ...message,
  // The SDK itself adds this field.
  parsed_output: undefined,
  content: message.content.map((block) => {
    if (block.type === 'tool_use') return { ...block, id: 'id' };
    return block.type === 'thinking' ? { ...block, signature: 'signature' } : block;
  }),
});

it('translation is switched off by service.translation, for Messages and not for chat completions', async () => {
  const off = await startHarness({
    service: { translation: 'disabled' },
    models: { 'gemini/echo': [{ provider: 'generate-content', upstream: 'echo' }] },
    providers: { 'generate-content': { apis: ['generate-content'] } },
  });
  try {
    expect((await off.post(chatHello('gemini/echo'))).status).toBe(200);
    const client = new Anthropic({ baseURL: new URL(off.url).origin, authToken: off.key, apiKey: null });
    await expect(client.messages.create(ask('gemini/echo', 'Hello'))).rejects.toMatchObject({
      error: { error_code: 'model_not_routable' },
    });
    expect(off.simulator.calls).toHaveLength(1);
  } finally {
    await off.stop();
  }
});

it('the stock Anthropic client reaches providers of the formats in the table, and reads for others which interface they do not serve', async () => {
  const servedFormats: string[] = [];
  for (const format of formats) {
    const call = client.messages.create(ask(`formats/${format}`, 'Hello'));
    const error: unknown = await call.then(
      () => void servedFormats.push(format),
      (reason: unknown) => reason,
    );
    if (error === undefined) continue;
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({ errorCode: 'model_not_routable', apiMessage: expect.stringContaining('messages') });
  }
  const cells = Object.fromEntries(formats.map((format) => [format, servedFormats.includes(format) ? 'yes' : 'no']));
  expect(formatResults['@anthropic-ai/sdk']).toEqual(cells);
  expect(gateway.simulator.calls.map(({ format }) => format)).toEqual(servedFormats);
});

it('the stock Anthropic client gets a stream that broke as an error with the code of the gateway, and does not come back', async () => {
  const stream = client.messages.stream(ask('messages/broken', 'Hello'));
  const error = await stream.finalMessage().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Anthropic.APIError);
  expect(error).toMatchObject({ type: 'api_error', errorCode: 'no_available_provider' });
  expect(String(error)).toContain('The stream broke off');
  expect(gateway.simulator.calls).toHaveLength(1);
});

const countOf = async (content: Anthropic.MessageParam['content'], more: { tools?: Anthropic.Tool[] } = {}) =>
  (await client.messages.countTokens({ model: 'converse/echo', messages: [{ role: 'user', content }], ...more }))
    .input_tokens;

describe('a count of tokens if the provider of the model has none', () => {
  it.each(Object.entries(countedTexts))(
    'is not too low, and not far from it: %s',
    async (_kind, { text, tokens: known }) => {
      const count = await countOf(text);
      expect([count > known, count < 3 * known]).toEqual([true, true]);
    },
  );

  it('counts tools and images, these by their pixels and not by their bytes', async () => {
    const plain = await countOf('Hello');
    expect((await countOf('Hello', { tools })) - plain).toBeGreaterThan(30);
    const data = png(280, 280, 300_000).split(',')[1] ?? '';
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data },
    };
    const pictured = (await countOf([image])) - plain;
    expect([pictured > 100, pictured < 250]).toEqual([true, true]);
  });
});

describe.each(translatedFormats)('Messages on a model of %s', (format) => {
  it('answers as a message with every field, its cost in a header, and a record of the format that was spoken', async () => {
    const { data, response } = await client.messages.create(ask(`${format}/echo`, 'Hello')).withResponse();
    expect(textOf(data)).toContain('Hello');
    expect(data).toEqual({
      id: expect.stringMatching(/^msg_\w+$/),
      type: 'message',
      role: 'assistant',
      model: `${format}/echo`,
      content: [expect.objectContaining({ type: 'text', citations: null })],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cache_creation_input_tokens: expect.any(Number),
        cache_read_input_tokens: expect.any(Number),
        cache_creation: {
          ephemeral_5m_input_tokens: expect.any(Number),
          ephemeral_1h_input_tokens: expect.any(Number),
        },
        output_tokens_details: { thinking_tokens: expect.any(Number) },
        inference_geo: null,
        server_tool_use: null,
        service_tier: null,
        speed: null,
      },
    });
    expect(Number(response.headers.get('x-gw-cost'))).toBeGreaterThan(0);
    expect(await gateway.recordOf(response)).toMatchObject({ interfaceId: 'messages', format });
  });

  it.each([
    ['a text', 'echo', 'Hello', {}],
    ['thinking', 'reasoning', 'Hello', { thinking: { type: 'adaptive' as const } }],
    ['a call of a tool', 'echo', 'Call the tool get_weather', { tools }],
    [
      'thinking and a call',
      'reasoning',
      'Call the tool get_weather',
      { tools, thinking: { type: 'adaptive' as const } },
    ],
  ])('gives a stream that its SDK puts together to what JSON says: %s', async (_what, behaviour, content, more) => {
    const question = ask(`${format}/${behaviour}`, content, more);
    const json = await client.messages.create(question);
    const stream = client.messages.stream(question);
    const events: Anthropic.MessageStreamEvent[] = [];
    for await (const event of stream) events.push(structuredClone(event));
    const message = await stream.finalMessage();
    expect(comparable(message)).toEqual(comparable(json));
    // One block is open at a time, and the blocks' numbers have no gap.
    let open: number | undefined;
    let next = 0;
    for (const event of events) {
      if (event.type === 'content_block_start') {
        expect([open, event.index]).toEqual([undefined, next]);
        open = event.index;
        next += 1;
      }
      if (event.type === 'content_block_delta') expect(event.index).toBe(open);
      if (event.type === 'content_block_stop') {
        expect(event.index).toBe(open);
        open = undefined;
      }
    }
    expect([events[0]?.type, events.at(-2)?.type, events.at(-1)?.type]).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
    const [start] = events;
    expect(start?.type === 'message_start' && start.message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });
});

it.each(translatedFormats)(
  'a request of Messages goes on without a thread, which no model of %s has, if its client may',
  async (format) => {
    const question = { model: `${format}/echo`, max_tokens: 100 };
    const strict = client.beta.messages.thread(question);
    await expect(strict.send({ role: 'user', content: 'Hello' })).rejects.toMatchObject({
      errorCode: 'thread_unsupported_request',
      error: { error_code: 'feature_unsupported', error: { message: expect.stringContaining('thread') } },
    });
    expect(gateway.simulator.calls).toEqual([]);
    const thread = client.beta.messages.thread({ ...question, unsupportedRequestBehavior: 'continue_unthreaded' });
    for (const content of ['Hello', 'And again']) {
      expect(textOf((await thread.send({ role: 'user', content })) as Anthropic.Message)).toContain(content);
    }
    expect(thread.messages).toHaveLength(4);
  },
);

describe.each(['responses', 'converse'])('a model of %s, where stops are the gateway’s or the provider’s', (format) => {
  it('ends at a stop of the client, and says which it was, whole and streamed', async () => {
    // Claude is the only model on Converse that reports which stop sequence it met.
    const model = format === 'converse' ? 'converse/thinking' : `${format}/echo`;
    const question = ask(model, 'Hello', { stop_sequences: ['never', 'simulated by', 'only play'] });
    const message = await client.messages.create(question);
    const streamMessage = await client.messages.stream(question).finalMessage();
    for (const { content, stop_reason, stop_sequence } of [message, streamMessage]) {
      expect([stop_reason, stop_sequence, content]).toMatchObject([
        'stop_sequence',
        'simulated by',
        [{ type: 'text', text: expect.stringMatching(/I am the model \S+, $/) }],
      ]);
    }
    expect(streamMessage.usage.output_tokens).toBe(message.usage.output_tokens);
  });
});

it.each(['messages', 'converse', 'generate-content', 'chat-completions'])(
  'Responses on a model of %s answers as a response with every member, its cost in the usage, and a record of the format that was spoken',
  async (format) => {
    const openai = new OpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, maxRetries: 0 });
    const request = {
      instructions: 'Be short.',
      metadata: { team: 'search' },
      max_output_tokens: 500,
      temperature: 0.5,
    };
    const { data, response } = await openai.responses
      .create({ model: `${format}/echo`, input: 'Hello', ...request })
      .withResponse();
    expect(data.output_text).toContain('Hello');
    expect(data).toMatchObject({
      ...request,
      id: expect.stringMatching(/^resp_\w+$/),
      object: 'response',
      model: `${format}/echo`,
      status: 'completed',
      error: null,
      incomplete_details: null,
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      text: { format: { type: 'text' } },
      access_programs: null,
      output: [
        {
          id: expect.stringMatching(/^msg_\w+$/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: expect.any(Number),
        input_tokens_details: { cached_tokens: expect.any(Number), cache_write_tokens: expect.any(Number) },
        output_tokens: expect.any(Number),
        output_tokens_details: { reasoning_tokens: expect.any(Number) },
        total_tokens: expect.any(Number),
        cost: expect.any(Number),
        cost_usd: expect.any(String),
      },
    });
    expect(await gateway.recordOf(response)).toMatchObject({ interfaceId: 'responses', format });
  },
);
