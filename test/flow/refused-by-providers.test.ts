// Requests that clients send every day and real providers refuse, through the front door with the official SDKs. The
// simulated providers refuse them in the same words (`refusals` of their formats), so the real provider would accept
// each request that is answered here.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';

type Json = Record<string, unknown>;

const upstreams = {
  'chat/5.6': ['chat', 'gpt-5.6-sol'],
  'chat/5.4': ['chat', 'gpt-5.4'],
  'chat/astra': ['chat', 'gpt-6-astra'],
  'both/5.6': ['both', 'gpt-5.6-sol'],
  'both/6': ['both', 'gpt-6-sol'],
  'both/astra': ['both', 'gpt-6-astra'],
  'router/5.6': ['router', 'openai/gpt-5.6-sol'],
  'messages/claude': ['messages', 'claude-sonnet-4-6'],
  'converse/claude': ['converse', 'anthropic.claude-sonnet-4-6-v1'],
  'messages/older': ['messages', 'claude-sonnet-4-0'],
  'converse/newer': ['converse', 'anthropic.claude-opus-5-v1:0'],
  'responses/5.4': ['responses', 'gpt-5.4'],
  'gemini/3': ['gemini', 'gemini-3-pro'],
} as const;

const apis = {
  chat: ['chat-completions'],
  both: ['chat-completions', 'responses'],
  router: ['chat-completions'],
  messages: ['messages'],
  converse: ['converse'],
  responses: ['responses'],
  gemini: ['generate-content'],
} as const;

let gateway: Harness;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true, vision: true } };
  const models = Object.fromEntries(
    Object.entries(upstreams).map(([id, [provider, upstream]]) => [
      id,
      [{ provider, upstream: `${upstream}/echo`, more }],
    ]),
  );
  gateway = await startHarness({
    models,
    providers: Object.fromEntries(
      Object.entries(apis).map(([id, reach]) => [
        id,
        { apis: reach, ...(id === 'router' ? { reasoning_style: 'object' } : {}) },
      ]),
    ),
  });
  openai = openaiOf(gateway, '/openai/v1');
  anthropic = anthropicOf(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const sentRequests = (): readonly { readonly format: string | null; readonly body: Json }[] =>
  gateway.simulator.calls.map(({ format, body }) => ({ format, body: body as Json }));
const leftOutOf = ({ response }: { readonly response: Response }): string =>
  response.headers.get('x-gw-left-out') ?? '';

const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const chatTool = (parameters: Json = city, strict?: boolean) => ({
  type: 'function' as const,
  function: { name: 'get_weather', parameters, ...(strict === undefined ? {} : { strict }) },
});
const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('chat completions with tools and no effort, of a model that thinks by itself', () => {
  const ask = (model: string, more: object = {}) =>
    openai.chat.completions.create({ model, messages, tools: [chatTool()], ...more });

  it.each(['both/5.6', 'both/6', 'both/astra'])('go to Responses if the provider of %s has it', async (model) => {
    await ask(model);
    expect(sentRequests()).toMatchObject([{ format: 'responses' }]);
    expect(sentRequests()[0]?.body).not.toHaveProperty('reasoning');
  });

  it.each([{}, { reasoning: { exclude: true } }, { reasoning: {} }])(
    'say that it is not to think if only chat is spoken, with %j',
    async (more) => {
      await ask('chat/5.6', more);
      expect(sentRequests()).toMatchObject([{ format: 'chat-completions', body: { reasoning_effort: 'none' } }]);
    },
  );

  it.each([
    ['chat/5.4', {}],
    ['router/5.6', {}],
    ['chat/5.6', { tools: undefined }],
    ['chat/5.6', { tools: [] }],
  ] as const)('add nothing for %s with %j', async (model, more) => {
    const answer = ask(model, more);
    // A router in front of the model may accept it in another form, so it gets no instruction.
    await (model === 'router/5.6' ? expect(answer).rejects.toMatchObject({ status: 400 }) : answer);
    expect(sentRequests()).toHaveLength(1);
    expect(Object.keys(sentRequests()[0]?.body ?? {}).filter((name) => name.startsWith('reasoning'))).toEqual([]);
  });

  it('leave an effort that the client wrote as it is', async () => {
    await ask('chat/5.6', { reasoning_effort: 'none' });
    await expect(ask('chat/5.6', { reasoning_effort: 'low' })).rejects.toMatchObject({ status: 400 });
    expect(sentRequests().map(({ body }) => body.reasoning_effort)).toEqual(['none', 'low']);
  });
});

describe('clients of other interfaces with tools, if only chat is spoken', () => {
  const input_schema = { ...city, type: 'object' as const };

  it.each([
    [{}, ''],
    [{ output_config: { effort: 'low' as const } }, 'output_config.effort'],
    [{ thinking: { type: 'disabled' as const } }, ''],
  ])('are answered on Messages with %j', async (more, leftOut) => {
    const tools = [{ name: 'get_weather', input_schema }];
    const answer = await anthropic.messages
      .create({ model: 'chat/5.6', max_tokens: 4_000, messages, tools, ...more })
      .withResponse();
    expect(sentRequests()).toMatchObject([{ format: 'chat-completions', body: { reasoning_effort: 'none' } }]);
    expect(leftOutOf(answer)).toBe(leftOut);
  });

  it('are answered on Responses, with the effort reported as left out', async () => {
    const tool = { type: 'function' as const, name: 'get_weather', parameters: city, strict: false };
    const request = { model: 'chat/5.6', input: 'Hello', tools: [tool], reasoning: { effort: 'high' as const } };
    const answer = await openai.responses.create(request).withResponse();
    expect(sentRequests()).toMatchObject([{ body: { reasoning_effort: 'none' } }]);
    expect(leftOutOf(answer)).toBe('reasoning.effort');
  });
});

describe('strict tools', () => {
  const bounded = {
    ...city,
    properties: { days: { type: 'integer', minimum: 0, maximum: 7 } },
    required: ['days'],
  };
  const loose = { ...city, properties: { city: { type: 'string' }, days: { type: 'integer' } } };

  it.each(['messages/claude', 'converse/claude'])('of OpenAI are loose for %s if it knows no bounds', async (model) => {
    const chat = await openai.chat.completions
      .create({ model, messages, tools: [chatTool(bounded, true)] })
      .withResponse();
    const tool = { type: 'function' as const, name: 'get_weather', parameters: bounded, strict: true };
    const response = await openai.responses.create({ model, input: 'Hello', tools: [tool] }).withResponse();
    expect([leftOutOf(chat), leftOutOf(response)]).toEqual(['tools.strict', 'tools.strict']);
    expect(JSON.stringify(sentRequests())).not.toContain('"strict":true');
    expect(JSON.stringify(sentRequests())).toContain('"maximum":7');
  });

  it('stay strict if the model knows the schema', async () => {
    const request = { model: 'messages/claude', messages, tools: [chatTool(city, true)] };
    const answer = await openai.chat.completions.create(request).withResponse();
    expect(leftOutOf(answer)).toBe('');
    expect(sentRequests()).toMatchObject([{ body: { tools: [{ strict: true }] } }]);
  });

  const place = z4.object({ name: z4.string(), zones: z4.array(z4.enum(['a', 'b'])) });
  const node = z4.object({
    value: z4.string(),
    get next() {
      return node.nullable();
    },
  });
  const once = z3.object({ city: z3.string() });
  it.each([
    ['of Zod 4', zodFunction({ name: 'f', parameters: z4.object({ place }) })],
    ['of Zod 4 that holds itself', zodFunction({ name: 'f', parameters: node })],
    ['of Zod 3 that names one twice', zodFunction({ name: 'f', parameters: z3.object({ from: once, to: once }) })],
  ])('stay strict for GPT with a schema %s, as the SDK of OpenAI writes it', async (_name, tool) => {
    const request = { model: 'responses/5.4', messages, tools: [tool] };
    const answer = await openai.chat.completions.create(request).withResponse();
    expect(leftOutOf(answer)).toBe('');
    expect(sentRequests()).toMatchObject([
      { body: { tools: [{ strict: true, parameters: tool.function.parameters }] } },
    ]);
  });

  it('of Claude are loose for GPT if a property is optional', async () => {
    const tools = [{ name: 'get_weather', input_schema: { ...loose, type: 'object' as const }, strict: true }];
    const request = { model: 'responses/5.4', max_tokens: 4_000, messages, tools };
    const answer = await anthropic.messages.create(request).withResponse();
    expect(leftOutOf(answer)).toBe('tools.strict');
    expect(sentRequests()).toMatchObject([{ body: { tools: [{ strict: false }] } }]);
  });

  it.each(['messages/claude', 'converse/claude'])('have 24 optional properties at most for %s', async (model) => {
    const tools = ['a', 'b', 'c'].map((name) => {
      const names = Array.from({ length: 10 }, (_one, index) => [`${name}${index}`, { type: 'string' }]);
      const tool = chatTool({ ...city, properties: Object.fromEntries(names), required: [] }, true);
      return { ...tool, function: { ...tool.function, name } };
    });
    const answer = await openai.chat.completions.create({ model, messages, tools }).withResponse();
    expect(leftOutOf(answer)).toBe('tools.strict');
    expect(JSON.stringify(sentRequests()).match(/"strict":true/g)).toHaveLength(2);
  });

  it.each(['messages/older', 'converse/newer'])('are reported if %s knows no such word', async (model) => {
    const request = { model, messages, tools: [chatTool(city, true)] };
    const answer = await openai.chat.completions.create(request).withResponse();
    expect(JSON.stringify(sentRequests())).not.toContain('"strict":true');
    expect(leftOutOf(answer)).toBe('tools.strict');
  });

  it('stay strict for Gemini, which has one word for all', async () => {
    const request = { model: 'gemini/3', messages, tools: [chatTool(city, true)] };
    const answer = await openai.chat.completions.create(request).withResponse();
    expect(leftOutOf(answer)).toBe('');
    expect(JSON.stringify(sentRequests())).toContain('VALIDATED');
  });

  it('are twenty at most for Claude', async () => {
    const tools = Array.from({ length: 22 }, (_one, index) => {
      const tool = chatTool(city, true);
      return { ...tool, function: { ...tool.function, name: `tool_${index}` } };
    });
    const answer = await openai.chat.completions.create({ model: 'messages/claude', messages, tools }).withResponse();
    const strict = ((sentRequests()[0]?.body.tools ?? []) as Json[]).filter((tool) => tool.strict === true);
    expect([leftOutOf(answer), strict.length]).toEqual(['tools.strict', 20]);
  });
});

describe('a history that another model made', () => {
  const everyFormat = ['chat/5.4', 'messages/claude', 'converse/claude', 'responses/5.4', 'gemini/3'] as const;
  const input_schema = { ...city, type: 'object' as const };
  const thinking = { type: 'thinking' as const, thinking: 'Hm.', signature: 'c2lnbmVkIGJ5IG5vYm9keQ' };
  const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } };
  const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'Sun' };

  it.each(everyFormat)('with calls that are not signed goes on at %s, on each interface', async (model) => {
    await openai.chat.completions.create({
      model,
      tools: [chatTool()],
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: null,
          tool_calls: ['call_1', 'call_2'].map((id) => ({
            id,
            type: 'function' as const,
            function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
          })),
        },
        { role: 'tool', tool_call_id: 'call_2', content: 'Rain' },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sun' },
      ],
    });
    const tool = { type: 'function' as const, name: 'get_weather', parameters: city, strict: false };
    const item = { call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Rome"}' };
    await openai.responses.create({
      model,
      store: false,
      tools: [tool],
      input: [
        ...messages,
        { type: 'function_call', ...item },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sun' },
      ],
    });
    await anthropic.messages.create({
      model,
      max_tokens: 4_000,
      tools: [{ name: 'get_weather', input_schema }],
      messages: [
        ...messages,
        { role: 'assistant', content: model === 'messages/claude' ? [call] : [thinking, call] },
        { role: 'user', content: [result] },
      ],
    });
    expect(sentRequests().map(({ format }) => format)).toHaveLength(3);
  });

  // Messages and Responses have this case as a row of their tables.
  it.each(everyFormat.slice(1))('with a result whose call is gone goes on at %s', async (model) => {
    const chat = [...messages, { role: 'tool' as const, tool_call_id: 'call_9', content: 'Sun' }];
    await openai.chat.completions.create({ model, tools: [chatTool()], messages: chat });
    expect(JSON.stringify(sentRequests())).toContain('Sun');
  });
});
