import OpenAI from 'openai';
import type { ResponseCreateParamsNonStreaming, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { countTokens, type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { send } from './simulated.ts';

let simulator: Simulator;
let client: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
  client = new OpenAI({ apiKey: 'sk-canary', baseURL: simulator.url, maxRetries: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

type Members = Partial<Omit<ResponseCreateParamsNonStreaming, 'stream'>>;
const request = (model: string, more: Members = {}) => ({ model, input: 'What is the capital of France?', ...more });
const create = (model: string, more: Members = {}) => client.responses.create(request(model, more));
/** What the SDK puts together of a stream, and the events as they came. */
async function streamed(model: string, more: Members = {}) {
  const stream = client.responses.stream(request(model, more));
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, response: await stream.finalResponse() };
}

const tool = (name: string, properties = {}) => ({
  type: 'function' as const,
  ...{ name, strict: false, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const tools = [tool('get_weather', { city: { type: 'string' } }), tool('get_time')];

describe('Responses, for the OpenAI SDK', () => {
  it('wants a result for each call', async () => {
    const { output } = await create('tools', { tools });
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'sunny' }));
    const input = [{ role: 'user' as const, content: 'Weather?' }, ...calls, ...results];
    expect((await create('tools', { tools, input })).output_text).toContain('“sunny” and “sunny”');
    await expect(create('tools', { tools, input: input.slice(0, -1) })).rejects.toThrow(/No tool output found/);
  });

  it('reasons where asked, encrypts it where asked, takes that back and nothing forged', async () => {
    const asking: Members = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'], store: false };
    for (const response of [await create('echo', asking), (await streamed('echo', asking)).response]) {
      const [item, message] = response.output;
      if (item?.type !== 'reasoning') throw new Error('no reasoning');
      expect(message?.type).toBe('message');
      const [summary] = item.summary;
      expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(countTokens(summary?.text ?? ''));
      expect(response).toHaveProperty('store', false);
      const again = (encrypted_content: string | null | undefined) =>
        create('echo', {
          input: [
            { ...item, encrypted_content: encrypted_content ?? null },
            { role: 'user', content: 'And?' },
          ],
        });
      expect((await again(item.encrypted_content)).output_text).toContain('“And?”');
      await expect(again('Zm9yZ2Vk')).rejects.toThrow(/could not be verified/);
    }
    expect((await create('echo', { reasoning: { effort: 'none' } })).output).toHaveLength(1);
    const { events } = await streamed('reasoning');
    expect(events.filter(({ type }) => type === 'response.reasoning_summary_text.delta').length).toBeGreaterThan(5);
    expect((await create('redacted-reasoning')).output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
    ]);
  });

  it('fails after output with an error event and a failed response, and in JSON with a failed response', async () => {
    const answer = await send(`${simulator.url}/responses`, {
      ...request('error-after-chunks:2:rate_limit_exceeded'),
      stream: true,
    });
    const events = answer.text.split('\n\n').filter((text) => text !== '');
    const last = events.slice(-2).map((text) => JSON.parse(text.split('\ndata: ')[1] ?? ''));
    expect(last).toMatchObject([
      { type: 'error', code: 'rate_limit_exceeded', sequence_number: events.length - 2 },
      { type: 'response.failed', sequence_number: events.length - 1, response: { status: 'failed', output: [] } },
    ]);
    expect(events.filter((text) => text.startsWith('event: response.output_text.delta'))).toHaveLength(2);
    await expect(streamed('error-after-chunks:2')).rejects.toThrow(/server had an error/);
    expect(await create('error-after-role')).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  });

  it('wants an input, a stored response or a prompt', async () => {
    const asking = (members: object) => send(`${simulator.url}/responses`, { model: 'echo', ...members });
    expect((await asking({})).status).toBe(400);
    expect((await asking({ input: [{}] })).status).toBe(400);
    expect((await asking({ previous_response_id: 'resp_1' })).status).toBe(200);
  });
});

describe('Embeddings, for the OpenAI SDK', () => {
  const embed = async (input: string | string[] | number[] | number[][], more = {}) =>
    client.embeddings.create({ model: 'acme/embed', input, ...more });
  it.each([[''], [[]], [['a', '']], [Array(2049).fill('a')]])(
    'refuses an input that is empty or too long: %#',
    async (input) => {
      await expect(embed(input)).rejects.toThrow(OpenAI.BadRequestError);
    },
  );
});
