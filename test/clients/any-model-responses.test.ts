// Clients of Responses on models that speak another interface: what they send reaches the model, and what they get is whole in the
// form of their own SDK, from JSON and from a stream alike.
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { baseUrlOf, citySchema, startClientGateway } from './client-gateway.ts';

type Asked = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream' | 'model'>;

let gateway: Harness;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startClientGateway();
  client = new OpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, maxRetries: 0 });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const translated = ['messages', 'converse', 'generate-content', 'chat-completions'] as const;
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Asks about a city',
  parameters: citySchema,
  strict: false,
};
const patch: OpenAI.Responses.CustomTool = {
  type: 'custom',
  name: 'apply_text',
  description: 'Changes a file',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
};
const files: OpenAI.Responses.NamespaceTool = {
  type: 'namespace',
  name: 'mcp__files',
  description: 'Files',
  tools: [{ ...weather, name: 'read' }],
};

const recordOf = async (id: string | null) => {
  await gateway.settled();
  return (await gateway.records()).find(({ correlationId }) => correlationId === id);
};

/** What may differ between two calls of the same kind. */
const comparable = ({ id: _id, usage: _usage, created_at: _created, ...response }: OpenAI.Responses.Response) => ({
  ...response,
  _request_id: undefined,
  output: response.output.map((item) => ({
    ...item,
    id: item.id?.replace(/_gw_\w+_(\d+)$/, ' $1'),
    ...('call_id' in item ? { call_id: 'call' } : {}),
    ...('encrypted_content' in item ? { encrypted_content: 'sealed' } : {}),
    parsed_arguments: undefined,
    ...('content' in item && Array.isArray(item.content)
      ? { content: item.content.map((part) => ({ ...part, parsed: null })) }
      : {}),
  })),
  output_parsed: undefined,
});

describe.each(translated)('Responses on a model of %s', (format) => {
  const echo = `${format}/echo`;

  it('answers as a response with every member, its cost in the usage, and a record of the format that was spoken', async () => {
    const asked = { instructions: 'Be short.', metadata: { team: 'search' }, max_output_tokens: 500, temperature: 0.5 };
    const { data, response } = await client.responses.create({ model: echo, input: 'Hello', ...asked }).withResponse();
    expect(data.output_text).toContain('Hello');
    expect(data).toMatchObject({
      ...asked,
      id: expect.stringMatching(/^resp_\w+$/),
      object: 'response',
      model: echo,
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
    expect(await recordOf(response.headers.get('x-request-id'))).toMatchObject({ interfaceId: 'responses', format });
  });

  it.each<[string, string, Asked]>([
    ['a text', 'echo', { input: 'Hello' }],
    ['thinking', 'reasoning', { input: 'Hello', reasoning: { effort: 'medium' } }],
    ['a call of a function', 'echo', { input: 'Call the tool get_weather', tools: [weather] }],
    ['a call of a tool with free input', 'echo', { input: 'Call the tool apply_text', tools: [patch] }],
    ['a call in a namespace', 'echo', { input: 'Call the tool mcp__files__read', tools: [files] }],
    [
      'thinking and a call',
      'reasoning',
      { input: 'Call the tool get_weather', tools: [weather], reasoning: { effort: 'medium' } },
    ],
    ['an answer that was cut', 'echo', { input: 'Hello', max_output_tokens: 2 }],
  ])('gives a stream that its SDK puts together to what JSON says: %s', async (_what, behaviour, asked) => {
    const question = { model: `${format}/${behaviour}`, ...asked };
    const json = await client.responses.create(question);
    const raw: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...question, stream: true })) raw.push(event);
    expect(raw.map(({ sequence_number: number }) => number)).toEqual(raw.map((_event, index) => index));
    expect(raw.map(({ type }) => type).slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    // Required, also where there is none yet.
    expect(raw[0]).toMatchObject({ response: { usage: null } });
    expect(raw.at(-1)?.type).toBe(`response.${json.status}`);
    expectLegal(raw);
    const whole = await client.responses.stream(question).finalResponse();
    expect(comparable(whole)).toEqual(comparable(json));
  });
});

/** One item is open at a time, and what is said of a part stands between its start and its end. */
function expectLegal(events: readonly OpenAI.Responses.ResponseStreamEvent[]): void {
  let open: string | undefined;
  let next = 0;
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      expect([open, event.output_index]).toEqual([undefined, next]);
      open = event.item.id ?? '';
      next += 1;
    } else if (event.type === 'response.output_item.done') {
      expect([event.item.id, event.output_index]).toEqual([open, next - 1]);
      open = undefined;
    } else if ('item_id' in event) expect(event.item_id).toBe(open);
  }
  expect(open).toBeUndefined();
}
