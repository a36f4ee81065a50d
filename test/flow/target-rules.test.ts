// Rules of single makers for a conversation, through the front door. The simulated providers refuse in the words of the
// real ones (`refusals` of their formats), so the real provider would accept each request that gets a 200.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const upstreams = {
  mistral: ['mistral', 'mistral-large-latest'],
  hosted: ['hosted', 'mistralai/mistral-small'],
  deepseek: ['deepseek', 'deepseek-chat'],
  local: ['local', 'qwen3-coder'],
  'gpt-5.5-local': ['local', 'qwen3-coder'],
  openai: ['openai', 'gpt-4.1'],
  llama: ['bedrock', 'us.meta.llama3-3-70b-instruct-v1:0'],
  claude: ['bedrock', 'anthropic.claude-sonnet-4-5-v1'],
  responses: ['responses', 'gpt-4.1'],
  gemini: ['gemini', 'gemini-2.5-flash'],
  messages: ['messages', 'claude-sonnet-4-5'],
} as const;
type Model = keyof typeof upstreams;

let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true, vision: true } };
  const chat = { apis: ['chat-completions'] };
  gateway = await startHarness({
    models: Object.fromEntries(
      Object.entries(upstreams).map(([id, [provider, upstream]]) => [
        `on/${id}`,
        [{ provider, upstream: `${upstream}/echo`, more }],
      ]),
    ),
    providers: {
      mistral: { ...chat, kind: 'mistral' },
      hosted: { ...chat, kind: 'vllm' },
      deepseek: { ...chat, kind: 'deepseek' },
      local: chat,
      openai: { ...chat, kind: 'openai' },
      bedrock: { apis: ['converse'] },
      responses: { apis: ['responses'] },
      gemini: { apis: ['generate-content'] },
      messages: { apis: ['messages'] },
    },
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const sentMessages = (): readonly Json[] =>
  (gateway.simulator.calls.at(-1)?.body as { messages: Json[] } | undefined)?.messages ?? [];
const roles = () => sentMessages().map(({ role }) => role);
const user = (content: unknown = 'Go on') => ({ role: 'user', content });
const calls = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id, at) => ({ id, type: 'function', function: { name: `tool_${at}`, arguments: '{}' } })),
});
const result = (id: string, content = 'Done.') => ({ role: 'tool', tool_call_id: id, content });
const tools = ['tool_0', 'tool_1'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
}));
const ask = async (model: Model, messages: readonly object[]) => {
  const response = await gateway.post({ model: `on/${model}`, max_tokens: 100, tools, messages });
  expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
  return response;
};
const leftOutOf = ({ headers }: Response): string => headers.get('x-gw-left-out') ?? '';

interface Call {
  readonly id: string;
}
const idsOf = (messages: readonly Json[]) => ({
  calls: messages.flatMap(({ tool_calls: toolCalls }) => ((toolCalls ?? []) as Call[]).map(({ id }) => id)),
  results: messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id])),
});

describe('a relayed chat', () => {
  const callId = 'call_0123456789abcdef01234567';

  it.each(['mistral', 'hosted'] as const)(
    'has ids of nine letters at %s, the same for a call and its result',
    async (model) => {
      const history = [user(), calls(callId, 'abcDEF123'), result(callId, 'one'), result('abcDEF123', 'two')];
      await ask(model, history);
      const { calls: callIds, results } = idsOf(sentMessages());
      expect(callIds).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'abcDEF123']);
      expect(results).toEqual(callIds);
      const [first] = callIds;
      await ask(model, [...history, { role: 'assistant', content: 'So.' }, user()]);
      expect(idsOf(sentMessages()).calls[0]).toBe(first);
    },
  );

  it('has an id of its own for each call at Mistral if a model used one twice, and results in their order', async () => {
    await ask('mistral', [user(), calls('read', 'read'), result('read', 'one'), result('read', 'two')]);
    const { calls: callIds, results } = idsOf(sentMessages());
    expect([new Set(callIds).size, results]).toEqual([2, callIds]);
    expect(sentMessages().slice(2)).toMatchObject([{ content: 'one' }, { content: 'two' }]);
  });

  it('has an answer between results and the user at Mistral, and a result for each call', async () => {
    await ask('mistral', [user(), calls('abcDEF123'), result('abcDEF123'), user()]);
    expect(roles()).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    await ask('mistral', [user(), calls('abcDEF123', 'abcDEF124'), result('abcDEF124'), user()]);
    expect(roles()).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    expect(sentMessages()[3]).toMatchObject({ tool_call_id: 'abcDEF123', content: expect.stringContaining('not run') });
  });

  it('has instructions of the user after an answer at Mistral, and says that a last answer is continued', async () => {
    await ask('mistral', [
      user(),
      { role: 'assistant', content: 'So.' },
      { role: 'system', content: 'Be brief.' },
      user(),
    ]);
    expect(sentMessages().slice(2)).toEqual([{ role: 'user', content: 'Be brief.\n\nGo on' }]);
    await ask('mistral', [user(), { role: 'assistant', content: 'It is' }]);
    expect(sentMessages().at(-1)).toEqual({ role: 'assistant', content: 'It is', prefix: true });
  });

  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'So.' },
  ];

  it('keeps thinking in parts at Mistral alone, and fields beside them elsewhere alone, and reports the others', async () => {
    const inParts = [user(), { role: 'assistant', content: parts }, user()];
    expect(leftOutOf(await ask('mistral', inParts))).toBe('');
    expect(sentMessages()[1]).toMatchObject({ content: parts });
    for (const model of ['openai', 'local'] as const) {
      expect(leftOutOf(await ask(model, inParts))).toBe('messages[1].content');
      expect(sentMessages()[1]).toMatchObject({ content: parts.slice(1) });
    }
    const beside = [user(), { role: 'assistant', content: 'So.', reasoning_content: 'Hm.' }, user()];
    expect(leftOutOf(await ask('mistral', beside))).toBe('messages[1].reasoning_content');
    expect(sentMessages()[1]).toEqual({ role: 'assistant', content: 'So.' });
    expect(leftOutOf(await ask('local', beside))).toBe('');
    expect(sentMessages()).toEqual(beside);
  });

  it.each(['messages', 'llama', 'gemini', 'responses'] as const)(
    'leaves thinking in parts out if it is translated to %s',
    async (model) => {
      await ask(model, [user(), { role: 'assistant', content: parts }, user()]);
      const { bodyText } = gateway.simulator.calls.at(-1) ?? { bodyText: '' };
      expect([bodyText.includes('So.'), bodyText.includes('Hm.')]).toEqual([true, false]);
    },
  );

  it('has developers as systems and one turn of two in a row, but at OpenAI', async () => {
    const history = [{ role: 'developer', content: 'Be brief.' }, user('One'), user([{ type: 'text', text: 'Two' }])];
    for (const model of ['deepseek', 'local', 'mistral', 'hosted'] as const) {
      await ask(model, history);
      expect(sentMessages()).toEqual([
        { role: 'system', content: 'Be brief.' },
        user([
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ]),
      ]);
    }
    await ask('openai', history);
    expect(sentMessages()).toEqual(history);
  });

  it('is sent byte for byte if no rule is broken', async () => {
    const messages =
      '[ {"role":"user","content":"a"}, {"content":"b" ,"role":"assistant"},\n{"role":"user","content":"\\u0063"} ]';
    const response = await gateway.post(`{"model":"on/mistral","messages":${messages}}`);
    expect(response.status).toBe(200);
    expect(gateway.simulator.calls.at(-1)?.bodyText).toContain(messages);
  });

  it('keeps turns apart that say more than their content', async () => {
    await ask('deepseek', [{ ...user('One'), name: 'ann' }, user('Two')]);
    expect(sentMessages()).toEqual([{ ...user('One'), name: 'ann' }, user('Two')]);
  });
});

describe('Messages and Responses on Mistral', () => {
  const input_schema = { type: 'object' };
  const askMessages = (model: Model, messages: readonly object[]) =>
    gateway.postTo('/messages', {
      model: `on/${model}`,
      max_tokens: 100,
      tools: [
        { name: 'tool_0', input_schema },
        { name: 'tool_1', input_schema },
      ],
      messages,
    });
  const use = (id: string, name = 'tool_0') => ({ type: 'tool_use', id, name, input: {} });
  const done = (id: string, more: object = { content: 'Done.' }) => ({ type: 'tool_result', tool_use_id: id, ...more });
  const image = {
    type: 'image',
    source: {
      type: 'base64',
      media_type: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    },
  };

  it.each(['mistral', 'hosted', 'local'] as const)(
    'go on after results, with pictures and the user’s text, on %s',
    async (model) => {
      const response = await askMessages(model, [
        user(),
        { role: 'assistant', content: [use('toolu_1'), use('toolu_2', 'tool_1')] },
        user([done('toolu_1', { content: [image] }), done('toolu_2'), { type: 'text', text: 'What is it?' }]),
      ]);
      expect(response.status).toBe(200);
      const { calls: callIds, results } = idsOf(sentMessages());
      expect(results).toEqual(callIds);
      expect(JSON.stringify(sentMessages().at(-1))).toMatch(/image_url.*What is it\?/);
    },
  );

  it('begin with an answer of another model and go on', async () => {
    const response = await gateway.postTo('/responses', {
      model: 'on/mistral',
      tools: [{ type: 'function', name: 'tool_0', parameters: { type: 'object' } }],
      input: [
        { type: 'message', role: 'developer', content: 'Be brief.' },
        user(),
        { type: 'function_call', call_id: 'call_0123456789abcdef01234567', name: 'tool_0', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_0123456789abcdef01234567', output: 'Done.' },
        user(),
      ],
    });
    expect([response.status, roles()]).toEqual([200, ['system', 'user', 'assistant', 'tool', 'assistant', 'user']]);
  });

  const targets = ['openai', 'local', 'mistral', 'llama', 'claude', 'gemini', 'responses'] as const;

  it.each(targets)('a call without a result gets one that says so, on %s', async (model) => {
    const response = await askMessages(model, [
      user(),
      { role: 'assistant', content: [use('toolu_1'), use('toolu_2', 'tool_1')] },
      user([done('toolu_2'), { type: 'text', text: 'Go on' }]),
    ]);
    expect([response.status, gateway.simulator.calls.at(-1)?.bodyText]).toEqual([
      200,
      expect.stringContaining('not run'),
    ]);
  });

  it.each(targets)('a failed result without a word says that it failed, on %s', async (model) => {
    const response = await askMessages(model, [
      user(),
      { role: 'assistant', content: [use('toolu_1')] },
      user([done('toolu_1', { content: '', is_error: true })]),
    ]);
    expect(response.status).toBe(200);
    expect(gateway.simulator.calls.at(-1)?.bodyText).toMatch(/The tool failed|"status":"error"|"error":/);
  });

  it('pictures of results are beside them on Converse, but for Claude and Nova, and failures are said in words', async () => {
    const history = [
      user(),
      { role: 'assistant', content: [use('toolu_1'), use('toolu_2', 'tool_1')] },
      user([done('toolu_1', { content: [image] }), done('toolu_2', { content: 'Not found.', is_error: true })]),
    ];
    expect((await askMessages('llama', history)).status).toBe(200);
    const [, , beside] = sentMessages() as readonly { content: Json[] }[];
    expect(beside?.content.map((block) => Object.keys(block)[0])).toEqual([
      'toolResult',
      'toolResult',
      'text',
      'image',
    ]);
    expect(JSON.stringify(beside)).toContain('The tool failed: Not found.');
    expect(JSON.stringify(beside)).not.toContain('status');
    expect((await askMessages('claude', history)).status).toBe(200);
    const [, , inside] = sentMessages() as readonly { content: Json[] }[];
    expect(inside?.content.map((block) => Object.keys(block)[0])).toEqual(['toolResult', 'toolResult']);
    expect(JSON.stringify(inside)).toMatch(/"image".*"status":"error"/);
  });

  it.each(targets)('two calls of one id get each its own result, on %s', async (model) => {
    const response = await askMessages(model, [
      user(),
      { role: 'assistant', content: [use('read'), use('read', 'tool_1')] },
      user([done('read', { content: 'one' }), done('read', { content: 'two' })]),
    ]);
    expect(response.status).toBe(200);
    const { bodyText = '' } = gateway.simulator.calls.at(-1) ?? {};
    expect([bodyText.match(/not run/), bodyText.indexOf('one') < bodyText.indexOf('two')]).toEqual([null, true]);
  });
});

describe('a name of the catalogue', () => {
  it('makes no provider OpenAI’s: its kind and its own name of the model decide', async () => {
    const response = await gateway.postTo('/responses', {
      model: 'on/gpt-5.5-local',
      input: 'Hello',
      prompt_cache_key: 'k',
      max_output_tokens: 50,
    });
    expect(response.status).toBe(200);
    const body = gateway.simulator.calls.at(-1)?.body as Json;
    expect([body.max_tokens, body.max_completion_tokens, body.prompt_cache_key]).toEqual([50, undefined, undefined]);
  });
});
