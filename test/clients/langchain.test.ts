// LangChain.js through the running gateway.

import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { citySchema, functionAlias, imageUrl, labelSchema, startClientGateway, toolNames } from './client-gateway.ts';

const tools = toolNames.map((name) => ({
  type: 'function' as const,
  function: { name, description: 'Asks about a city', parameters: citySchema },
}));
const bothTools = toolNames.map((name) => expect.objectContaining({ name, args: { city: 'text' } }));

describe('LangChain', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startClientGateway();
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  const chat = (model: string, fields: ChatOpenAIFields = {}) =>
    new ChatOpenAI({ model, apiKey: gateway.key, configuration: { baseURL: gateway.url }, maxRetries: 0, ...fields });

  it('gets an answer with its cost, and can send the gateway’s own members', async () => {
    const modelKwargs = { provider: { only: ['acme'], sort: 'price' } };
    const answer = await chat('acme/echo', { modelKwargs }).invoke('Hello');
    expect(answer.content).toContain('Hello');
    expect(answer.response_metadata.usage).toMatchObject({ cost: expect.any(Number), provider: 'acme', attempts: 1 });
    expect(answer).toMatchObject({ usage_metadata: { input_tokens: 1, output_tokens: expect.any(Number) } });
    expect(gateway.simulator.calls.map(({ body }) => Reflect.has(body as object, 'provider'))).toEqual([false]);
  });

  it('reads a stream token by token, with its cost at the end when it asks for it', async () => {
    const stream = await chat('acme/echo', { modelKwargs: { usage: { include: true } } }).stream('Hello');
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.map(({ content }) => content).join('')).toContain('Hello');
    expect(chunks.at(-1)?.response_metadata.usage).toMatchObject({ cost: expect.any(Number), attempts: 1 });
  });

  it('gets parallel tool calls, and gives their results back', async () => {
    const model = chat('acme/echo').bindTools(tools);
    const question = new HumanMessage('Call both tools');
    const first = await model.invoke([question]);
    expect(first.tool_calls).toEqual(bothTools);
    const results = first.tool_calls?.map(({ id = '' }) => new ToolMessage({ tool_call_id: id, content: 'sunny' }));
    const second = await model.invoke([question, first, ...(results ?? [])]);
    expect([second.tool_calls, second.response_metadata.finish_reason]).toEqual([[], 'stop']);
  });

  it('puts parallel tool calls of a stream together', async () => {
    let whole = new AIMessageChunk('');
    for await (const chunk of await chat('acme/tools').bindTools(tools).stream('Hello')) whole = whole.concat(chunk);
    expect(whole.tool_calls).toEqual(bothTools);
  });

  it('gets an object that satisfies its schema', async () => {
    const model = chat('acme/echo').withStructuredOutput(labelSchema, { name: 'label', method: 'jsonSchema' });
    expect(await model.invoke('A ticket')).toEqual({ label: 'text' });
    expect(gateway.simulator.calls[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  });

  it('sends an image', async () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: imageUrl } },
    ];
    expect((await chat('acme/echo').invoke([new HumanMessage({ content })])).content).toContain('1 image');
  });

  it('calls a stored function like a model, once its stream: false is left out', async () => {
    // It sends `stream: false` whatever is set, and a function call takes no `stream` at all (spec 4.1).
    const withoutStream: typeof fetch = (url, init) => {
      const { stream: _stream, ...body } = JSON.parse(String(init?.body));
      return fetch(url, { ...init, body: JSON.stringify(body) });
    };
    const answer = await chat(functionAlias, { configuration: { baseURL: gateway.url, fetch: withoutStream } }).invoke(
      'Help me',
    );
    expect(answer.content).toContain('Label this: Help me');
    expect(answer.response_metadata.usage).toMatchObject({ cost: expect.any(Number), attempts: 1 });
  });

  it('sends an Idempotency-Key as a header of the call', async () => {
    const options = { options: { headers: { 'Idempotency-Key': 'sent-by-langchain' } } };
    const ask = () => chat('acme/echo').invoke('Hello', options);
    const [first, again] = [await ask(), await ask()];
    expect(again.id).toBe(first.id);
    expect(gateway.simulator.calls).toHaveLength(1);
  });
});
