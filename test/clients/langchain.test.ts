// LangChain.js through the running gateway, where the tests over all clients do not look.

import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import {
  countRequests,
  functionAlias,
  labelSchema,
  providers,
  startClientGateway,
  uuidPattern,
} from './client-gateway.ts';
import { impatiently } from './impatient.ts';
import { onFailedAttempt } from './langchain-retries.ts';

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
    'shows thinking where a provider calls it reasoning_content, which only a relayed one does: %s',
    async (provider) => {
      const { content, additional_kwargs: more } = await chat(`${provider}/reasoning`).invoke('Hello');
      expect(content).toContain('Hello!');
      expect('reasoning_content' in more).toBe(provider === 'acme');
    },
  );

  it.each(providers)('gets an object by a tool that it forces, though a model of %s is to think', async (provider) => {
    const modelKwargs = { reasoning_effort: 'high', parallel_tool_calls: false };
    const method = { name: 'label', method: 'functionCalling' } as const;
    const model = chat(`${provider}/thinking`, { modelKwargs }).withStructuredOutput(labelSchema, method);
    expect(await model.invoke('A ticket')).toEqual({ label: 'text' });
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
});
