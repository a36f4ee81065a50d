// The Vercel AI SDK through the running gateway.

import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import {
  citySchema,
  type FunctionFacts,
  functionAlias,
  imageUrl,
  labelSchema,
  startClientGateway,
  toolNames,
  uuidPattern,
} from './client-gateway.ts';

/** Shows the `gw` member of a function's answer to the user of the SDK. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ function: { ...(parsedBody as { gw?: FunctionFacts }).gw } }),
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

  it('reads a stream token by token, and its cost at the end when it asks for it', async () => {
    const providerOptions = { gw: { usage: { include: true } } };
    const { textStream, usage, finishReason } = streamText({
      model: gw('acme/echo'),
      prompt: 'Hello',
      providerOptions,
    });
    const texts: string[] = [];
    for await (const text of textStream) texts.push(text);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.join('')).toContain('Hello');
    expect(await finishReason).toBe('stop');
    expect((await usage).raw).toMatchObject({ cost: expect.any(Number), completion_tokens: texts.length });
  });

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

  it('puts parallel tool calls of a stream together', async () => {
    const { toolCalls } = streamText({ model: gw('acme/tools'), prompt: 'Hello', tools });
    expect((await toolCalls).map(({ toolName, input }) => [toolName, input])).toEqual(
      toolNames.map((name) => [name, { city: 'text' }]),
    );
  });

  it('gets an object that satisfies its schema', async () => {
    const output = Output.object({ schema: jsonSchema<{ label: string }>(labelSchema) });
    const answer = await generateText({ model: gw('acme/echo'), prompt: 'A ticket', output });
    expect(answer.output).toEqual({ label: 'text' });
    expect(gateway.simulator.calls[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  });

  it('sends an image', async () => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: imageUrl };
    const content = [{ type: 'text' as const, text: 'What is it?' }, image];
    const { text } = await generateText({ model: gw('acme/echo'), messages: [{ role: 'user', content }] });
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
});
