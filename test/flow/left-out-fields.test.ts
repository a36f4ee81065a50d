// Fields inside messages, items, parts and tools at a provider of another format. Fields for which it has words reach
// it, the rest is reported in X-Gw-Left-Out, and nothing changes its meaning. Fields that a client sends back from an
// answer are not reported. Requests for anything but an answer are refused by name.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf } from '../support/official-clients.ts';
import { png } from '../support/png.ts';

type Json = Record<string, unknown>;
const formats = ['messages', 'responses', 'converse', 'generate-content', 'chat-completions'] as const;
type Format = (typeof formats)[number];

let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true, vision: true } };
  gateway = await startHarness({
    models: Object.fromEntries([
      ...formats.map((format) => [`on/${format}`, [{ provider: format, upstream: 'plain/echo', more }]]),
      ['on/claude', [{ provider: 'converse', upstream: 'anthropic.claude-sonnet-5-5-v1:0/echo', more }]],
    ]),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const leftOutOf = ({ headers }: Response): string[] => headers.get('x-gw-left-out')?.split(',') ?? [];
const sentText = () => gateway.simulator.calls.at(-1)?.bodyText ?? '';
async function leftOut(path: string, format: Format, body: Json): Promise<string[]> {
  const answer = await gateway.postTo(path, { model: `on/${format}`, ...body });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  return leftOutOf(answer);
}

const image = png(8, 8);
const user = { role: 'user', content: 'Go on' };
const schema = { type: 'object', properties: {} };
const others = (ownFormat: Format) => formats.filter((format) => format !== ownFormat);

describe.each(others('chat-completions'))('a chat completion at %s', (format) => {
  const droppedFields = (messages: readonly Json[], more: Json = {}) =>
    leftOut('/chat/completions', format, { messages, ...more });

  it('has its own fields reported, of messages, parts and tools', async () => {
    const part = { type: 'image_url', image_url: { url: image, detail: 'low' }, weight: 2 };
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const tools = [
      { type: 'function', function: { name: 'f', parameters: schema, response_schema: schema }, price: 1 },
    ];
    const messages = [
      { role: 'system', content: 'Rules.', name: 'boss' },
      { ...user, name: 'Ada' },
      { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'Hm', annotations: [{ type: 'x' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'so', name: 'f' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
    ];
    expect(await droppedFields(messages, { tools })).toEqual([
      'tools.price',
      'tools.function.response_schema',
      'messages[0].name',
      'messages[1].name',
      'messages[2].reasoning_content',
      'messages[2].annotations',
      'messages[4].content[1].weight',
      ...(format === 'responses' ? [] : ['messages[4].content[1].image_url.detail']),
    ]);
    for (const word of ['weight', 'price', 'Ada', 'boss']) expect(sentText()).not.toContain(word);
    expect(sentText().includes('"detail":"low"')).toBe(format === 'responses');
  });

  it('has nothing of an answer that came back reported', async () => {
    const came = {
      role: 'assistant',
      content: 'So.',
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
    };
    const part = { type: 'image_url', image_url: { url: image, detail: 'auto' } };
    expect(await droppedFields([user, came, { role: 'user', content: [part] }])).toEqual([]);
  });
});

it('the call of a custom tool keeps its name and its text, of a chat completion too', async () => {
  const call = { id: 'call_1', type: 'custom', custom: { name: 'write', input: 'a line' } };
  await leftOut('/chat/completions', 'messages', {
    tools: [{ type: 'function', function: { name: 'write', parameters: schema } }],
    messages: [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
    ],
  });
  expect(JSON.parse(sentText()).messages[1].content).toMatchObject([
    { type: 'tool_use', name: 'write', input: { input: 'a line' } },
  ]);
});

describe.each(others('responses'))('a response at %s', (format) => {
  const droppedFields = (input: readonly Json[], more: Json = {}) =>
    leftOut('/responses', format, { input, store: false, ...more });

  it('has its own fields reported, of items, parts and tools', async () => {
    const tool = { type: 'function', name: 'f', description: null, parameters: {}, strict: false };
    const tools = [
      { ...tool, defer_loading: false, output_schema: schema },
      { ...tool, name: 'g', async: true, allowed_callers: ['programmatic'] },
    ];
    const input = [
      { role: 'user', content: [{ type: 'input_image', image_url: image, detail: 'low' }] },
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'Hm' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', async: true, caller: { type: 'program' } },
      { type: 'function_call_output', call_id: 'c1', output: 'so', later: 1, caller: { type: 'direct' } },
    ];
    const reportedFields = await droppedFields(input, { tools, reasoning: { context: 'all' } });
    expect(reportedFields.toSorted()).toEqual([
      ...(format === 'chat-completions' ? [] : ['input[0].content[0].detail']),
      'input[1].phase',
      'input[2].async',
      'input[2].caller',
      'input[3].later',
      'reasoning.context',
      'tools.allowed_callers',
      'tools.async',
    ]);
    expect(sentText().includes('"detail":"low"')).toBe(format === 'chat-completions');
  });

  it('has nothing of an answer that came back reported', async () => {
    const part = { type: 'output_text', text: 'So.', annotations: [], logprobs: [] };
    expect(
      await droppedFields([
        user,
        { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', phase: null, content: [part] },
        { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'so', status: null },
      ]),
    ).toEqual([]);
  });
});

it('how closely a file of a response is looked at is reported', async () => {
  const part = { type: 'input_file', file_data: 'aGk=', filename: 'a.pdf', detail: 'high' };
  const input = [{ role: 'user', content: [part] }];
  expect(await leftOut('/responses', 'messages', { input, store: false })).toEqual(['input[0].content[0].detail']);
});

describe.each(others('messages'))('a message at %s', (format) => {
  const droppedFields = (messages: readonly Json[], more: Json = {}) =>
    leftOut('/messages', format, { max_tokens: 50, messages, ...more });
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'So' } };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller: { type: 'direct' } };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1' };

  it('has its own fields reported, of messages, blocks, tools and thinking', async () => {
    const block = { type: 'text', text: 'So.', citations: [{ type: 'char_location' }], later: 1 };
    const expectedResult = { ...result, content: [{ type: 'text', text: 'x', new_field: 1 }], toolset_name: 'browser' };
    const messages = [
      { ...user, later: 1, output_config: { effort: 'low' } },
      { role: 'assistant', content: [block, call] },
      {
        role: 'user',
        content: [
          expectedResult,
          { ...document, citations: { enabled: true } },
          { type: 'text', text: 'Go', later: 2 },
        ],
      },
    ];
    const more = {
      tools: [{ name: 'f', input_schema: schema, input_examples: [{}], allowed_callers: ['direct'] }],
      system: [{ type: 'text', text: 'Rules.', citations: [{ type: 'char_location' }] }],
      thinking: { type: 'disabled', block_binding: 'strict' },
    };
    expect((await droppedFields(messages, more)).toSorted()).toEqual([
      'messages[0].later',
      'messages[0].output_config.effort',
      'messages[1].content[0].citations',
      'messages[1].content[0].later',
      'messages[2].content[0].content[0].new_field',
      'messages[2].content[0].toolset_name',
      'messages[2].content[1].citations',
      'messages[2].content[2].later',
      'system[0].citations',
      'thinking.block_binding',
      'tools.input_examples',
    ]);
  });

  it('has nothing of an answer that came back or that asks for nothing reported, and no more than a record keeps', async () => {
    const came = { role: 'assistant', content: [{ type: 'text', text: 'So.', citations: null }, call] };
    const content = [
      { ...result, content: [{ type: 'text', text: 'so' }] },
      { ...document, citations: { enabled: false } },
    ];
    expect(await droppedFields([user, came, { role: 'user', content }])).toEqual([]);
    const many = Array.from({ length: 100 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: 'a',
      later: 1,
    }));
    expect((await droppedFields([...many, user])).length).toBe(32);
  });
});

it('no thinking before the first call is as little as any model can be asked for', async () => {
  const thinking = { type: 'between_tools' as const };
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const request = { model: 'on/claude', max_tokens: 4_000, messages, thinking };
  const { response } = await anthropicOf(gateway).beta.messages.create(request).withResponse();
  expect(leftOutOf(response)).toEqual([]);
  expect(sentText()).toContain('"thinking":{"type":"between_tools"}');
});

describe('that no other format has is refused by name, and no provider is called', () => {
  const critic = { role: 'critic', content: 'No.' };
  const tool = { name: 'f', parameters: schema };
  const paths = {
    '/chat/completions': 'chat-completions',
    '/messages': 'messages',
    '/responses': 'responses',
  } as const;

  it.each<[string, keyof typeof paths, Json, string]>([
    ['a new role', '/chat/completions', { messages: [critic, user] }, 'messages[0].role'],
    ['a new role', '/messages', { messages: [user, critic] }, 'messages[1].role'],
    ['a new role', '/responses', { input: [user, critic] }, 'input[1].role'],
    [
      'a new choice of tools',
      '/chat/completions',
      { messages: [user], tools: [{ type: 'function', function: tool }], tool_choice: 'any' },
      'tool_choice',
    ],
    [
      'a new choice of tools',
      '/messages',
      { messages: [user], tools: [{ name: 'f', input_schema: schema }], tool_choice: { type: 'most' } },
      'tool_choice',
    ],
    [
      'a new choice of tools',
      '/responses',
      { input: [user], tools: [{ type: 'function', ...tool }], tool_choice: 'most' },
      'tool_choice',
    ],
    [
      'a cache that is to be warmed without an answer',
      '/chat/completions',
      { messages: [user], prompt_cache_options: { prewarm: true } },
      'prompt_cache_options.prewarm',
    ],
    [
      'a call of the former kind',
      '/chat/completions',
      { messages: [user, { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }, user] },
      'messages[1]',
    ],
  ])('%s of %s', async (_name, path, body, param) => {
    const bound = path === '/messages' ? { max_tokens: 9 } : {};
    for (const format of others(paths[path])) {
      const answer = await gateway.postTo(path, { model: `on/${format}`, ...bound, ...body });
      const { message } = await expectError(answer, 400, 'feature_unsupported');
      expect(message).toContain(`(${param})`);
    }
    expect(gateway.simulator.calls).toEqual([]);
  });
});
