// What the Vercel AI SDK makes of a failure, without and with the `fetch` of README.md beside this file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, RetryError, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { gatewayFetch } from './ai-sdk-fetch.ts';
import { countRequests, startClientGateway, uuidPattern } from './client-gateway.ts';

describe('the AI SDK', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startClientGateway();
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

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
