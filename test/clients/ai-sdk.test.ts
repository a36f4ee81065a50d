// The Vercel AI SDK through the running gateway.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, Output, RetryError, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { gatewayFetch } from './ai-sdk-fetch.ts';
import {
  citySchema,
  countRequests,
  type FunctionResult,
  functionAlias,
  imageUrl,
  labelSchema,
  providers,
  startClientGateway,
  toolNames,
  uuidPattern,
} from './client-gateway.ts';

/** Shows the `gw` member of a function's answer to the user of the SDK. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ function: { ...(parsedBody as { gw?: FunctionResult }).gw } }),
  createStreamExtractor: () => ({ processChunk: () => {}, buildMetadata: () => undefined }),
};

/** The cast: the SDK's types are not written for exactOptionalPropertyTypes. */
const tools = Object.fromEntries(
  toolNames.map((name) => [name, { inputSchema: jsonSchema(citySchema) } as ToolSet[string]]),
);

describe('the AI SDK', () => {
  let gateway: Harness;
  let gw: ReturnType<typeof createOpenAICompatible>;

  beforeAll(async () => {
    gateway = await startClientGateway();
    gw = createOpenAICompatible({
      name: 'gw',
      baseURL: gateway.url,
      apiKey: gateway.key,
      includeUsage: true,
      supportsStructuredOutputs: true,
      metadataExtractor,
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  it('gets an answer, with its cost among the raw usage, and can send the gateway’s own members', async () => {
    const providerOptions = { gw: { provider: { only: ['acme'], sort: 'price' } } };
    const { text, usage } = await generateText({ model: gw('acme/echo'), prompt: 'Hello', providerOptions });
    expect(text).toContain('Hello');
    expect(usage.raw).toMatchObject({ cost: expect.any(Number), provider: 'acme', model: 'acme/echo', attempts: 1 });
    expect(gateway.simulator.calls.map(({ body }) => Object.keys(body as object).toSorted())).toEqual([
      ['messages', 'model'],
    ]);
  });

  it.each(providers)(
    'reads a stream of %s token by token, and its cost at the end when it asks for it',
    async (provider) => {
      const providerOptions = { gw: { usage: { include: true } } };
      const { textStream, usage, finishReason } = streamText({
        model: gw(`${provider}/echo`),
        prompt: 'Hello',
        providerOptions,
      });
      const texts: string[] = [];
      for await (const text of textStream) texts.push(text);
      expect(texts.length).toBeGreaterThan(3);
      expect(texts.join('')).toContain('Hello');
      expect(await finishReason).toBe('stop');
      expect((await usage).raw).toMatchObject({ cost: expect.any(Number), completion_tokens: texts.length });
    },
  );

  it('gets parallel tool calls, and gives their results back', async () => {
    const model = gw('acme/echo');
    const first = await generateText({ model, prompt: 'Call both tools', tools });
    expect(first.finishReason).toBe('tool-calls');
    expect(first.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual(
      toolNames.map((name) => [name, { city: 'text' }]),
    );
    const results = first.toolCalls.map(({ toolCallId, toolName }) => ({
      type: 'tool-result' as const,
      toolCallId,
      toolName,
      output: { type: 'text' as const, value: 'sunny' },
    }));
    const question = { role: 'user' as const, content: 'Call both tools' };
    const messages = [question, ...first.response.messages, { role: 'tool' as const, content: results }];
    const second = await generateText({ model, messages, tools });
    expect([second.finishReason, second.toolCalls]).toEqual(['stop', []]);
  });

  it.each(providers)('shows the thinking of a model of %s', async (provider) => {
    const { reasoningText, text } = await generateText({ model: gw(`${provider}/reasoning`), prompt: 'Hello' });
    expect([reasoningText, text]).toEqual([expect.stringMatching(/^The user wants/), expect.stringMatching(/^Hello!/)]);
  });

  it('gets an object that satisfies its schema', async () => {
    const output = Output.object({ schema: jsonSchema<{ label: string }>(labelSchema) });
    const answer = await generateText({ model: gw('acme/echo'), prompt: 'A ticket', output });
    expect(answer.output).toEqual({ label: 'text' });
    expect(gateway.simulator.calls[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  });

  it.each(providers)('sends an image to a model of %s', async (provider) => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: imageUrl };
    const content = [{ type: 'text' as const, text: 'What is it?' }, image];
    const { text } = await generateText({ model: gw(`${provider}/echo`), messages: [{ role: 'user', content }] });
    expect(text).toContain('1 image');
  });

  it('calls a stored function like a model', async () => {
    const { text, usage, providerMetadata } = await generateText({ model: gw(functionAlias), prompt: 'Help me' });
    expect(text).toContain('Label this: Help me');
    expect(providerMetadata?.function).toEqual({
      function_id: 'label',
      revision_id: 'r1',
      fallback_used: false,
      execution_id: expect.stringMatching(uuidPattern),
    });
    expect(usage.raw).toMatchObject({ cost: expect.any(Number), attempts: 1 });
  });

  it('sends an Idempotency-Key as a header of the call', async () => {
    const ask = () =>
      generateText({ model: gw('acme/echo'), prompt: 'Hello', headers: { 'Idempotency-Key': 'sent-by-ai-sdk' } });
    const [first, again] = [await ask(), await ask()];
    expect(again.response.id).toBe(first.response.id);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  // What it makes of a failure, without and with the `fetch` of README.md beside this file.

  const providerWith = (send: typeof fetch) =>
    createOpenAICompatible({ name: 'gw', baseURL: gateway.url, apiKey: gateway.key, fetch: send });

  /** The error of a call, and how many requests it took. Its retries are the default ones unless a test says otherwise. */
  const failureOf = async (model: string, options: { maxRetries?: number } = {}, send: typeof fetch = gatewayFetch) => {
    const counted = countRequests(send);
    const answer = generateText({ model: providerWith(counted.send)(model), prompt: 'Hello', ...options });
    const error: unknown = await answer.then(
      () => new Error('an error was expected'),
      (reason) => reason,
    );
    if (!APICallError.isInstance(error)) throw error;
    return { error, requests: counted.count };
  };

  it('alone shows neither our message nor our code', async () => {
    const { error } = await failureOf('nobody/nothing', {}, fetch);
    expect([error.message, error.data]).toEqual(['Bad Request', undefined]);
    expect(error.responseBody).toContain('"unknown_model"');
  });

  it('with the fetch of the README shows code, message and correlation id, and comes back no oftener', async () => {
    const { error, requests } = await failureOf('nobody/nothing');
    expect(error.message).toMatch(/^unknown_model: \w/);
    expect(error.statusCode).toBe(400);
    expect(error.data).toMatchObject({ error: 'unknown_model', correlation_id: expect.stringMatching(uuidPattern) });
    expect([requests, gateway.simulator.calls.length]).toEqual([1, 0]);
  });

  it.each([
    ['acme/unconfigured', 503, 'provider_not_configured', 0],
    ['acme/limited-for-long', 429, 'rate_limited', 1],
  ])('with the fetch of the README does not come back where it should not: %s', async (model, status, code, calls) => {
    const { error, requests } = await failureOf(model);
    expect([error.statusCode, error.data]).toEqual([status, expect.objectContaining({ error: code })]);
    expect(error.isRetryable).toBe(false);
    expect([requests, gateway.simulator.calls.length]).toEqual([1, calls]);
  });

  it.each([
    ['acme/failing', 502, undefined],
    ['acme/limited', 429, '30'],
  ])('with the fetch of the README may come back where that helps: %s', async (model, status, retryAfter) => {
    const { error } = await failureOf(model, { maxRetries: 0 });
    expect([error.statusCode, error.isRetryable]).toEqual([status, true]);
    expect(error.responseHeaders?.['retry-after']).toBe(retryAfter);
  });

  it('alone comes back even where the gateway says that nothing would change', async () => {
    const answerAtOnce: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      // The SDK waits two seconds by default; a test does not.
      return new Response(response.body, { status: response.status, headers: { 'retry-after-ms': '1' } });
    };
    const counted = countRequests(answerAtOnce);
    const model = providerWith(counted.send)('acme/unconfigured');
    const error = await generateText({ model, prompt: 'Hello', maxRetries: 1 }).catch((reason) => reason);
    expect(RetryError.isInstance(error)).toBe(true);
    expect(counted.count).toBe(2);
  });

  it('shows code and message of a stream that breaks, after what came, and does not come back', async () => {
    const counted = countRequests();
    const errors: unknown[] = [];
    const { textStream, finishReason } = streamText({
      model: providerWith(counted.send)('acme/broken'),
      prompt: 'Hello',
      onError: ({ error }) => void errors.push(error),
    });
    let content = '';
    for await (const text of textStream) content += text;
    expect(content).toBe('Hello! You');
    expect(errors).toEqual([expect.objectContaining({ code: 'no_available_provider' })]);
    expect(String(errors[0])).toContain('The stream broke off after its first output');
    expect(await finishReason).toBe('error');
    expect([counted.count, gateway.simulator.calls.length]).toEqual([1, 1]);
  });
});

describe('the README', () => {
  it('shows the very fetch that is tested here', () => {
    const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
    const wrapper = readFileSync(join(import.meta.dirname, 'ai-sdk-fetch.ts'), 'utf8');
    expect(readme.includes(wrapper)).toBe(true);
  });
});
