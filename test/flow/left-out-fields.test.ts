// Fields inside messages, parts and tools at a provider of another format: those that it has words for reach it, the rest is
// reported, and nothing is read as something else.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { png } from '../support/png.ts';

let gateway: Harness;
beforeAll(async () => {
  const upstreams = {
    messages: 'claude-sonnet-5-5',
    responses: 'gpt-4.1',
    converse: 'anthropic.claude-sonnet-5-5-v1:0',
    'chat-completions': 'gpt-4.1',
  };
  const more = { supported_params: { tools: true, vision: true } };
  gateway = await startHarness({
    models: Object.fromEntries(
      Object.entries(upstreams).map(([api, upstream]) => [
        `to/${api}`,
        [{ provider: api, upstream: `${upstream}/echo`, more }],
      ]),
    ),
    providers: Object.fromEntries(Object.keys(upstreams).map((api) => [api, { apis: [api] }])),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const leftOutOf = (response: Response) => (response.headers.get('x-gw-left-out') ?? '').split(',').filter(Boolean);
const sentText = () => gateway.simulator.calls.at(-1)?.bodyText ?? '';
const schema = { type: 'object', properties: {} };
const url = `data:image/png;base64,${png(8, 8)}`;

describe('of a chat completion', () => {
  it('are reported where no other format has them', async () => {
    const response = await gateway.post({
      model: 'to/messages',
      tools: [{ type: 'function', function: { name: 'f', parameters: schema, response_schema: schema }, price: 1 }],
      messages: [
        { role: 'system', content: 'Rules.', name: 'boss' },
        { role: 'user', content: [{ type: 'text', text: 'Hello', weight: 2 }], name: 'ann' },
        { role: 'assistant', content: 'Hi.', annotations: [{ type: 'url_citation' }], refusal: null, audio: null },
        { role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'low' } }] },
      ],
    });
    expect(response.status).toBe(200);
    expect(leftOutOf(response)).toEqual([
      'tools.price',
      'tools.function.response_schema',
      'messages[0].name',
      'messages[1].name',
      'messages[1].content[0].weight',
      'messages[2].annotations',
      'messages[3].content[0].image_url.detail',
    ]);
    for (const word of ['weight', 'price', 'ann"', 'boss']) expect(sentText()).not.toContain(word);
  });

  it('say how closely an image is looked at, where OpenAI’s words go', async () => {
    const image = { type: 'image_url', image_url: { url, detail: 'low' } };
    const body = { model: 'to/responses', messages: [{ role: 'user', content: [image] }] };
    const response = await gateway.post(body);
    expect(leftOutOf(response)).toEqual([]);
    expect(sentText()).toContain('"detail":"low"');
    const parts = [{ type: 'input_image', image_url: url, detail: 'low' }];
    const other = await gateway.postTo('/responses', {
      model: 'to/chat-completions',
      store: false,
      input: [{ role: 'user', content: parts }],
    });
    expect(leftOutOf(other)).toEqual([]);
    expect(JSON.parse(sentText())).toMatchObject({ messages: [{ content: [image] }] });
    const usual = { ...image, image_url: { url, detail: 'auto' } };
    const asUsual = await gateway.post({ model: 'to/messages', messages: [{ role: 'user', content: [usual] }] });
    expect(leftOutOf(asUsual)).toEqual([]);
  });

  it('of a call of a custom tool keep its name and its text', async () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'write', input: 'a line' } };
    const openai = openaiOf(gateway);
    await openai.chat.completions.create({
      model: 'to/messages',
      tools: [{ type: 'function', function: { name: 'write', parameters: schema } }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: null, tool_calls: [call as never] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
      ],
    });
    expect(JSON.parse(sentText()).messages[1].content).toMatchObject([
      { type: 'tool_use', name: 'write', input: { input: 'a line' } },
    ]);
  });
});

describe('of Messages', () => {
  it('are reported where no other format has them, and as usual where they ask for nothing', async () => {
    const body = {
      model: 'to/responses',
      max_tokens: 100,
      tools: [{ name: 'f', input_schema: schema, input_examples: [{}], allowed_callers: ['direct'] }],
      system: [{ type: 'text', text: 'Rules.', citations: [{ type: 'char_location' }] }],
      thinking: { type: 'disabled', block_binding: 'strict' },
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'x' },
              citations: { enabled: false },
            },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller: { type: 'direct' } }],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'x', new_field: 1 }],
              toolset_name: 'browser',
            },
          ],
        },
      ],
    };
    const response = await gateway.postTo('/messages', body);
    expect(response.status).toBe(200);
    expect(leftOutOf(response).sort()).toEqual([
      'messages[2].content[0].content[0].new_field',
      'messages[2].content[0].toolset_name',
      'system[0].citations',
      'thinking.block_binding',
      'tools.input_examples',
    ]);
  });

  it('no thinking before the first call is as little as any model can be asked for', async () => {
    const anthropic = anthropicOf(gateway);
    const asked = {
      model: 'to/converse',
      max_tokens: 4_000,
      messages: [{ role: 'user' as const, content: 'Hello' }],
      thinking: { type: 'between_tools' as const },
    };
    const { response } = await anthropic.beta.messages.create(asked).withResponse();
    expect(leftOutOf(response)).toEqual([]);
    expect(sentText()).toContain('"thinking":{"type":"between_tools"}');
  });
});

describe('of Responses', () => {
  it('are reported where no other format has them', async () => {
    const body = {
      model: 'to/messages',
      store: false,
      tools: [{ type: 'function', name: 'f', parameters: schema, strict: false, async: true, output_schema: schema }],
      reasoning: { context: 'all' },
      input: [
        { role: 'user', content: [{ type: 'input_file', file_data: 'aGk=', filename: 'a.pdf', detail: 'high' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          phase: 'commentary',
          content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }],
        },
        {
          type: 'function_call',
          call_id: 'call_1',
          name: 'f',
          arguments: '{}',
          caller: { type: 'program', caller_id: 'c' },
        },
        { type: 'function_call_output', call_id: 'call_1', output: 'x', caller: { type: 'direct' } },
      ],
    };
    const response = await gateway.postTo('/responses', body);
    expect(response.status).toBe(200);
    expect(leftOutOf(response).sort()).toEqual([
      'input[0].content[0].detail',
      'input[1].phase',
      'input[2].caller',
      'reasoning.context',
      'tools.async',
    ]);
  });
});

describe('that are new', () => {
  const hello = [{ role: 'user', content: 'Hello' }];
  const tool = { type: 'function', function: { name: 'f', parameters: schema } };
  it.each([
    [
      'a role of a chat completion',
      '/chat/completions',
      { model: 'to/messages', messages: [{ role: 'critic', content: 'No.' }, ...hello] },
      'messages[0].role',
    ],
    [
      'a role of Messages',
      '/messages',
      { model: 'to/responses', max_tokens: 9, messages: [...hello, { role: 'critic', content: 'No.' }] },
      'messages[1].role',
    ],
    [
      'a role of Responses',
      '/responses',
      { model: 'to/messages', store: false, input: [...hello, { role: 'critic', content: 'No.' }] },
      'input[1].role',
    ],
    [
      'a choice of tools of a chat completion',
      '/chat/completions',
      { model: 'to/messages', messages: hello, tools: [tool], tool_choice: 'any' },
      'tool_choice',
    ],
    [
      'a choice of tools of Messages',
      '/messages',
      {
        model: 'to/responses',
        max_tokens: 9,
        messages: hello,
        tools: [{ name: 'f', input_schema: schema }],
        tool_choice: { type: 'most' },
      },
      'tool_choice',
    ],
    [
      'a choice of tools of Responses',
      '/responses',
      {
        model: 'to/messages',
        store: false,
        input: 'Hello',
        tools: [{ type: 'function', name: 'f', parameters: schema }],
        tool_choice: 'most',
      },
      'tool_choice',
    ],
  ] as const)('%s is refused by name, and no provider is called', async (_name, path, body, member) => {
    const response = await gateway.postTo(path, body);
    const { message } = await expectError(response, 400, 'feature_unsupported');
    expect(message).toContain(member);
    expect(gateway.simulator.calls).toEqual([]);
  });
});
