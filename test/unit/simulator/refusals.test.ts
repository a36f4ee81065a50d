// The simulator refuses what the provider refuses, in its words: else the gateway could send what no provider takes.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { send } from './simulated.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

const version = { headers: { 'anthropic-version': '2023-06-01' } };
type Refused = readonly [body: object, message: RegExp];

const refusesAll = (path: string, rows: readonly Refused[], status = 400) =>
  it.each(rows.map(([body, message]) => [body, message] as const))(`${path} with %j`, async (body, message) => {
    const answer = await send(`${simulator.url}${path}`, body, version);
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(message)]);
    expect(simulator.calls[0]?.behaviour).toBe('invalid-request');
  });

const question = { role: 'user', content: 'What is the capital of France?' };
const prompt = [{ role: 'user', content: [{ text: question.content }] }];
const assistant = (...content: object[]) => ({ role: 'assistant', content });

describe('chat completions', () => {
  refusesAll('/chat/completions', [
    [{ messages: [question] }, /model/],
    [{ model: 'echo', messages: [] }, /messages/],
    [{ model: 'echo', messages: ['hi'] }, /messages/],
  ]);
});

describe('Messages', () => {
  const of = (more: object) => ({ model: 'echo', max_tokens: 2_000, messages: [question], ...more });
  const thinking = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });
  const signed = assistant({ type: 'thinking', thinking: 'Hm', signature: 'x' }, { type: 'text', text: 'So.' });
  refusesAll('/messages', [
    [of({ max_tokens: undefined }), /max_tokens: Field required/],
    [of({ messages: [] }), /at least one message is required/],
    [of({ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }), /must be non-empty/],
    [of({ messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }), /must contain non-whitespace text/],
    [of({ messages: [{ role: 'user', content: '' }, question] }), /must have non-empty content/],
    [of({ thinking: thinking(10) }), /greater than or equal to 1024/],
    [of({ thinking: thinking(2_000) }), /must be greater than `thinking.budget_tokens`/],
    [
      of({ max_tokens: 4_000, thinking: thinking(2_000), tool_choice: { type: 'any' } }),
      /Thinking may not be enabled when tool_choice forces tool use/,
    ],
    [
      of({ messages: [question, assistant({ type: 'tool_use', id: 't1', name: 'x', input: {} }), question] }),
      /without `tool_result` blocks immediately after: t1/,
    ],
    [of({ messages: [question, signed, question] }), /Invalid `signature` in `thinking` block/],
  ]);

  it('need a version, and have their query logged', async () => {
    const answer = await send(`${simulator.url}/messages?beta=true`, of({}));
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining('anthropic-version: header is required'),
    ]);
    expect(simulator.calls[0]).toMatchObject({ path: '/v1/messages', query: 'beta=true' });
  });
});

describe('Converse', () => {
  const use = assistant({ toolUse: { toolUseId: 't1', name: 'x', input: {} } });
  const toolConfig = { tools: [{ toolSpec: { name: 'x', inputSchema: { json: { type: 'object' } } } }] };
  const thinking = { type: 'enabled' };
  const forged = assistant({ reasoningContent: { reasoningText: { text: 'Hm', signature: 'x' } } });
  const forces = /Thinking may not be enabled when tool_choice forces tool use/;
  refusesAll('/model/echo/converse', [
    [{ messages: [] }, /Member must not be null/],
    [{ messages: [assistant({ text: 'Hi' })] }, /must start with a user message/],
    [{ messages: [...prompt, ...prompt] }, /must alternate between user and assistant/],
    [{ messages: [{ role: 'user', content: [] }] }, /content field .* is empty/],
    [{ messages: [{ role: 'user', content: [{ text: ' ' }] }] }, /text field .* is blank/],
    [{ messages: [...prompt, use, ...prompt] }, /toolConfig field must be defined/],
    [{ messages: [...prompt, use, ...prompt], toolConfig }, /Expected toolResult blocks .*: t1/],
    [{ messages: [...prompt, forged] }, /Invalid `signature`/],
    [
      {
        messages: prompt,
        toolConfig: { ...toolConfig, toolChoice: { any: {} } },
        additionalModelRequestFields: { thinking },
      },
      forces,
    ],
    [
      { messages: prompt, toolConfig, additionalModelRequestFields: { thinking, tool_choice: { type: 'any' } } },
      forces,
    ],
  ]);
});

describe('generateContent', () => {
  const call = { functionCall: { name: 'x', args: {} } };
  const signed = { ...call, thoughtSignature: 'skip_thought_signature_validator' };
  const result = { functionResponse: { name: 'x', response: { output: 'sunny' } } };
  const asked = { role: 'user', parts: [{ text: 'Hi' }] };
  const answering = (...parts: object[]) => ({
    contents: [asked, { role: 'model', parts }, { role: 'user', parts: [result] }],
  });
  refusesAll('/models/gemini-3%2Fecho:generateContent', [
    [{}, /INVALID_ARGUMENT/],
    [{ contents: [] }, /INVALID_ARGUMENT/],
    [{ contents: [{ role: 'user', parts: [] }] }, /INVALID_ARGUMENT/],
    [answering(call), /missing a thought_signature/],
    [answering({ ...call, thoughtSignature: 'Zm9yZ2Vk' }), /INVALID_ARGUMENT/],
    [answering(signed, call), /number of function response parts/],
  ]);
  refusesAll('/models/echo:streamGenerateContent', [[{ contents: [asked] }, /alt=sse/]]);
});

describe('Responses', () => {
  const called = { type: 'function_call', call_id: 'a', name: 'x', arguments: '{}' };
  const reasoned = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'Zm9yZ2Vk' };
  refusesAll('/responses', [
    [{ model: 'echo' }, /input/],
    [{ model: 'echo', input: [{}] }, /input/],
    [{ model: 'echo', input: [question, called] }, /No tool output found/],
    [{ model: 'echo', input: [reasoned, question] }, /could not be verified/],
  ]);
});

describe('Embeddings', () => {
  refusesAll(
    '/embeddings',
    ['', [], ['a', ''], Array(2_049).fill('a')].map((input) => [{ model: 'echo', input }, /input/]),
  );
});

// Each with the public report of it in `provider-refusals.ts`.
describe('what providers refuse that their formats have words for', () => {
  const schema = (...required: string[]) => ({
    type: 'object',
    properties: { days: { type: 'integer' }, city: { type: 'string' } },
    required,
    additionalProperties: false,
  });
  const chat = (model: string, more: object) => ({ model, messages: [question], ...more });
  const tools = [{ type: 'function', function: { name: 'x', parameters: schema() } }];
  const strict = [{ type: 'function', function: { name: 'x', parameters: schema('days'), strict: true } }];
  refusesAll('/chat/completions', [
    [chat('gpt-5.6-sol', { tools }), /set reasoning_effort to 'none'/],
    [chat('gpt-5.4', { tools, reasoning_effort: 'low' }), /set reasoning_effort to 'none'/],
    [chat('gpt-6-astra', { reasoning_effort: 'none' }), /does not support 'none'/],
    [chat('gpt-4.1', { tools: strict }), /Missing 'city'/],
  ]);
  refusesAll('/responses', [
    [{ model: 'gpt-6-astra', input: 'Hi', reasoning: { effort: 'minimal' } }, /does not support 'minimal'/],
    [
      {
        model: 'gpt-5',
        input: 'Hi',
        tools: [{ type: 'function', name: 'x', parameters: { type: 'object' }, strict: true }],
      },
      /'additionalProperties' is required/,
    ],
  ]);

  const bounded = { ...schema(), properties: { days: { type: 'integer', minimum: 1 } } };
  const messages = (more: object) => ({ model: 'claude-sonnet-4-6', max_tokens: 100, messages: [question], ...more });
  const manyTools = Array.from({ length: 21 }, (_one, index) => ({
    name: `x${index}`,
    input_schema: schema(),
    strict: true,
  }));
  refusesAll('/messages', [
    [messages({ tools: [{ name: 'x', input_schema: bounded, strict: true }] }), /properties minimum are not supported/],
    [messages({ tools: manyTools }), /Too many strict tools/],
    [messages({ model: 'claude-mythos-5', thinking: { type: 'disabled' } }), /thinking.type.disabled/],
  ]);

  const document = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: 'AA==' } } });
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
  refusesAll('/model/echo/converse', [
    [user(document('a')), /must also contain a text block/],
    [user({ text: 'Hi' }, document('a'), document('a')), /duplicate document names/],
    [user({ text: 'Hi' }, ...['a', 'b', 'c', 'd', 'e', 'f'].map(document)), /Too many documents/],
  ]);

  it.each([
    ['/chat/completions', chat('gpt-5.6-sol', { tools, reasoning_effort: 'none' })],
    ['/chat/completions', chat('gpt-5.4', { tools })],
    ['/messages', messages({ tools: [{ name: 'x', input_schema: bounded }] })],
    ['/model/echo/converse', user({ text: 'Hi' }, document('a'), document('b'))],
  ])('takes at %s what is beside it: %j', async (path, body) => {
    expect((await send(`${simulator.url}${path}`, body, version)).status).toBe(200);
  });
});
