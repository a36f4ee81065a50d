// Fields inside messages, items and parts that another format has no words for are reported in X-Gw-Left-Out; fields that a
// client sends back from an answer are not. Requests for something else than an answer are refused by name.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;
const formats = ['messages', 'responses', 'converse', 'generate-content', 'chat-completions'] as const;
type Format = (typeof formats)[number];

let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true, vision: true } };
  gateway = await startHarness({
    models: Object.fromEntries(
      formats.map((format) => [`on/${format}`, [{ provider: format, upstream: 'plain/echo', more }]]),
    ),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

async function leftOut(path: string, format: Format, body: Json): Promise<string[]> {
  const answer = await gateway.postTo(path, { model: `on/${format}`, ...body });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  return answer.headers.get('x-gw-left-out')?.split(',') ?? [];
}

const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
const user = { role: 'user', content: 'Go on' };
const others = (own: Format) => formats.filter((format) => format !== own);

describe.each(others('chat-completions'))('a chat completion at %s', (format) => {
  const told = (messages: readonly Json[]) => leftOut('/chat/completions', format, { messages });

  it('has its own fields reported, of messages and parts', async () => {
    const part = { type: 'image_url', image_url: { url: image, detail: 'low' }, note: 'x' };
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    expect(
      await told([
        { ...user, name: 'Ada' },
        { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'Hm', annotations: [{ type: 'x' }] },
        { role: 'tool', tool_call_id: 'c1', content: 'so', name: 'f' },
        { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
      ]),
    ).toEqual([
      'messages[0].name',
      'messages[1].reasoning_content',
      'messages[1].annotations',
      'messages[3].content[1].note',
      ...(format === 'responses' ? [] : ['messages[3].content[1].image_url.detail']),
    ]);
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
    expect(await told([user, came, { role: 'user', content: [part] }])).toEqual([]);
  });

  it('is refused where it is to warm a cache without an answer, or brings a call of the former kind', async () => {
    for (const [more, param] of [
      [{ messages: [user], prompt_cache_options: { prewarm: true } }, 'prompt_cache_options.prewarm'],
      [
        { messages: [user, { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }, user] },
        'messages[1]',
      ],
    ] as const) {
      const answer = await gateway.postTo(
        '/chat/completions',
        { model: `on/${format}`, ...more },
        { 'x-gw-error-format': 'openai' },
      );
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { code: 'feature_unsupported', param } },
      ]);
    }
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe.each(others('responses'))('a response at %s', (format) => {
  const told = (input: readonly Json[]) => leftOut('/responses', format, { input, store: false });

  it('has its own fields reported, of items and parts', async () => {
    expect(
      await told([
        { role: 'user', content: [{ type: 'input_image', image_url: image, detail: 'low' }] },
        { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'Hm' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', async: true },
        { type: 'function_call_output', call_id: 'c1', output: 'so', later: 1 },
      ]),
    ).toEqual([
      ...(format === 'chat-completions' ? [] : ['input[0].content[0].detail']),
      'input[1].phase',
      'input[2].async',
      'input[3].later',
    ]);
  });

  it('has fields of its tools reported', async () => {
    const tool = {
      type: 'function',
      name: 'f',
      description: null,
      parameters: {},
      strict: false,
      defer_loading: false,
    };
    const tools = [tool, { ...tool, name: 'g', async: true, allowed_callers: ['programmatic'] }];
    expect(await leftOut('/responses', format, { input: 'Go', tools })).toEqual([
      'tools.async',
      'tools.allowed_callers',
    ]);
  });

  it('has nothing of an answer that came back reported', async () => {
    const part = { type: 'output_text', text: 'So.', annotations: [], logprobs: [] };
    expect(
      await told([
        user,
        { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', phase: null, content: [part] },
        { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'so', status: null },
      ]),
    ).toEqual([]);
  });
});

describe.each(others('messages'))('a message at %s', (format) => {
  const told = (messages: readonly Json[]) => leftOut('/messages', format, { max_tokens: 50, messages });

  it('has its own fields reported, of messages and blocks', async () => {
    const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'So' } };
    expect(
      await told([
        { ...user, later: 1, output_config: { effort: 'low' } },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'So.', citations: [{ type: 'char_location' }], later: 1 }],
        },
        {
          role: 'user',
          content: [
            { ...document, citations: { enabled: true } },
            { type: 'text', text: 'Go', later: 2 },
          ],
        },
      ]),
    ).toEqual([
      'messages[0].later',
      'messages[0].output_config.effort',
      'messages[1].content[0].citations',
      'messages[1].content[0].later',
      'messages[2].content[0].citations',
      'messages[2].content[1].later',
    ]);
  });

  it('has nothing of an answer that came back reported, and no more than a record keeps', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller: { type: 'direct' } };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'so' }] };
    const came = { role: 'assistant', content: [{ type: 'text', text: 'So.', citations: null }, call] };
    expect(await told([user, came, { role: 'user', content: [result] }])).toEqual([]);
    const many = Array.from({ length: 100 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: 'a',
      later: 1,
    }));
    expect((await told([...many, user])).length).toBe(32);
  });
});
