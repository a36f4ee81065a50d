// What LangChain.js makes of a failure. It hands retries to itself, six by default, and reads no x-should-retry.

import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { countRequests, startClientGateway, uuidPattern } from './client-gateway.ts';
import { onFailedAttempt } from './langchain-retries.ts';

describe('LangChain', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startClientGateway();
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

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
