// The Vercel AI SDK through the running gateway, where the tests over all clients do not look.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { gatewayFetch } from './ai-sdk-fetch.ts';
import { type FunctionResult, functionAlias, providers, startClientGateway, uuidPattern } from './client-gateway.ts';

/** Shows the `gw` member of a function's answer to the user of the SDK. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ function: { ...(parsedBody as { gw?: FunctionResult }).gw } }),
  createStreamExtractor: () => ({ processChunk: () => {}, buildMetadata: () => undefined }),
};

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

  it.each(providers)('shows the thinking of a model of %s', async (provider) => {
    const { reasoningText, text } = await generateText({ model: gw(`${provider}/reasoning`), prompt: 'Hello' });
    expect([reasoningText, text]).toEqual([expect.stringMatching(/^The user wants/), expect.stringMatching(/^Hello!/)]);
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

  it('with the fetch of the README shows status, code, message and correlation id of an error', async () => {
    const alone = createOpenAICompatible({
      name: 'gw',
      baseURL: gateway.url,
      apiKey: gateway.key,
      fetch: gatewayFetch,
    });
    const failed = generateText({ model: alone('nobody/nothing'), prompt: 'Hello' });
    await expect(failed).rejects.toMatchObject({
      message: expect.stringMatching(/^unknown_model: \w/),
      statusCode: 400,
      data: { error: 'unknown_model', correlation_id: expect.stringMatching(uuidPattern) },
    });
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe('the README', () => {
  it('shows the very fetch that is tested here', () => {
    const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
    const wrapper = readFileSync(join(import.meta.dirname, 'ai-sdk-fetch.ts'), 'utf8');
    expect(readme.includes(wrapper)).toBe(true);
  });
});
