// Models that call tools in whole answers only, and models that write less than clients ask for.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';

type Json = Record<string, unknown>;

const llama = 'us.meta.llama3-3-70b-instruct-v1:0';
const requests = {
  chat: { provider: 'local', upstream: 'qwen/echo' },
  converse: { provider: 'bedrock', upstream: `${llama}/echo` },
} as const;
const targets = ['chat', 'converse'] as const;

let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 500, supported_params: { tools: true, tools_in_streams: false } };
  gateway = await startHarness({
    models: Object.fromEntries(Object.entries(requests).map(([id, entry]) => [id, [{ ...entry, more }]])),
    providers: { local: { apis: ['chat-completions'] }, bedrock: { apis: ['converse'] } },
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } };
const chatTools = [{ type: 'function' as const, function: { name: 'get_weather', parameters } }];
const question = [{ role: 'user' as const, content: 'Use get_weather for Oslo, please.' }];
const formats = () =>
  gateway.simulator.calls.map(({ path, body }) => [path.split('/').at(-1), (body as Json).stream === true]);
const whole = { chat: ['completions', false], converse: ['converse', false] } as const;
const streams = { chat: ['completions', true], converse: ['converse-stream', false] } as const;

describe.each(targets)('a model of %s that calls tools in whole answers alone', (model) => {
  it('is asked for one, and clients of chat completions get a stream', async () => {
    const stream = openaiOf(gateway).chat.completions.stream({ model, messages: question, tools: chatTools });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'get_weather' } });
    expect([formats(), choices[0]?.finish_reason]).toEqual([[whole[model]], 'tool_calls']);
    expect(usage ?? null).toBe(null);
    const record = await gateway.lastRecord();
    expect([record?.outcome, record?.estimated, (record?.completionTokens ?? 0) > 0]).toEqual(['ok', false, true]);
  });

  it('and so do clients of Messages and Responses', async () => {
    const tools = [{ name: 'get_weather', input_schema: parameters }];
    const message = await anthropicOf(gateway)
      .messages.stream({ model, max_tokens: 100, messages: question, tools })
      .finalMessage();
    expect(message.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'get_weather' });
    const response = await openaiOf(gateway)
      .responses.stream({
        model,
        input: question,
        tools: [{ type: 'function', name: 'get_weather', parameters, strict: false }],
      })
      .finalResponse();
    expect(response.output.at(-1)).toMatchObject({ type: 'function_call', name: 'get_weather' });
    expect(formats()).toEqual([whole[model], whole[model]]);
  });

  it('is asked for a stream if no tool is sent', async () => {
    const response = await gateway.post({ model, messages: question, stream: true });
    expect(dataLines(await response.text()).at(-1)).toBe('[DONE]');
    expect(formats()).toEqual([streams[model]]);
  });
});

describe('an output bound beyond what the model writes', () => {
  const boundOf = () => {
    const { max_tokens: bound, inferenceConfig } = (gateway.simulator.calls.at(-1)?.body ?? {}) as Json;
    return bound ?? (inferenceConfig as Json | undefined)?.maxTokens;
  };
  const ask = {
    messages: (model: string, max: number) =>
      gateway.postTo('/messages', { model, max_tokens: max, messages: question }),
    responses: (model: string, max: number) =>
      gateway.postTo('/responses', { model, input: question, max_output_tokens: max }),
    'chat-completions': (model: string, max: number) =>
      gateway.post({ model, messages: question, max_completion_tokens: max }),
  };

  it.each([
    ['messages', 'chat', 'max_tokens'],
    ['messages', 'converse', 'max_tokens'],
    ['responses', 'chat', 'max_output_tokens'],
    ['chat-completions', 'converse', 'max_completion_tokens'],
  ] as const)('of %s is lowered if it is translated to %s, and reported', async (interfaceId, model, member) => {
    const response = await ask[interfaceId](model, 128_000);
    expect([response.status, boundOf(), response.headers.get('x-gw-left-out')]).toEqual([200, 500, member]);
    const fitting = await ask[interfaceId](model, 400);
    expect([fitting.status, boundOf(), fitting.headers.get('x-gw-left-out')]).toEqual([200, 400, null]);
  });

  it('is sent as it is if it is relayed', async () => {
    const response = await gateway.post({ model: 'chat', messages: question, max_tokens: 128_000 });
    expect([response.status, boundOf(), response.headers.get('x-gw-left-out')]).toEqual([200, 128_000, null]);
  });
});
