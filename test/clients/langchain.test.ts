// LangChain.js through the running gateway.

import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import {
  citySchema,
  countRequests,
  functionAlias,
  imageUrl,
  labelSchema,
  providers,
  startClientGateway,
  toolNames,
  uuidPattern,
} from './client-gateway.ts';
import { impatiently } from './impatient.ts';
import { onFailedAttempt } from './langchain-retries.ts';

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

  it.each(providers)(
    'reads a stream of %s token by token, with its cost at the end when it asks for it',
    async (provider) => {
      const stream = await chat(`${provider}/echo`, { modelKwargs: { usage: { include: true } } }).stream('Hello');
      const chunks: AIMessageChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.length).toBeGreaterThan(3);
      expect(chunks.map(({ content }) => content).join('')).toContain('Hello');
      expect(chunks.at(-1)?.response_metadata.usage).toMatchObject({ cost: expect.any(Number), attempts: 1 });
    },
  );

  it('gets parallel tool calls, and gives their results back', async () => {
    const model = chat('acme/echo').bindTools(tools);
    const question = new HumanMessage('Call both tools');
    const first = await model.invoke([question]);
    expect(first.tool_calls).toEqual(bothTools);
    const results = first.tool_calls?.map(({ id = '' }) => new ToolMessage({ tool_call_id: id, content: 'sunny' }));
    const second = await model.invoke([question, first, ...(results ?? [])]);
    expect([second.tool_calls, second.response_metadata.finish_reason]).toEqual([[], 'stop']);
  });

  it.each(providers)(
    'shows thinking where a provider calls it reasoning_content, which only a relayed one does: %s',
    async (provider) => {
      const { content, additional_kwargs: more } = await chat(`${provider}/reasoning`).invoke('Hello');
      expect(content).toContain('Hello!');
      expect('reasoning_content' in more).toBe(provider === 'acme');
    },
  );

  it('gets an object that satisfies its schema', async () => {
    const model = chat('acme/echo').withStructuredOutput(labelSchema, { name: 'label', method: 'jsonSchema' });
    expect(await model.invoke('A ticket')).toEqual({ label: 'text' });
    expect(gateway.simulator.calls[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  });

  it.each(providers)('gets an object by a tool that it forces, though a model of %s is to think', async (provider) => {
    const modelKwargs = { reasoning_effort: 'high', parallel_tool_calls: false };
    const method = { name: 'label', method: 'functionCalling' } as const;
    const model = chat(`${provider}/thinking`, { modelKwargs }).withStructuredOutput(labelSchema, method);
    expect(await model.invoke('A ticket')).toEqual({ label: 'text' });
  });

  it.each(providers)('sends an image to a model of %s', async (provider) => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: imageUrl } },
    ];
    expect((await chat(`${provider}/echo`).invoke([new HumanMessage({ content })])).content).toContain('1 image');
  });

  it('calls a stored function like a model, once its stream: false is left out', async () => {
    // It sends `stream: false` whatever is set, and a function call takes no `stream` at all.
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

  // What it makes of a failure. It hands retries to itself, six by default, and reads no x-should-retry.

  /** The error of a call, and how many requests it took. */
  const failureOf = async (model: string, fields: ChatOpenAIFields = {}) => {
    const counted = countRequests();
    const configuration = { baseURL: gateway.url, fetch: counted.send };
    const chat = new ChatOpenAI({ model, apiKey: gateway.key, configuration, ...fields });
    const error = await chat.invoke('Hello').then(
      () => new Error('an error was expected'),
      (reason) => reason,
    );
    return { error, requests: counted.count };
  };

  it('gets code, status and correlation id of a mistake of its own, and does not come back', async () => {
    const { error, requests } = await failureOf('nobody/nothing');
    expect(error).toMatchObject({ status: 400, error: 'unknown_model' });
    expect(error.requestID).toMatch(uuidPattern);
    expect([requests, gateway.simulator.calls.length]).toEqual([1, 0]);
  });

  it.each([
    ['acme/unconfigured', 503, 'provider_not_configured'],
    ['acme/limited-for-long', 429, 'rate_limited'],
  ])('does not come back where it should not, with the line of the README: %s', async (model, status, code) => {
    const { error, requests } = await failureOf(model, { onFailedAttempt });
    expect(error).toMatchObject({ status, error: code });
    expect(requests).toBe(1);
  });

  it.each<[string, ChatOpenAIFields, number]>([
    ['seven times by itself', {}, 7],
    ['once without retries', { maxRetries: 0 }, 1],
    ['once with the line of the README', { onFailedAttempt }, 1],
  ])('comes for an answer that fails its schema %s', async (_how, fields, calls) => {
    const schema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
    const modelKwargs = { response_format: { type: 'json_schema', json_schema: { name: 'label', schema } } };
    const { error, requests } = await impatiently(() => failureOf('acme/prose', { modelKwargs, ...fields }));
    expect(error).toMatchObject({ status: 422, error: 'schema_validation_failed' });
    expect(error.headers.get('x-should-retry')).toBe('false');
    // Each is asked for three times by the gateway.
    expect([requests, gateway.simulator.calls.length]).toEqual([calls, 3 * calls]);
  });

  it('is told when to come back where that helps', async () => {
    const { error, requests } = await failureOf('acme/limited', { maxRetries: 0 });
    expect(error).toMatchObject({ status: 429, error: 'rate_limited', retryAfterMs: 30_000 });
    expect(requests).toBe(1);
  });

  it('throws with our code where a stream breaks, after what came, and does not come back', async () => {
    const counted = countRequests();
    const configuration = { baseURL: gateway.url, fetch: counted.send };
    const stream = await new ChatOpenAI({ model: 'acme/broken', apiKey: gateway.key, configuration }).stream('Hello');
    let content = '';
    const read = async () => {
      for await (const chunk of stream) content += chunk.content;
    };
    await expect(read()).rejects.toMatchObject({
      code: 'no_available_provider',
      message: expect.stringContaining('The stream broke off after its first output'),
    });
    expect(content).toBe('Hello! You');
    expect([counted.count, gateway.simulator.calls.length]).toEqual([1, 1]);
  });
});
