// Refusals, names and forms of single providers; their clients get an answer all the same.
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { png } from '../support/png.ts';
import {
  completionOf,
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  type ScriptedReply,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

let answer: ScriptedReply;
const urls: string[] = [];
const headers: Json[] = [];
let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    urls.push(outgoing.req.url ?? '');
    headers.push(outgoing.req.headers);
    sendReply(outgoing, answer);
  });
  const extras = { supported_params: { tools: true, vision: true, json_schema: true, extras: ['web_search'] } };
  const cached = { cache_write_input_price_per_million: '2', cache_write_1h_input_price_per_million: '4' };
  gateway = await startHarness({
    models: {
      'acme/chat': [{ provider: 'chat', upstream: 'qwen3' }],
      'acme/renamed': [{ provider: 'renaming', upstream: 'qwen3' }],
      'acme/odd': [{ provider: 'odd', upstream: 'qwen3' }],
      'acme/claude': [{ provider: 'claude', upstream: 'claude-opus-5', more: extras }],
      'acme/bedrock': [{ provider: 'strict', upstream: 'claude-opus-5', more: extras }],
      'acme/gpt': [{ provider: 'responses', upstream: 'gpt-5.6-sol', more: cached }],
    },
    providers: {
      chat: { base_url: provider.url },
      renaming: {
        base_url: provider.url,
        renames: { max_tokens: 'max_new_tokens' },
        drops: { members: ['user', 'metadata.team'] },
      },
      odd: { base_url: provider.url, renames: { max_tokens: 'output_limit', repetition: 'repetition_penalty' } },
      claude: { base_url: provider.url, apis: ['messages'] },
      strict: {
        base_url: provider.url,
        apis: ['messages'],
        drops: { betas: ['context-management-2025-06-27'], members: ['context_management', 'output_config.effort'] },
      },
      responses: { base_url: provider.url, apis: ['responses'] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const message = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  model: 'c',
  content: [{ type: 'text', text: 'So.' }],
  stop_reason: 'end_turn',
};
const whole = jsonReply({ ...message, usage: { input_tokens: 1, output_tokens: 1 } });
const sentBody = () => JSON.parse(provider.bodies.at(-1) ?? '') as Json;
const request = { max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hello' }] };

describe('what an operator says that a provider refuses', () => {
  const betas = 'context-management-2025-06-27, effort-2025-11-24';

  it('is not sent to it, betas and fields alike, and is reported', async () => {
    answer = whole;
    const body = { ...request, context_management: { edits: [] }, output_config: { effort: 'low', format: null } };
    const response = await gateway.postTo('/messages', { model: 'acme/bedrock', ...body }, { 'anthropic-beta': betas });
    expect(response.status).toBe(200);
    expect(headers.at(-1)?.['anthropic-beta']).toBe('effort-2025-11-24');
    expect(sentBody()).toEqual({ model: 'claude-opus-5', ...request, output_config: { format: null } });
    expect(response.headers.get('x-gw-left-out')?.split(',').sort()).toEqual([
      'anthropic-beta.context-management-2025-06-27',
      'context_management',
      'output_config.effort',
    ]);
    expect((await gateway.lastRecord())?.leftOut).toHaveLength(3);
    await gateway.postTo(
      '/messages',
      { model: 'acme/bedrock', ...request },
      { 'anthropic-beta': 'context-management-2025-06-27' },
    );
    expect(headers.at(-1)).not.toHaveProperty('anthropic-beta');
  });

  it('reaches every other provider', async () => {
    answer = whole;
    const body = { ...request, context_management: { edits: [] } };
    const response = await gateway.postTo('/messages', { model: 'acme/claude', ...body }, { 'anthropic-beta': betas });
    expect(headers.at(-1)?.['anthropic-beta']).toBe(betas);
    expect(sentBody()).toEqual({ model: 'claude-opus-5', ...body });
    expect(response.headers.get('x-gw-left-out')).toBeNull();
  });

  it('is said under another name, relayed and translated', async () => {
    answer = jsonReply(completionOf({ content: 'So.' }));
    const response = await gateway.post(
      hello('acme/renamed', { max_tokens: 7, user: 'u', metadata: { team: 'a', b: 'c' } }),
    );
    expect(response.headers.get('x-gw-left-out')?.split(',').sort()).toEqual(['metadata.team', 'user']);
    expect(sentBody()).toMatchObject({ max_new_tokens: 7, metadata: { b: 'c' } });
    await gateway.postTo('/messages', { model: 'acme/renamed', ...request });
    for (const name of ['max_tokens', 'user']) expect(sentBody()).not.toHaveProperty(name);
    expect(sentBody().max_new_tokens).toBe(9);
  });
});

describe('a field that is sent under both of its names', () => {
  const leftOutOf = async (model: string, more: Json) => {
    answer = jsonReply(completionOf({ content: 'So.' }));
    return (await gateway.post(hello(model, more))).headers.get('x-gw-left-out');
  };

  it('counts as the one that the provider knows, and the other is reported', async () => {
    expect(await leftOutOf('acme/odd', { repetition: 1, repetition_penalty: 2 })).toBe('repetition');
    expect(sentBody()).toMatchObject({ repetition_penalty: 2 });
    expect(sentBody()).not.toHaveProperty('repetition');
    expect(await leftOutOf('acme/renamed', { max_tokens: 7, max_new_tokens: 9 })).toBe('max_tokens');
    expect(sentBody()).toMatchObject({ max_new_tokens: 9 });
    expect(await leftOutOf('acme/odd', { repetition: 1, repetition_penalty: null })).toBeNull();
    expect(sentBody()).toMatchObject({ repetition_penalty: 1 });
  });

  it('is the output bound that is reserved, never one that the gateway does not know', async () => {
    expect(await leftOutOf('acme/odd', { max_tokens: 7, output_limit: 100_000 })).toBe('output_limit');
    expect(sentBody()).toMatchObject({ output_limit: 7 });
    expect(sentBody()).not.toHaveProperty('max_tokens');
  });
});

describe('what comes beside a body', () => {
  it('reaches the provider: the query of Responses and Messages, and the profile of a user', async () => {
    answer = jsonReply({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    await gateway.postTo('/responses?beta=true', { model: 'acme/gpt', input: 'Hello', store: false });
    expect(urls.at(-1)).toBe('/v1/responses?beta=true');
    answer = whole;
    const profile = { 'anthropic-user-profile-id': 'prof_1' };
    await gateway.postTo('/messages?beta=true', { model: 'acme/claude', ...request }, profile);
    expect(urls.at(-1)).toBe('/v1/messages?beta=true');
    expect(headers.at(-1)).toMatchObject(profile);
    await gateway.post(hello('acme/chat'), profile);
    expect(headers.at(-1)).not.toHaveProperty('anthropic-user-profile-id');
  });
});

describe('an image', () => {
  it('is of the type that its bytes say, without line ends, wherever it is translated to', async () => {
    answer = whole;
    const [, data = ''] = png(2, 2).split(',');
    const wrappedText = data.replace(/.{8}/g, '$&\r\n');
    const url = `data:image/jpeg;base64,${wrappedText}`;
    await gateway.post({
      model: 'acme/claude',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }];
    expect(sentBody().messages).toMatchObject([{ content }]);
    answer = jsonReply(completionOf({ content: 'So.' }));
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: wrappedText } };
    await gateway.postTo('/messages', {
      model: 'acme/chat',
      max_tokens: 9,
      messages: [{ role: 'user', content: [image] }],
    });
    expect(JSON.stringify(sentBody().messages)).toContain(`data:image/png;base64,${data}`);
  });
});

describe('tool calls of a server that writes them otherwise', () => {
  const tools: Anthropic.Tool[] = [{ name: 'look', input_schema: { type: 'object' } }];
  const callOf = (args: Json) => ({ id: 'call_1', type: 'function', function: { name: 'look', ...args } });

  it.each([
    ['an object', { arguments: { id: 12345678901234567890n.toString(), n: 1 } }, { id: '12345678901234567890', n: 1 }],
    ['null', { arguments: null }, {}],
    ['nothing', {}, {}],
    ['a text', { arguments: '{"n":1}' }, { n: 1 }],
    ...(
      [
        ['[1, 2]', { raw_input: '[1, 2]' }],
        ['"so"', { raw_input: '"so"' }],
        ['  so {"a": 1}', { raw_input: '  so {"a": 1}' }],
        [' \n', {}],
        ['  {"a": [1]}', { a: [1] }],
        ['{"a": 1, "n": NaN}', { a: 1, raw_input: '{"a": 1, "n": NaN}' }],
        ['{"a": 1}{"b": 2}', { a: 1, raw_input: '{"a": 1}{"b": 2}' }],
        ['{"a": "one', { a: 'one', raw_input: '{"a": "one' }],
      ] as const
    ).map(([text, input]) => [JSON.stringify(text), { arguments: text }, input] as const),
  ])('are read if their arguments are %s, whole, at once and letter by letter', async (_what, args, input) => {
    const client = anthropicOf(gateway);
    const body = { model: 'acme/chat', tools, ...request };
    const message = { role: 'assistant', content: null, tool_calls: [callOf(args)] };
    const expected = [{ type: 'tool_use', name: 'look', input }];
    answer = jsonReply(completionOf({ ...message, finish_reason: 'tool_calls' }));
    expect((await client.messages.create(body)).content).toMatchObject(expected);
    const chunk = (choice: Json) => ({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] });
    const delta = { ...message, tool_calls: [{ index: 0, ...callOf(args) }] };
    const letters = [...('arguments' in args && typeof args.arguments === 'string' ? args.arguments : '')].map(
      (letter) => ({ delta: { tool_calls: [{ index: 0, function: { arguments: letter } }] } }),
    );
    const firstChunk = { delta: { tool_calls: [{ index: 0, ...callOf({ arguments: '' }) }] } };
    for (const pieces of [[{ delta }], [{ message }], ...(letters.length > 0 ? [[firstChunk, ...letters]] : [])]) {
      answer = eventsReply(...pieces.map(chunk), chunk({ delta: {}, finish_reason: 'tool_calls' }));
      const { content, stop_reason } = await client.messages.stream(body).finalMessage();
      expect(content).toMatchObject(expected);
      expect(stop_reason).toBe('tool_use');
    }
  });

  it('and its texts are read if a whole message is in place of pieces', async () => {
    const client = anthropicOf(gateway);
    answer = eventsReply({
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'So "message": {}.' }, finish_reason: 'stop' }],
    });
    const { content } = await client.messages.stream({ model: 'acme/chat', ...request }).finalMessage();
    expect(content).toMatchObject([{ type: 'text', text: 'So "message": {}.' }]);
  });
});

describe('a response that breaks', () => {
  it('has every field that the official SDK declares, and the id, time and model that began', async () => {
    const began = {
      id: 'abc_7',
      object: 'response',
      created_at: 1_760_000_000,
      status: 'in_progress',
      model: 'gpt-5.6-sol-1',
      output: [],
    };
    answer = eventsReply(
      { type: 'response.created', sequence_number: 0, response: began },
      {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        delta: 'So',
      },
    );
    const body = { model: 'acme/gpt', input: 'Hello', instructions: 'Be brief.', store: false, stream: true };
    const text = await (await gateway.postTo('/responses', body)).text();
    const failed = JSON.parse(/^event: response\.failed\ndata: (.*)$/m.exec(text)?.[1] ?? '') as { response: Json };
    expect(failed).toMatchObject({ type: 'response.failed', sequence_number: 3 });
    expect(failed.response).toMatchObject({
      id: 'abc_7',
      object: 'response',
      created_at: 1_760_000_000,
      model: 'gpt-5.6-sol-1',
      status: 'failed',
      error: { code: 'server_error', message: expect.stringContaining('no_available_provider') },
      instructions: 'Be brief.',
      output: [],
      tools: [],
      usage: null,
      incomplete_details: null,
      parallel_tool_calls: true,
    });
    expect(text.trimEnd().split('\n\n')).toHaveLength(4);
    const client = openaiOf(gateway);
    const stream = client.responses.stream({ model: 'acme/gpt', input: 'Hello', store: false });
    await expect(stream.finalResponse()).rejects.toThrow();
  });
});

describe('what was written into a cache', () => {
  it('for twelve hours costs what an hour costs', async () => {
    const details = {
      cached_tokens: 0,
      cache_write_tokens: 1_000,
      cache_write_tokens_details: { ttl_30m_tokens: 400, ttl_12h_tokens: 600 },
    };
    const usage = { input_tokens: 1_000, output_tokens: 0, total_tokens: 1_000, input_tokens_details: details };
    answer = jsonReply({ id: 'resp_1', object: 'response', status: 'completed', output: [], usage });
    await (await gateway.postTo('/responses', { model: 'acme/gpt', input: 'Hello', store: false })).text();
    // The cost is 400 tokens at 2 and 600 at 4 per million.
    expect((await gateway.lastRecord())?.costPicoUsd).toBe(3_200_000_000n);
    const output = [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: '' }] }];
    answer = jsonReply({ id: 'resp_1', object: 'response', status: 'completed', output, usage });
    const chat = await (
      await gateway.postTo('/chat/completions', { model: 'acme/gpt', messages: request.messages })
    ).json();
    expect(chat).toMatchObject({
      usage: { prompt_tokens_details: { cache_write_1h_tokens: 600 }, cost_usd: '0.0032' },
    });
    const message = await (await gateway.postTo('/messages', { model: 'acme/gpt', ...request })).json();
    expect(message).toMatchObject({ usage: { cache_creation: { ephemeral_1h_input_tokens: 600 } } });
    expect((await gateway.lastRecord())?.costPicoUsd).toBe(3_200_000_000n);
  });

  it('is unknown while a stream begins, not nothing', async () => {
    answer = eventsReply({
      id: 'c',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' }],
    });
    const text = await (await gateway.postTo('/messages', { model: 'acme/chat', ...request, stream: true })).text();
    expect(text).toContain('"cache_creation":null');
    expect(text).not.toContain('ephemeral_5m');
  });
});
