// Fields of single servers of chat completions, which the gateway sends on in the same form.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

let answer: { readonly type: string; readonly body: string | readonly string[] };
let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(200, { 'content-type': answer.type });
    const [first, ...rest] = typeof answer.body === 'string' ? [answer.body] : answer.body;
    outgoing.write(first);
    // Each piece is written alone, after the piece before it was sent.
    const next = () => {
      const piece = rest.shift();
      if (piece === undefined) outgoing.end();
      // This answer never ends and is never silent.
      else if (piece === neverEnds) {
        const alive = setInterval(() => outgoing.write(': alive\n\n'), 20);
        outgoing.once('close', () => clearInterval(alive));
      } else outgoing.write(piece, () => setImmediate(next));
    };
    setImmediate(next);
  });
  const more = { cached_input_price_per_million: '0.10' };
  gateway = await startHarness({
    models: {
      'acme/model': [{ provider: 'acme', upstream: 'qwen3', more }],
      'acme/gpt': [{ provider: 'openai', upstream: 'gpt-5-mini' }],
      'acme/mistral': [{ provider: 'mistral', upstream: 'magistral-medium-2509' }],
      'acme/deployment': [{ provider: 'azure', upstream: 'our-chat' }],
      'acme/llama': [{ provider: 'azure', upstream: 'Llama-3.3-70B-Instruct' }],
      'acme/older': [{ provider: 'openai', upstream: 'gpt-4.1' }],
      'acme/claude': [{ provider: 'claude', upstream: 'claude-opus-5', more: { supported_params: { tools: true } } }],
    },
    providers: {
      acme: { base_url: provider.url },
      mistral: { kind: 'mistral', base_url: provider.url, apis: ['chat-completions'] },
      azure: { kind: 'azure', base_url: provider.url, apis: ['chat-completions'] },
      openai: { kind: 'openai', base_url: provider.url, apis: ['chat-completions'] },
      claude: { base_url: provider.url, apis: ['messages'] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});
beforeEach(() => {
  answer = completion({ prompt_tokens: 10, completion_tokens: 5 });
});

const completion = (usage: Json, message: Json = { content: 'So.' }) => ({
  type: 'application/json',
  body: JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...message },
        finish_reason: message.tool_calls ? 'tool_calls' : 'stop',
      },
    ],
    usage,
  }),
});
const chunk = (more: Json) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], ...more })}\n\n`;
const chunkText = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'So.' }, finish_reason: null }] });
const finished = (more: Json = {}) => chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...more });
const done = 'data: [DONE]\n\n';
const neverEnds = 'and so on';
const stream = (...body: string[]) => ({ type: 'text/event-stream', body });
const sentBody = () => JSON.parse(provider.bodies.at(-1) ?? '') as Json;
const messagesCall = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };

describe('what a server says it has used', () => {
  it.each([
    ['DeepSeek', { prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200 }],
    ['Moonshot', { cached_tokens: 800 }],
    ['a host of Claude', { cache_read_input_tokens: 800 }],
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 800 } }],
    ['OpenAI, which counts first', { prompt_tokens_details: { cached_tokens: 800 }, cached_tokens: 1 }],
  ])('from its cache is billed as that, under the name of %s', async (_name, more) => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, ...more };
    for (const send of [
      () => gateway.post(hello('acme/model')),
      () => gateway.postTo('/messages', { model: 'acme/model', ...messagesCall }),
      () => gateway.post(hello('acme/model', { stream: true })),
      () => gateway.postTo('/messages', { model: 'acme/model', ...messagesCall, stream: true }),
    ]) {
      const isStream = send.toString().includes('stream');
      answer = isStream ? stream(chunkText, finished(), chunk({ usage }), done) : completion(usage);
      await (await send()).text();
      const record = await gateway.lastRecord();
      expect(record).toMatchObject({ promptTokens: 1_000, cachedTokens: 800, completionTokens: 100, estimated: false });
      // The cost is 200 tokens at 1.00, 800 at 0.10 and 100 at 2.00 per million.
      expect(record?.costPicoUsd).toBe(480_000_000n);
    }
  });

  it.each([
    ['Moonshot', { prompt_tokens: 1_000, completion_tokens: 100, cached_tokens: 800 }],
    ['Responses', { input_tokens: 1_000, output_tokens: 100, cached_tokens: 800 }],
  ])('has its usual place for clients of chat completions too, if %s has another', async (_name, usage) => {
    answer = completion(usage);
    const usual = { prompt_tokens: 1_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 800 } };
    const whole = (await (await gateway.post(hello('acme/model'))).json()) as Json;
    expect(whole.usage).toMatchObject({ ...usage, ...usual });
    answer = stream(chunkText, finished(), chunk({ usage }), done);
    const request = hello('acme/model', { stream: true, usage: { include: true } });
    const [last] = dataLines(await (await gateway.post(request)).text()).slice(-2);
    expect(JSON.parse(last ?? '')).toMatchObject({ choices: [], usage: { ...usage, ...usual } });
  });

  const used = { prompt_tokens: 1_000, completion_tokens: 100 };
  it.each([
    ['behind the end marker', [chunkText, finished(), done, chunk({ usage: used })]],
    ['behind it, in one piece', [chunkText, finished(), done + chunk({ usage: used })]],
    ['in x_groq', [chunkText, finished({ x_groq: { id: 'r', usage: used } }), done]],
    [
      'in the words of Responses',
      [chunkText, finished(), chunk({ usage: { input_tokens: 1_000, output_tokens: 100 } }), done],
    ],
  ])('is read %s, by clients of every interface, and reported once', async (_where, pieces) => {
    for (const send of [
      () => gateway.post(hello('acme/model', { stream: true, stream_options: { include_usage: true } })),
      () => gateway.postTo('/messages', { model: 'acme/model', ...messagesCall, stream: true }),
    ]) {
      answer = stream(...pieces);
      const text = await (await send()).text();
      expect(await gateway.lastRecord()).toMatchObject({
        promptTokens: 1_000,
        completionTokens: 100,
        estimated: false,
      });
      if (send.toString().includes('include_usage')) {
        expect(text.match(/"usage":\{/g)?.length ?? 0).toBeGreaterThanOrEqual(1);
        expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
        expect(text.match(/\[DONE\]/g)).toHaveLength(1);
      }
    }
  });
});

describe('what a server reports that is no count, or more than the whole', () => {
  const details = (more: Json) => ({ prompt_tokens_details: more });
  const clients: readonly (readonly [path: string, body: Json])[] = [
    ['/chat/completions', { messages: messagesCall.messages, max_tokens: 100 }],
    ['/messages', messagesCall],
    ['/responses', { input: 'Hello', store: false, max_output_tokens: 100 }],
  ];
  const prompt_tokens = 10;
  const completion_tokens = 5;

  it.each<[usage: Json, prompt: number | undefined, cached: number, written: number, output: number | undefined]>([
    [{ prompt_tokens, completion_tokens: -5 }, 10, 0, 0, undefined],
    [{ prompt_tokens, completion_tokens: 2.5 }, 10, 0, 0, undefined],
    [{ prompt_tokens }, 10, 0, 0, undefined],
    [{ prompt_tokens: -1, completion_tokens }, undefined, 0, 0, 5],
    [{ completion_tokens }, undefined, 0, 0, 5],
    [{ prompt_tokens, completion_tokens, ...details({ cached_tokens: 800 }) }, 10, 10, 0, 5],
    [{ prompt_tokens, completion_tokens, ...details({ cached_tokens: -3 }) }, 10, 0, 0, 5],
    [{ prompt_tokens, completion_tokens, ...details({ cached_tokens: 4, cache_write_tokens: 800 }) }, 10, 4, 6, 5],
    [{ prompt_tokens: 99_999_999, completion_tokens }, 128_000, 0, 0, 5],
    [{ prompt_tokens, completion_tokens: 99_999 }, 10, 0, 0, 100],
  ])('is charged by one rule, whichever client asks: %j', async (usage, prompt, cached, writtenTokens, output) => {
    for (const [path, body] of clients) {
      for (const isStream of [false, true]) {
        answer = isStream ? stream(chunkText, finished(), chunk({ usage }), done) : completion(usage);
        await (await gateway.postTo(path, { model: 'acme/model', ...body, stream: isStream })).text();
        const record = await gateway.lastRecord();
        const { promptTokens, completionTokens } = record ?? {};
        expect([path, isStream, record]).toMatchObject([
          path,
          isStream,
          {
            promptTokens: prompt ?? expect.any(Number),
            cachedTokens: cached,
            cacheWriteTokens: writtenTokens,
            completionTokens: output ?? 1,
          },
        ]);
        if (prompt === undefined) expect(promptTokens).toBeGreaterThan(15);
        const isBounded = prompt === 128_000 || output === 100;
        expect(record?.estimated).toBe(prompt === undefined || output === undefined || isBounded);
        expect(completionTokens).toBeGreaterThan(0);
      }
    }
  });

  it('is a number to clients of Messages and Responses all the same', async () => {
    answer = completion({ prompt_tokens });
    const message = await (await gateway.postTo('/messages', { model: 'acme/model', ...messagesCall })).json();
    expect(message).toMatchObject({ usage: { input_tokens: 10, output_tokens: 1 } });
    answer = completion({ completion_tokens });
    const [path, body] = clients[2] ?? ['', {}];
    const response = (await (await gateway.postTo(path, { model: 'acme/model', ...body })).json()) as Json;
    expect(response).toMatchObject({ usage: { input_tokens: expect.any(Number), output_tokens: 5 } });
    expect((response.usage as Json).input_tokens).toBeGreaterThan(1);
  });
});

describe('a server that keeps its connection open after the end marker', () => {
  it.each(['/chat/completions', '/messages'])('holds no client of %s: what it tells by then is all', async (path) => {
    answer = stream(chunkText, finished(), done, neverEnds);
    const response = await gateway.postTo(path, { model: 'acme/model', ...messagesCall, stream: true });
    const text = await response.text();
    expect(text).toContain(path === '/messages' ? 'event: message_stop' : 'data: [DONE]');
    expect(text).not.toContain('error');
    expect(await gateway.lastRecord()).toMatchObject({ outcome: 'ok', attempts: 1, estimated: true });
  });
});

describe('usage in the last chunk with a choice, below /openai/v1', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const ask = async (body: object) => {
    const client = openaiOf(gateway, '/openai/v1');
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    const request = { ...hello('acme/model'), stream: true, ...body } as OpenAI.ChatCompletionCreateParamsStreaming;
    for await (const one of await client.chat.completions.create(request)) chunks.push(one);
    return chunks;
  };

  it.each([
    ['alone', [chunkText, finished({ usage }), done], {}],
    ['with a chunk of usage behind', [chunkText, finished({ usage }), chunk({ usage }), done], {}],
    [
      'for a client that asks for it by both names',
      [chunkText, finished({ usage }), done],
      { usage: { include: true } },
    ],
  ])('is the merged one there, and no other follows: %s', async (_how, pieces, more) => {
    answer = stream(...pieces);
    const chunks = await ask({ stream_options: { include_usage: true }, ...more });
    const usageChunks = chunks.filter((one) => one.usage);
    expect(usageChunks).toHaveLength(1);
    expect(usageChunks[0]?.choices[0]?.finish_reason).toBe('stop');
    expect(usageChunks[0]?.usage).toMatchObject({ ...usage, cost: expect.any(Number), provider: 'acme' });
  });

  it('keeps its place before chunks that come after it without a choice', async () => {
    const later = [1, 2].map((part) => chunk({ choices: [], part }));
    answer = stream(chunkText, finished({ usage }), ...later, done);
    const chunks = (await ask({ stream_options: { include_usage: true } })) as (OpenAI.ChatCompletionChunk & Json)[];
    expect(chunks.slice(-3).map(({ part, choices }) => part ?? choices[0]?.finish_reason)).toEqual(['stop', 1, 2]);
    expect(chunks.filter((one) => one.usage)).toHaveLength(1);
  });

  it('stays as it came for a client that asks for none, and below /v1', async () => {
    answer = stream(chunkText, finished({ usage }), done);
    expect((await ask({})).filter((one) => one.usage).map((one) => one.usage)).toEqual([usage]);
    const request = hello('acme/model', { stream: true, stream_options: { include_usage: true } });
    expect(await (await gateway.post(request)).text()).toContain(finished({ usage }));
  });
});

describe('thinking goes back under the name under which it came', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const tools: Anthropic.Tool[] = [{ name: 'look', input_schema: { type: 'object' } }];

  it.each(['reasoning', 'reasoning_content'])('%s', async (name) => {
    const client = anthropicOf(gateway);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }];
    for (const isStream of [false, true]) {
      const delta = { role: 'assistant', content: null, [name]: 'I must look.', tool_calls: [{ index: 0, ...call }] };
      answer = isStream
        ? stream(chunk({ choices: [{ index: 0, delta, finish_reason: null }] }), finished(), done)
        : completion({ prompt_tokens: 10, completion_tokens: 5 }, delta);
      const body = { model: 'acme/model', max_tokens: 100, tools, messages };
      const { content } = isStream
        ? await client.messages.stream(body).finalMessage()
        : await client.messages.create(body);
      answer = completion({ prompt_tokens: 10, completion_tokens: 5 });
      const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'Seen.' };
      await client.messages.create({
        ...body,
        messages: [...messages, { role: 'assistant', content }, { role: 'user', content: [result] }],
      });
      const [, back] = sentBody().messages as Json[];
      const other = name === 'reasoning' ? 'reasoning_content' : 'reasoning';
      expect(back).toMatchObject({ role: 'assistant', [name]: 'I must look.' });
      expect(back).not.toHaveProperty(other);
    }
  });
});

it('thinking in parts goes back in parts, after a call too', async () => {
  const client = anthropicOf(gateway);
  const part = { type: 'thinking', thinking: [{ type: 'text', text: 'I must look.' }] };
  const call = { id: 'abcDEF123', function: { name: 'look', arguments: '{}' } };
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }];
  const tools: Anthropic.Tool[] = [{ name: 'look', input_schema: { type: 'object' } }];
  for (const isStream of [false, true]) {
    const message = { role: 'assistant', content: [part, { type: 'text', text: 'Now.' }] };
    answer = isStream
      ? stream(
          chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
          chunk({
            choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: 'tool_calls' }],
          }),
          done,
        )
      : completion({ prompt_tokens: 10, completion_tokens: 5 }, { ...message, tool_calls: [call] });
    const body = { model: 'acme/mistral', max_tokens: 100, tools, messages };
    const { content } = isStream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    const results = content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'Seen.' }] : [],
    );
    answer = completion({ prompt_tokens: 10, completion_tokens: 5 });
    await client.messages.create({
      ...body,
      messages: [...messages, { role: 'assistant', content }, { role: 'user', content: results }],
    });
    const [, back, result] = sentBody().messages as [Json, { content: Json; tool_calls: [{ id: string }] }, Json];
    expect(back.content).toEqual([part, { type: 'text', text: 'Now.' }]);
    expect(Object.keys(back)).not.toContain('reasoning_content');
    expect([back.tool_calls[0].id, result.tool_call_id]).toEqual([
      expect.stringMatching(/^[a-z0-9]{9}$/),
      back.tool_calls[0].id,
    ]);
  }
});

it.each(['messages', 'responses'] as const)(
  'two calls of an answer with one id are two with ids of their own to %s',
  async (path) => {
    const calls = ['one', 'two'].map((name, index) => ({
      index,
      id: 'read',
      type: 'function',
      function: { name, arguments: `{"n":${index}}` },
    }));
    const pieces = calls.map((call) =>
      chunk({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }),
    );
    for (const isStream of [false, true]) {
      answer = isStream
        ? stream(...pieces, chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }), done)
        : completion({ prompt_tokens: 10, completion_tokens: 5 }, { content: null, tool_calls: calls });
      const request = path === 'messages' ? messagesCall : { input: 'Hello' };
      const text = await (
        await gateway.postTo(`/${path}`, { model: 'acme/model', ...request, stream: isStream })
      ).text();
      const ids = new Set(text.match(path === 'messages' ? /"id":"(call|read)[^"]*"/g : /"call_id":"[^"]+"/g));
      expect([ids.size, text.includes('one'), text.includes('two')]).toEqual([2, true, true]);
    }
  },
);

describe('what goes out', () => {
  it('has max_tokens under the newer name for a model of OpenAI’s that knows no other, and for no other model', async () => {
    const boundsOf = async (model: string, more: Json) => {
      await gateway.post(hello(model, more));
      const { max_tokens, max_completion_tokens } = sentBody();
      return [max_tokens, max_completion_tokens];
    };
    expect(await boundsOf('acme/gpt', { max_tokens: 7 })).toEqual([undefined, 7]);
    expect(await boundsOf('acme/gpt', { max_tokens: 7, max_completion_tokens: 8 })).toEqual([undefined, 8]);
    expect(await boundsOf('acme/older', { max_tokens: 7 })).toEqual([7, undefined]);
    expect(await boundsOf('acme/deployment', { max_tokens: 7 })).toEqual([undefined, 7]);
    expect(await boundsOf('acme/llama', { max_tokens: 7 })).toEqual([7, undefined]);
    expect(await boundsOf('acme/model', { max_tokens: 7 })).toEqual([7, undefined]);
  });

  it('is refused if an entry knows no schemas, on Messages too', async () => {
    const schema = { type: 'json_schema', schema: { type: 'object' } };
    for (const more of [{ output_config: { format: schema } }, { output_format: schema }]) {
      const response = await gateway.postTo('/messages', { model: 'acme/claude', ...messagesCall, ...more });
      await expectError(response, 422, 'structured_output_unsupported');
    }
  });

  it('has tools of a browser that the client runs, and no payment beyond tokens is required', async () => {
    answer = {
      type: 'application/json',
      body: JSON.stringify({
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    };
    const tools = ['browser_toolset_20260801', 'computer_toolset_20260801'].map((type) => ({ type, name: type }));
    const response = await gateway.postTo('/messages', { model: 'acme/claude', ...messagesCall, tools });
    expect(response.status).toBe(200);
    expect(sentBody().tools).toEqual(tools);
  });

  it('goes without a tag if the header is empty', async () => {
    for (const header of ['', ' ']) {
      const response = await gateway.post(hello('acme/model'), { 'x-gw-tags': header });
      expect(response.status).toBe(200);
    }
    await expectError(await gateway.post(hello('acme/model'), { 'x-gw-tags': ',' }), 400, 'invalid_request');
  });
});
