import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { countTokens, type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { send } from './simulated.ts';

const weather = {
  name: 'get_weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const question = { role: 'user' as const, content: 'What is the capital of France?' };
const thinking = { type: 'enabled' as const, budget_tokens: 1024 };

let simulator: Simulator;
let client: Anthropic;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
  client = new Anthropic({ apiKey: 'sk-ant-canary', baseURL: simulator.url.replace(/\/v1$/, ''), maxRetries: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

const request = (model: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
  ...{ model, max_tokens: 2_000, messages: [question] },
  ...more,
});
const create = (model: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) =>
  client.messages.create(request(model, more));
/** What the SDK puts together of a stream, with the types of the events as they came. */
async function streamed(model: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) {
  const stream = client.messages.stream(request(model, more));
  const types: string[] = [];
  stream.on('streamEvent', ({ type }) => types.push(type));
  return { message: await stream.finalMessage(), types };
}
const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
const errorOf = (model: string, more = {}) => create(model, more).catch((error) => error);

describe('Messages, for the Anthropic SDK', () => {
  it('sends a ping, and every event under its name', async () => {
    const answer = await send(`${simulator.url}/messages`, { ...request('echo'), stream: true }, version);
    const events = answer.text.split('\n\n').filter((text) => text !== '');
    expect(events.some((text) => text === 'event: ping\ndata: {"type":"ping"}')).toBe(true);
    for (const text of events) {
      const [name, data] = text.split('\n');
      expect(name).toBe(`event: ${JSON.parse(data?.slice('data: '.length) ?? '').type}`);
    }
    expect(answer.headers['request-id']).toMatch(/^req_/);
  });

  it('thinks where asked, signs it, takes it back with the results of tools, and counts it as output', async () => {
    for (const first of [
      await create('tools', { tools: [weather], thinking }),
      (await streamed('tools', { tools: [weather], thinking })).message,
    ]) {
      const [thought, call] = first.content;
      if (thought?.type !== 'thinking' || call?.type !== 'tool_use') throw new Error('no thinking before the tool');
      expect(first.usage.output_tokens_details?.thinking_tokens).toBe(countTokens(thought.thinking));
      const results = first.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'sunny' }] : [],
      );
      const answered = (content: Anthropic.ContentBlockParam[]) =>
        create('tools', {
          ...{ tools: [weather], thinking },
          messages: [question, { role: 'assistant', content }, { role: 'user', content: results }],
        });
      expect(textOf(await answered(first.content))).toContain('“sunny”');
      const forged = [{ ...thought, thinking: 'I thought of something else.' }, ...first.content.slice(1)];
      await expect(answered(forged)).rejects.toThrow('Invalid `signature` in `thinking` block');
      await expect(answered(first.content.slice(1))).rejects.toThrow('must start with a thinking block');
    }
  });

  it.each([
    [{ max_tokens: undefined }, 'max_tokens: Field required'],
    [{ messages: [] }, 'at least one message is required'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }, 'text content blocks must be non-empty'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, 'must contain non-whitespace text'],
    [{ messages: [{ role: 'user', content: '' }, question] }, 'must have non-empty content'],
    [{ thinking: { type: 'enabled', budget_tokens: 10 } }, 'greater than or equal to 1024'],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, 'must be greater than `thinking.budget_tokens`'],
    [
      { max_tokens: 4_000, thinking: { type: 'enabled', budget_tokens: 2000 }, tool_choice: { type: 'any' } },
      'Thinking may not be enabled when tool_choice forces tool use',
    ],
    [
      {
        messages: [
          question,
          { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'x', input: {} }] },
          question,
        ],
      },
      'without `tool_result` blocks immediately after: t1',
    ],
  ])('refuses as Anthropic does: %j', async (members, message) => {
    const error = await errorOf('echo', members);
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(simulator.calls[0]?.behaviour).toBe('invalid-request');
  });

  it('refuses a request without a version, and logs the query', async () => {
    const answer = await send(`${simulator.url}/messages?beta=true`, request('echo'));
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      400,
      'anthropic-version: header is required',
    ]);
    expect(simulator.calls[0]).toMatchObject({ path: '/v1/messages', query: 'beta=true' });
  });
});

const version = { headers: { 'anthropic-version': '2023-06-01' } };
