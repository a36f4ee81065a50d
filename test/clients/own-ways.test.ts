// What a client library does in a way of its own, where the tests over all clients do not look.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, Runner } from '@openai/agents';
import { embedMany, generateText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import {
  baseUrlOf,
  countRequests,
  type FunctionResult,
  formats,
  functionAlias,
  imageUrl,
  labelSchema,
  providers,
  startClientGateway,
  uuidPattern,
} from './client-gateway.ts';
import { impatiently } from './impatient.ts';
import { onFailedAttempt } from './langchain-retries.ts';
import { formatRows } from './readme-table.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const openai = (more: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0, ...more });
const langchain = (model: string, fields: ChatOpenAIFields = {}) =>
  new ChatOpenAI({ model, apiKey: gateway.key, configuration: { baseURL: gateway.url }, maxRetries: 0, ...fields });
/** Shows the `gw` member of a function's answer to the user of the SDK. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ function: { ...(parsedBody as { gw?: FunctionResult }).gw } }),
  createStreamExtractor: () => ({ processChunk: () => {}, buildMetadata: () => undefined }),
};
const aiSdk = (model: string) =>
  createOpenAICompatible({ name: 'gw', baseURL: gateway.url, apiKey: gateway.key, metadataExtractor })(model);
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

/** The id of an answer that was asked for under a key. */
const keyed: Readonly<Record<string, (key: string) => Promise<string | undefined>>> = {
  async openai(key) {
    const options = { headers: { 'Idempotency-Key': key } };
    return (await openai().chat.completions.create({ model: 'acme/echo', messages }, options)).id;
  },
  async 'AI SDK'(key) {
    const headers = { 'Idempotency-Key': key };
    return (await generateText({ model: aiSdk('acme/echo'), prompt: 'Hello', headers })).response.id;
  },
  async 'LangChain.js'(key) {
    return (await langchain('acme/echo').invoke('Hello', { options: { headers: { 'Idempotency-Key': key } } })).id;
  },
  async '@openai/agents'(key) {
    const client = openai({ defaultHeaders: { 'Idempotency-Key': key } });
    const agent = new Agent({ name: 'helper', model: new OpenAIChatCompletionsModel(client, 'acme/echo') });
    const { rawResponses } = await new Runner({ tracingDisabled: true }).run(agent, 'Hello');
    return rawResponses[0]?.responseId;
  },
};

describe('an Idempotency-Key', () => {
  it.each(Object.entries(keyed))('is a header that %s is given', async (name, ask) => {
    const key = name.replaceAll(/\W/g, '-');
    const [first, again, other] = [await ask(key), await ask(key), await ask(`${key}-2`)];
    expect([typeof first, again === first, other === first]).toEqual(['string', true, false]);
    expect(gateway.simulator.calls).toHaveLength(2);
  });

  it('is not sent by the option idempotencyKey of openai', async () => {
    const ask = () => openai().chat.completions.create({ model: 'acme/echo', messages }, { idempotencyKey: 'dropped' });
    expect((await ask()).id).not.toBe((await ask()).id);
  });
});

describe('a stored function', () => {
  const ofFunction = {
    function_id: 'label',
    revision_id: 'r1',
    fallback_used: false,
    execution_id: expect.stringMatching(uuidPattern),
  };

  it('is called by openai like a model, and is the same execution again under the same key', async () => {
    const call = () =>
      openai().chat.completions.create(
        { model: functionAlias, messages },
        { headers: { 'idempotency-key': '5f0c7a52-0d7e-4c5e-9a53-0d9a3a1c8f11' } },
      );
    const [first, again] = [await call(), await call()] as { gw?: FunctionResult }[];
    expect(first?.gw).toEqual(ofFunction);
    expect(again).toEqual(first);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('is called by the AI SDK like a model, which shows the members of the gateway', async () => {
    const { text, usage, providerMetadata } = await generateText({ model: aiSdk(functionAlias), prompt: 'Help me' });
    expect(text).toContain('Label this: Help me');
    expect(providerMetadata?.function).toEqual(ofFunction);
    expect(usage.raw).toMatchObject({ cost: expect.any(Number), attempts: 1 });
  });

  it('is called by LangChain like a model, once its stream: false is left out', async () => {
    // It sends `stream: false` whatever is set, and a function call takes no `stream` at all.
    const withoutStream: typeof fetch = (url, init) => {
      const { stream: _stream, ...body } = JSON.parse(String(init?.body));
      return fetch(url, { ...init, body: JSON.stringify(body) });
    };
    const chat = langchain(functionAlias, { configuration: { baseURL: gateway.url, fetch: withoutStream } });
    expect((await chat.invoke('Help me')).content).toContain('Label this: Help me');
  });
});

it('the gateway’s own members are options of the AI SDK and of LangChain, and no provider sees them', async () => {
  const own = { provider: { only: ['acme'], sort: 'price' } };
  const { usage } = await generateText({ model: aiSdk('acme/echo'), prompt: 'Hello', providerOptions: { gw: own } });
  expect(usage.raw).toMatchObject({ cost: expect.any(Number), provider: 'acme', model: 'acme/echo', attempts: 1 });
  const { response_metadata: seen } = await langchain('acme/echo', { modelKwargs: own }).invoke('Hello');
  expect(seen.usage).toMatchObject({ cost: expect.any(Number), provider: 'acme', attempts: 1 });
  expect(gateway.simulator.calls.map(({ body }) => Reflect.has(body as object, 'provider'))).toEqual([false, false]);
});

describe.each(providers)('of a model of %s', (provider) => {
  it('the AI SDK shows the thinking, and LangChain where a provider calls it reasoning_content', async () => {
    const { reasoningText, text } = await generateText({ model: aiSdk(`${provider}/reasoning`), prompt: 'Hello' });
    expect([reasoningText, text]).toEqual([expect.stringMatching(/^The user wants/), expect.stringMatching(/^Hello!/)]);
    const { additional_kwargs: more } = await langchain(`${provider}/reasoning`).invoke('Hello');
    expect('reasoning_content' in more).toBe(provider === 'acme');
  });

  it('LangChain gets an object by a tool that it forces, though the model is to think', async () => {
    const modelKwargs = { reasoning_effort: 'high', parallel_tool_calls: false };
    const method = { name: 'label', method: 'functionCalling' } as const;
    const model = langchain(`${provider}/thinking`, { modelKwargs }).withStructuredOutput(labelSchema, method);
    expect(await model.invoke('A ticket')).toEqual({ label: 'text' });
  });

  it('openai gets schema_validation_failed when no answer satisfies its schema, and does not come back', async () => {
    const counted = countRequests();
    const response_format = zodResponseFormat(z.object({ label: z.string() }), 'label');
    const failure = await openai({ fetch: counted.send, maxRetries: 2 })
      .chat.completions.create({ model: `${provider}/prose`, messages, response_format })
      .catch((error) => error);
    expect(failure).toMatchObject({ status: 422, error: 'schema_validation_failed' });
    expect([counted.count, gateway.simulator.calls.length]).toEqual([1, 3]);
  });
});

// It hands retries to itself, six by default, and reads no x-should-retry.
it.each<[string, ChatOpenAIFields, number]>([
  ['seven times by itself', {}, 7],
  ['once with the line of the README', { onFailedAttempt }, 1],
])('LangChain comes for an answer that fails its schema %s', async (_how, fields, calls) => {
  const counted = countRequests();
  const schema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
  const error = await impatiently(() =>
    new ChatOpenAI({
      ...{ model: 'acme/prose', apiKey: gateway.key, configuration: { baseURL: gateway.url, fetch: counted.send } },
      modelKwargs: { response_format: { type: 'json_schema', json_schema: { name: 'label', schema } } },
      ...fields,
    })
      .invoke('Hello')
      .catch((reason) => reason),
  );
  expect(error).toMatchObject({ status: 422, error: 'schema_validation_failed' });
  expect(error.headers.get('x-should-retry')).toBe('false');
  // Each is asked for three times by the gateway.
  expect([counted.count, gateway.simulator.calls.length]).toEqual([calls, 3 * calls]);
});

it('openai sends an image by Responses, and the members of the gateway', async () => {
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: 'input_text', text: 'What is it?' },
    { type: 'input_image', image_url: imageUrl, detail: 'auto' },
  ];
  const asked = { model: 'acme/echo', input: [{ role: 'user' as const, content }], provider: { only: ['acme'] } };
  const answer = await openai({ baseURL: baseUrlOf(gateway, '/openai/v1') }).responses.create(asked);
  expect(answer.output_text).toContain('1 image');
  expect(gateway.simulator.calls[0]?.body).not.toHaveProperty('provider');
});

describe('vectors', () => {
  const embeddings = () => openai({ baseURL: baseUrlOf(gateway, '/openai/v1') }).embeddings;

  it('are the same numbers as base64, which the stock openai client asks for by itself, and as numbers', async () => {
    const asked = { model: 'acme/echo', input: ['Hello', 'you'], dimensions: 8 };
    const [alone, floats] = [
      await embeddings().create(asked),
      await embeddings().create({ ...asked, encoding_format: 'float' }),
    ];
    const encodings = gateway.simulator.calls.map(({ body }) => (body as { encoding_format: string }).encoding_format);
    expect(encodings).toEqual(['base64', 'float']);
    expect(alone.data[0]?.embedding).toHaveLength(8);
    for (const [index, { embedding }] of floats.data.entries()) {
      expect(alone.data[index]?.embedding).toEqual([...new Float32Array(embedding)]);
    }
  });

  it('come from providers that speak Embeddings, and any other model says that it serves none', async () => {
    const served: string[] = [];
    for (const format of formats) {
      const asked = embeddings().create({ model: `formats/${format}`, input: 'Hello' });
      const code = await asked.then(
        () => void served.push(format),
        (error: { code: unknown }) => error.code,
      );
      if (code !== undefined) expect([format, code]).toEqual([format, 'model_not_routable']);
    }
    expect(served).toEqual(['embeddings']);
    const cells = Object.fromEntries(formats.map((format) => [format, served.includes(format) ? 'yes' : 'no']));
    const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
    expect(formatRows(readme)['openai, Embeddings']).toEqual(cells);
  });

  it('come to the AI SDK, one for each value', async () => {
    const provider = createOpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key });
    const values = ['Hello', 'World', 'Hello'];
    const { embeddings: found, usage } = await embedMany({ model: provider.embedding('acme/echo'), values });
    expect(found).toHaveLength(3);
    expect(found[0]).toEqual(found[2]);
    expect(usage.tokens).toBe(3);
  });
});
