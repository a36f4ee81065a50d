// Arguments of tool calls that a model wrote and that are no object, whole and in pieces.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { completionOf, type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

let answer = '';
let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    const type = answer.startsWith('data:') ? 'text/event-stream' : 'application/json';
    outgoing.writeHead(200, { 'content-type': type });
    outgoing.end(answer);
  });
  gateway = await startHarness({
    models: { 'acme/chat': [{ provider: 'chat', upstream: 'qwen3', more: { supported_params: { tools: true } } }] },
    providers: { chat: { base_url: provider.url } },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const events = (...list: readonly Json[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

describe('arguments of a call that are no object', () => {
  const tools = [{ name: 'f', input_schema: { type: 'object' as const } }];
  const call = (text: string) => ({
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'f', arguments: text },
  });

  it.each<[text: string, input: Json]>([
    ['[1, 2]', { raw_input: '[1, 2]' }],
    ['"so"', { raw_input: '"so"' }],
    ['  so {"a": 1}', { raw_input: '  so {"a": 1}' }],
    [' \n', {}],
    ['  {"a": [1]}', { a: [1] }],
    ['{"a": 1, "n": NaN}', { a: 1, raw_input: '{"a": 1, "n": NaN}' }],
    ['{"a": 1}{"b": 2}', { a: 1, raw_input: '{"a": 1}{"b": 2}' }],
    ['{"a": "one', { a: 'one', raw_input: '{"a": "one' }],
  ])('%j become one input on Messages, in JSON and in streams', async (text, input) => {
    const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url.replace(/\/v1$/, ''), maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const body = { model: 'acme/chat', max_tokens: 9, messages, tools };
    answer = completionOf({ content: null, tool_calls: [call(text)], finish_reason: 'tool_calls' });
    const whole = await client.messages.create(body);
    const pieces = [...text].map((piece) => ({ index: 0, function: { arguments: piece } }));
    answer = events(
      ...[call(''), ...pieces].map((tool) => ({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [tool] } }] })),
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    );
    const streamed = await client.messages.stream(body).finalMessage();
    for (const { content } of [whole, streamed])
      expect(content).toMatchObject([{ type: 'tool_use', name: 'f', input }]);
  });
});
