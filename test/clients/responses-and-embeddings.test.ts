// The stock clients on Responses and Embeddings, where the tests over all clients do not look.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { embedMany } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { baseUrlOf, countRequests, formats, imageUrl, startClientGateway } from './client-gateway.ts';
import { errorKinds } from './error-kinds.ts';
import { impatiently } from './impatient.ts';
import { formatRows } from './readme-table.ts';

let gateway: Harness;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startClientGateway();
  client = openClient();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');

const openClient = (more: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, ...more });
const aiSdk = () => createOpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key });
const hello = { model: 'acme/echo', input: 'Hello' };

describe('the stock openai client on Responses', () => {
  it('puts a stream of reasoning and text together as the provider sent it', async () => {
    const stream = client.responses.stream({ ...hello, model: 'acme/reasoning', reasoning: { summary: 'auto' } });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    const { output, output_text: text, usage } = await stream.finalResponse();
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(text).toContain('Hello! You wrote “Hello”');
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
    expect(usage?.output_tokens).toBeGreaterThan(10);
  });

  it('sends an image, and the members of the gateway', async () => {
    const content: OpenAI.Responses.ResponseInputContent[] = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: imageUrl, detail: 'auto' },
    ];
    const provider = { provider: { only: ['acme'] } };
    const answer = await client.responses.create({
      model: 'acme/echo',
      input: [{ role: 'user', content }],
      ...provider,
    });
    expect(answer.output_text).toContain('1 image');
    expect(gateway.simulator.calls[0]?.body).not.toHaveProperty('provider');
  });
});

/** The class that the client has for it, by the status in the title. */
const classes: Readonly<Record<string, new (...args: never[]) => Error>> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  402: OpenAI.APIError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
};

describe('an error that the stock openai client gets on Embeddings', () => {
  it.each(errorKinds)(
    'has its class, code, message and id, and is asked for again only where that can help: $title',
    async ({ title, model, keyOf, code, says, isFinal }) => {
      const counted = countRequests();
      const failing = openClient({ apiKey: keyOf(gateway), fetch: counted.send });
      const error: unknown = await impatiently(() =>
        failing.embeddings.create({ ...hello, model }).then(
          () => new Error('an error was expected'),
          (reason: unknown) => reason,
        ),
      );
      const status = Number(/\d+(?=\)$)/.exec(title)?.[0]);
      expect(error).toBeInstanceOf(classes[status]);
      expect(error).toMatchObject({ status, code, message: expect.stringContaining(says) });
      expect((error as { requestID: string }).requestID).toMatch(/^[0-9a-f-]{36}$/);
      expect(counted.count).toBe(isFinal ? 1 : 3);
    },
  );
});

describe('vectors', () => {
  it('are the same numbers as base64, which the stock openai client asks for by itself, and as numbers', async () => {
    const asked = { model: 'acme/echo', input: ['Hello', 'you'], dimensions: 8 };
    const [alone, floats] = [
      await client.embeddings.create(asked),
      await client.embeddings.create({ ...asked, encoding_format: 'float' }),
    ];
    const formats = gateway.simulator.calls.map(({ body }) => (body as { encoding_format: string }).encoding_format);
    expect(formats).toEqual(['base64', 'float']);
    expect(alone.data[0]?.embedding).toHaveLength(8);
    for (const [index, { embedding }] of floats.data.entries()) {
      expect(alone.data[index]?.embedding).toEqual([...new Float32Array(embedding)]);
    }
  });

  it('come from providers that speak Embeddings, and any other model says that it serves none', async () => {
    const served: string[] = [];
    for (const format of formats) {
      const asked = client.embeddings.create({ model: `formats/${format}`, input: 'Hello' });
      const code = await asked.then(
        () => void served.push(format),
        (error: { code: unknown }) => error.code,
      );
      if (code !== undefined) expect([format, code]).toEqual([format, 'model_not_routable']);
    }
    expect(served).toEqual(['embeddings']);
    const cells = Object.fromEntries(formats.map((format) => [format, served.includes(format) ? 'yes' : 'no']));
    expect(formatRows(readme)['openai, Embeddings']).toEqual(cells);
  });

  it('come to the AI SDK, one for each value', async () => {
    const { embeddings, usage } = await embedMany({
      model: aiSdk().embedding('acme/echo'),
      values: ['Hello', 'World', 'Hello'],
    });
    expect(embeddings).toHaveLength(3);
    expect(embeddings[0]).toEqual(embeddings[2]);
    expect(usage.tokens).toBe(3);
  });
});
