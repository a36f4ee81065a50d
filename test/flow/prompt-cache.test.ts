// Prompt caches for every client: an agent of any interface reads from Claude's cache what it sent before, and cache
// marks of any interface become marks of the provider's format.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type CachingClaude, startCachingClaude } from '../support/claude-cache.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const turns = 10;
const instructions = 'You look pages up, one after the other. '.repeat(120);
const pageText = (page: unknown) => `Page ${JSON.stringify(page)}. ${'What the page says. '.repeat(40)}`;
const parameters = { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] } as const;
const description = 'Looks a page up. '.repeat(30);

let claude: CachingClaude;
let openai: ScriptedProvider;
let gateway: Harness;
const formats = ['messages', 'converse', 'openrouter'] as const;
/** The number of marks for a client that marks everything it can. OpenRouter has no mark for tools. */
const marksOfOurs = { messages: 4, converse: 4, openrouter: 3 } as const;

beforeAll(async () => {
  claude = await startCachingClaude(turns);
  openai = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(400, { 'content-type': 'application/json' });
    outgoing.end('{"error":{"message":"No."}}');
  });
  const entry = (provider: string, upstream: string, more = {}) => [{ provider, upstream, more }];
  gateway = await startHarness({
    models: {
      'plain/messages': entry('messages', 'claude-opus-5'),
      'plain/converse': entry('converse', 'anthropic.claude-opus-5-v1:0'),
      'plain/openrouter': entry('router', 'anthropic/claude-opus-5'),
      'entry/openrouter': entry('router', 'anthropic/claude-opus-5', { prompt_cache: 'auto' }),
      'entry/messages': entry('messages', 'claude-opus-5', { prompt_cache: 'auto' }),
      'entry/converse': entry('converse', 'anthropic.claude-opus-5-v1:0', { prompt_cache: 'auto' }),
      'model/messages': entry('messages', 'claude-sonnet-4-5'),
      'model/off': entry('messages', 'claude-sonnet-4-5', { prompt_cache: 'off' }),
      'other/auto': entry('messages', 'glm-5', { prompt_cache: 'auto' }),
      'long/auto': entry('messages', 'claude-haiku-4-5', { prompt_cache: 'auto' }),
      'openrouter/auto': entry('openrouter', 'anthropic/claude-opus-5', { prompt_cache: 'auto' }),
      'gpt/new': entry('responses', 'gpt-5.6-sol'),
      'gpt/old': entry('responses', 'gpt-5.4'),
      'gpt/chat': entry('gpt', 'gpt-5.6-sol'),
      'gpt/older-chat': entry('gpt', 'gpt-5.4'),
      'plain/host': entry('host', 'anthropic/claude-opus-5'),
    },
    modelMembers: { 'model/messages': { prompt_cache: 'auto' }, 'model/off': { prompt_cache: 'auto' } },
    providers: {
      messages: { base_url: claude.url, apis: ['messages'] },
      converse: { base_url: claude.url, apis: ['converse'] },
      responses: { base_url: openai.url, apis: ['responses'] },
      openrouter: { kind: 'openrouter', base_url: openai.url },
      router: { kind: 'openrouter', base_url: claude.url },
      gpt: { kind: 'openai', base_url: openai.url, apis: ['chat-completions'], auth: 'none' },
      host: { base_url: openai.url },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await claude.stop();
  await openai.stop();
});
beforeEach(() => claude.forget());

type Client = (model: string, more?: object) => Promise<void>;

const chatAgent: Client = async (model, more = {}) => {
  const client = openaiOf(gateway);
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: 'Read on until you know.' },
  ];
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'look', description, parameters } },
  ];
  for (let turn = 0; turn < turns; turn += 1) {
    const { choices } = await client.chat.completions.create({ model, messages, tools, ...more });
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
    messages.push(message);
    for (const call of message.tool_calls ?? []) {
      const args = call.type === 'function' ? call.function.arguments : '';
      messages.push({ role: 'tool', tool_call_id: call.id, content: pageText(args) });
    }
  }
};

const messagesAgent: Client = async (model, more = {}) => {
  const client = anthropicOf(gateway);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Read on until you know.' }];
  const tools: Anthropic.Tool[] = [{ name: 'look', description, input_schema: parameters as never }];
  for (let turn = 0; turn < turns; turn += 1) {
    const request = { model, max_tokens: 100, system: instructions, messages, tools, ...more };
    const { content } = await client.messages.create(request);
    messages.push({ role: 'assistant', content });
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: pageText(block.input) }]
        : [],
    );
    if (results.length > 0) messages.push({ role: 'user', content: results });
  }
};

const responsesAgent: Client = async (model, more = {}) => {
  const client = openaiOf(gateway);
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Read on until you know.' }];
  const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'look', description, parameters, strict: false }];
  for (let turn = 0; turn < turns; turn += 1) {
    const { output } = await client.responses.create({ model, instructions, input, tools, store: false, ...more });
    input.push(...(output as OpenAI.Responses.ResponseInput));
    for (const item of output) {
      if (item.type !== 'function_call') continue;
      input.push({ type: 'function_call_output', call_id: item.call_id, output: pageText(item.arguments) });
    }
  }
};

const clients: Readonly<Record<string, Client>> = {
  'chat completions': chatAgent,
  Messages: messagesAgent,
  Responses: responsesAgent,
};
const everyPair = Object.keys(clients).flatMap((name) => formats.map((format) => [name, format] as const));

function expectCached(): void {
  expect(claude.calls).toHaveLength(turns);
  for (const [at, call] of claude.calls.entries()) {
    const before = claude.calls[at - 1];
    if (before !== undefined) expect(call.read).toBeGreaterThanOrEqual(0.9 * before.input);
  }
}

const expectUnmarked = (): void => expect(claude.calls.map(({ marks }) => marks)).toEqual(new Array(turns).fill(0));

describe('an agent of ten turns with tools on Claude', () => {
  it.each(everyPair)('that speaks %s and marks nothing reads it all from the cache, at %s', async (name, format) => {
    await clients[name]?.(`entry/${format}`);
    expectCached();
    for (const { marks } of claude.calls.slice(1)) expect(marks).toBe(marksOfOurs[format]);
  });

  it.each(everyPair)(
    'that speaks %s is not marked unless the operator or the client asks for it, at %s',
    async (name, format) => {
      await clients[name]?.(`plain/${format}`);
      expectUnmarked();
    },
  );

  it.each(formats)('reads it all if it marks at the top, in the words of its interface, at %s', async (format) => {
    const top = { cache_control: { type: 'ephemeral' } };
    for (const [client, more] of [
      [chatAgent, top],
      [messagesAgent, top],
      [responsesAgent, { prompt_cache_options: { ttl: '12h' } }],
      // OpenRouter's own interface is relayed unchanged.
      ...(format === 'openrouter' ? [] : ([[chatAgent, { prompt_cache_options: { mode: 'implicit' } }]] as const)),
    ] as const) {
      claude.forget();
      await client(`plain/${format}`, more);
      expectCached();
      for (const { marks } of claude.calls) expect(marks).toBe(1);
    }
  });

  it('is marked by the model, unless the entry says otherwise', async () => {
    await chatAgent('model/messages');
    expectCached();
    claude.forget();
    await chatAgent('model/off');
    expectUnmarked();
  });

  it.each(['messages', 'converse'] as const)(
    'is marked by the service at every model of Claude, unless the model or the entry says otherwise, at %s',
    async (format) => {
      const on = (more = {}) => [{ provider: 'claude', upstream: 'anthropic.claude-opus-5-v1:0', more }];
      const otherHarness = await startHarness({
        service: { prompt_cache: 'auto' },
        models: {
          'acme/auto': on(),
          'acme/off': on(),
          'acme/entry-off': on({ prompt_cache: 'off' }),
          'acme/entry-on': on({ prompt_cache: 'auto' }),
        },
        modelMembers: { 'acme/off': { prompt_cache: 'off' }, 'acme/entry-on': { prompt_cache: 'off' } },
        providers: { claude: { base_url: claude.url, apis: [format] } },
      });
      try {
        const marksOf = async (model: string, body: object) => {
          await otherHarness.postTo('/messages', {
            model,
            max_tokens: 9,
            messages: [{ role: 'user', content: 'Hi.' }],
            ...body,
          });
          return claude.calls.at(-1)?.marks;
        };
        const long = { system: instructions };
        expect(await marksOf('acme/auto', long)).toBe(2);
        expect(await marksOf('acme/entry-on', long)).toBe(2);
        for (const model of ['acme/off', 'acme/entry-off'])
          expect([model, await marksOf(model, long)]).toEqual([model, 0]);
        expect(await marksOf('acme/auto', {})).toBe(0);
      } finally {
        await otherHarness.stop();
      }
    },
  );

  it('is billed for what the provider reports', async () => {
    await chatAgent('entry/messages');
    const last = await gateway.lastRecord();
    expect(last?.cachedTokens).toBe(claude.calls.at(-1)?.read);
  });
});

describe('marks of the gateway', () => {
  const hello = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 };
  const bodyOf = async (path: string, body: object) => {
    await gateway.postTo(path, body);
    return claude.calls.at(-1);
  };

  it('are added nowhere if a client marks something itself', async () => {
    const blocks = [{ type: 'text', text: instructions, cache_control: { type: 'ephemeral' } }];
    const call = await bodyOf('/messages', { model: 'entry/messages', system: blocks, ...hello });
    expect(call?.marks).toBe(1);
    expect(call?.body.system).toEqual(blocks);
    const chat = { model: 'entry/converse', messages: [{ role: 'system', content: blocks }, ...hello.messages] };
    expect((await bodyOf('/chat/completions', chat))?.marks).toBe(1);
    // Marks inside a text do not count.
    const words = { ...hello, messages: [{ role: 'user', content: `${instructions} "cache_control": {}` }] };
    expect((await bodyOf('/messages', { model: 'entry/messages', ...words }))?.marks).toBe(1);
  });

  it('are added nowhere in a short prompt, a prompt that the model does not cache, or at another maker’s model', async () => {
    const long = { system: instructions, ...hello };
    for (const [model, body] of [
      ['entry/messages', hello],
      ['entry/converse', hello],
      ['long/auto', long],
      ['other/auto', long],
    ] as const) {
      expect((await bodyOf('/messages', { model, ...body }))?.marks).toBe(0);
    }
  });

  it.each([
    [instructions, 4],
    ['', 4],
  ])('are four at most if instructions come beside the messages and first among them too', async (content, marks) => {
    const turns = ['user', 'assistant', 'user'].map((role) => ({ role, content: 'Hi.' }));
    const messages = [{ role: 'system', content }, ...turns];
    const tools = [{ name: 'look', input_schema: parameters }];
    const call = await bodyOf('/messages', {
      model: 'entry/messages',
      max_tokens: 9,
      system: instructions,
      messages,
      tools,
    });
    expect(call?.marks).toBe(marks);
    expect(JSON.stringify(call?.body.system).includes('cache_control')).toBe(content === '');
  });

  it('change nothing else of a relayed message, and leave alone what takes none', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' };
    const body = {
      model: 'entry/messages',
      max_tokens: 9,
      tools: [
        { name: 'look', input_schema: { type: 'object' } },
        { name: 'later', input_schema: { type: 'object' }, defer_loading: true },
      ],
      system: instructions,
      messages: [
        { role: 'user', content: 'Hello "you" \u2603' },
        { role: 'assistant', content: [thinking, { type: 'text', text: 'Yes?' }] },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      ],
    };
    const mark = { cache_control: { type: 'ephemeral' } };
    const call = await bodyOf('/messages', body);
    expect(call?.body).toEqual({
      ...body,
      model: 'claude-opus-5',
      tools: [{ ...body.tools[0], ...mark }, body.tools[1]],
      system: [{ type: 'text', text: instructions, ...mark }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello "you" \u2603', ...mark }] },
        body.messages[1],
        { role: 'user', content: [{ type: 'text', text: 'Go on.', ...mark }] },
      ],
    });
  });

  it('reach a host of chat completions that knows them', async () => {
    const messages = [{ role: 'system', content: instructions }, ...hello.messages];
    await gateway.post({ model: 'openrouter/auto', messages });
    const sentBody = JSON.parse(openai.bodies.at(-1) ?? '') as {
      messages: { content: { cache_control?: object }[] }[];
    };
    expect(sentBody.messages.map(({ content }) => content[0]?.cache_control)).toEqual([
      { type: 'ephemeral' },
      { type: 'ephemeral' },
    ]);
  });
});

describe('marks of a client', () => {
  const breakpoint = (ttl?: string) => ({ prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) } });
  const control = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });
  const sentToOpenAi = async (path: string, body: object) => {
    const { headers } = await gateway.postTo(path, body);
    return { sentBody: JSON.parse(openai.bodies.at(-1) ?? '') as Record<string, unknown>, headers };
  };

  it('in OpenAI’s words become Claude’s, with their lifetimes', async () => {
    const input = [
      { role: 'developer', content: [{ type: 'input_text', text: 'Rules.', ...breakpoint('12h') }] },
      { role: 'user', content: [{ type: 'input_text', text: 'Hello', ...breakpoint() }] },
    ];
    const body = { model: 'plain/messages', input, store: false };
    await gateway.postTo('/responses', body);
    expect(claude.calls.at(-1)?.body).toMatchObject({
      system: [{ text: 'Rules.', ...control('1h') }],
      messages: [{ content: [{ text: 'Hello', ...control() }] }],
    });
    await gateway.postTo('/responses', { ...body, prompt_cache_options: { mode: 'explicit', ttl: '12h' } });
    expect(claude.calls.at(-1)?.body).toMatchObject({ messages: [{ content: [{ text: 'Hello', ...control('1h') }] }] });
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...breakpoint() }] }];
    await gateway.post({ model: 'plain/converse', messages });
    expect(claude.calls.at(-1)?.body).toMatchObject({
      messages: [{ content: [{ text: 'Hello' }, { cachePoint: { type: 'default' } }] }],
    });
  });

  it('in Claude’s words become OpenAI’s if the model knows them, and are reported if it does not', async () => {
    const body = {
      max_tokens: 9,
      system: [{ type: 'text', text: 'Rules.', ...control('1h') }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...control() }] }],
    };
    const { sentBody } = await sentToOpenAi('/messages', { model: 'gpt/new', ...body });
    expect(JSON.stringify(sentBody.input)).toContain(
      '"text":"Rules.","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}',
    );
    expect(JSON.stringify(sentBody.input)).toContain('"text":"Hello","prompt_cache_breakpoint":{"mode":"explicit"}');
    const old = await sentToOpenAi('/messages', { model: 'gpt/old', ...body });
    expect(JSON.stringify(old.sentBody)).not.toContain('breakpoint');
    const options = { prompt_cache_options: { mode: 'implicit', ttl: '30m' } };
    const chat = { model: 'gpt/new', messages: [{ role: 'user', content: 'Hello' }], ...options };
    expect((await sentToOpenAi('/chat/completions', chat)).sentBody).toMatchObject(options);
  });

  it('become those of chat completions, if OpenRouter or GPT knows them, and are reported at other hosts', async () => {
    const look = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const body = {
      max_tokens: 9,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      system: [
        { type: 'text', text: 'Rules.' },
        { type: 'text', text: 'More.', ...control('1h') },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello', ...control() }] },
        { role: 'assistant', content: [{ type: 'text', text: 'I look.', ...control() }, look] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x', ...control() }] },
      ],
    };
    const markedMessage = (text: string, mark: object) => ({ content: [{ type: 'text', text, ...mark }] });
    await gateway.postTo('/messages', { model: 'plain/openrouter', ...body });
    expect(claude.calls.at(-1)).toMatchObject({
      marks: 4,
      body: {
        messages: [
          { role: 'system', ...markedMessage('Rules.\n\nMore.', control('1h')) },
          { role: 'user', ...markedMessage('Hello', control()) },
          { role: 'assistant', ...markedMessage('I look.', control()), tool_calls: [{ id: 'toolu_1' }] },
          { role: 'tool', ...markedMessage('x', control()) },
        ],
      },
    });
    const gpt = await sentToOpenAi('/messages', { model: 'gpt/chat', ...body });
    expect(gpt.headers.get('x-gw-left-out')).toBeNull();
    expect(gpt.sentBody.messages).toMatchObject([
      { content: 'Rules.' },
      markedMessage('More.', breakpoint('12h')),
      markedMessage('Hello', breakpoint()),
      markedMessage('I look.', breakpoint()),
      markedMessage('x', breakpoint()),
    ]);
    const options = { prompt_cache_options: { mode: 'implicit', ttl: '30m' } };
    const request = { model: 'gpt/chat', input: 'Hello', store: false, ...options };
    expect((await sentToOpenAi('/responses', request)).sentBody).toMatchObject({
      ...options,
      messages: [markedMessage('Hello', breakpoint())],
    });
    for (const model of ['gpt/older-chat', 'plain/host']) {
      const { sentBody } = await sentToOpenAi('/messages', { model, ...body });
      expect(JSON.stringify(sentBody)).not.toMatch(/cache_/);
      expect((sentBody.messages as { content: unknown }[]).map(({ content }) => typeof content)).not.toContain(
        'object',
      );
    }
  });

  it('are reported if the host of chat completions knows none', async () => {
    const body = {
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...control() }] }],
    };
    const answeringProvider = await startScriptedProvider((outgoing) =>
      sendJson(outgoing, completionOf({ content: 'Hi.' })),
    );
    try {
      const other = await startHarness({
        models: { 'told/host': [{ provider: 'answering', upstream: 'qwen3' }] },
        providers: { answering: { base_url: answeringProvider.url } },
      });
      const response = await other.postTo('/messages', { model: 'told/host', ...body });
      expect(response.headers.get('x-gw-left-out')).toBe('messages[0].content[0].cache_control');
      expect(answeringProvider.bodies[0]).not.toContain('cache_control');
      await other.stop();
    } finally {
      await answeringProvider.stop();
    }
  });

  it('at calls of a message without text reach Claude, and are reported if chat completions have no place for them', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' };
    const blocks = (text: readonly object[]) => ({
      max_tokens: 9,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [...text, { ...call, ...control() }] },
        { role: 'user', content: [result] },
      ],
    });
    const chat = {
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
          ...control(),
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
      tools: [{ type: 'function', function: { name: 'look' } }],
    };
    const droppedFields = async (path: string, body: object) =>
      (await gateway.postTo(path, body)).headers.get('x-gw-left-out');
    expect(await droppedFields('/messages', { model: 'plain/openrouter', ...blocks([]) })).toBe(
      'messages[1].content[0].cache_control',
    );
    expect(claude.calls.at(-1)?.marks).toBe(0);
    const withText = blocks([{ type: 'text', text: 'I look.' }]);
    expect(await droppedFields('/messages', { model: 'plain/openrouter', ...withText })).toBeNull();
    expect(claude.calls.at(-1)?.marks).toBe(1);
    expect(await droppedFields('/messages', { model: 'plain/converse', ...blocks([]) })).toBeNull();
    expect(claude.calls.at(-1)?.marks).toBe(1);
    for (const model of ['plain/messages', 'plain/converse']) {
      expect([model, await droppedFields('/chat/completions', { model, ...chat })]).toEqual([model, null]);
      expect([model, claude.calls.at(-1)?.marks]).toEqual([model, 1]);
    }
  });

  it('at tools, instructions, messages and results all reach Converse', async () => {
    const look = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const body = {
      model: 'plain/converse',
      max_tokens: 9,
      tools: [{ name: 'look', input_schema: { type: 'object' }, ...control() }],
      system: [{ type: 'text', text: 'Rules.', ...control('1h') }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello', ...control() }] },
        { role: 'assistant', content: [look] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x', ...control() }] },
      ],
    };
    const { headers } = await gateway.postTo('/messages', body);
    expect(headers.get('x-gw-left-out')).toBeNull();
    const { body: sentBody, marks } = claude.calls.at(-1) ?? {};
    expect(marks).toBe(4);
    const point = { cachePoint: { type: 'default' } };
    expect(sentBody).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'look' } }, point] },
      system: [{ text: 'Rules.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [{ content: [{ text: 'Hello' }, point] }, {}, { content: [{ toolResult: {} }, point] }],
    });
  });

  it.each(['chat', 'responses'])('of %s at tools, instructions and messages all reach Converse', async (name) => {
    const fn = { name: 'look', parameters: { type: 'object' } };
    const text = (type: string, words: string) => ({ type, text: words, ...control() });
    const bodies: Readonly<Record<string, readonly [string, object]>> = {
      chat: [
        '/chat/completions',
        {
          tools: [{ type: 'function', function: fn, ...control() }],
          messages: [
            { role: 'system', content: [text('text', 'Rules.')] },
            { role: 'user', content: [text('text', 'Hello')] },
          ],
        },
      ],
      responses: [
        '/responses',
        {
          store: false,
          tools: [{ type: 'function', ...fn, ...control() }],
          input: [
            { role: 'developer', content: [text('input_text', 'Rules.')] },
            { role: 'user', content: [text('input_text', 'Hello')] },
          ],
        },
      ],
    };
    const [path, body] = bodies[name] ?? ['', {}];
    const { headers } = await gateway.postTo(path, { model: 'plain/converse', ...body });
    expect(headers.get('x-gw-left-out')).toBeNull();
    const point = { cachePoint: { type: 'default' } };
    expect(claude.calls.at(-1)?.marks).toBe(3);
    expect(claude.calls.at(-1)?.body).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'look' } }, point] },
      system: [{ text: 'Rules.' }, point],
      messages: [{ content: [{ text: 'Hello' }, point] }],
    });
  });
});
