// Every client library on both base URLs, and at providers of every format: the same features work. After them come the
// peculiarities of single clients.
import { createCohere } from '@ai-sdk/cohere';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, Runner } from '@openai/agents';
import { embedMany, generateImage, generateText, rerank } from 'ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { countTokens } from '../../infra/local/simulator/tokens.ts';
import { type BasePath, basePaths } from '../../shared/foundation/constants/index.ts';
import type { Harness } from '../support/harness.ts';
import {
  baseUrlOf,
  countRequests,
  type FunctionGwField,
  formats,
  functionAlias,
  imageUrl,
  type ProviderName,
  providers,
  startClientGateway,
  translatedFormats,
  uuidPattern,
} from './client-gateway.ts';
import { impatiently } from './impatient.ts';
import { onFailedAttempt } from './langchain-retries.ts';
import { chatClients, chatFormats, nodeClients, responsesClients } from './node-clients.ts';
import { openaiByHand } from './openai-client.ts';
import { formatResults, thinkingResults } from './results.ts';
import { isSentBack, shownAs } from './sent-back.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const openAt = (name: string, base: BasePath, send: typeof fetch = fetch) => {
  const open = nodeClients[name];
  if (open === undefined) throw new Error(`there is no client ${name}`);
  return open({ baseURL: baseUrlOf(gateway, base), apiKey: gateway.key, fetch: send });
};
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('an error was expected'),
    (reason: unknown) => reason,
  );

interface Cell {
  readonly name: string;
  readonly base: BasePath;
  readonly provider: ProviderName;
}

/**
 * One client of an interface is enough for all formats: the gateway writes a translated answer in one form for every
 * library.
 */
const cells: readonly Cell[] = [
  ...Object.keys(nodeClients).flatMap((name) => basePaths.map((base) => ({ name, base, provider: 'acme' as const }))),
  ...[Object.keys(chatClients)[0] ?? '', Object.keys(responsesClients)[0] ?? ''].flatMap((name) =>
    translatedFormats.map((provider) => ({ name, base: '/openai/v1' as const, provider })),
  ),
];

describe.each(cells)('$name below $base at a provider of $provider', ({ name, base, provider }) => {
  const client = (send?: typeof fetch) => openAt(name, base, send);
  const echo = `${provider}/echo`;

  it('gets an answer, its cost and its tokens', async () => {
    const { text, cost, tokens } = await client().answer(echo);
    expect(text).toContain('Hello! You wrote “Hello”');
    expect([name, typeof cost]).toEqual([name, 'number']);
    expect(tokens).toEqual({ input: 1, output: countTokens(text) });
  });

  it('reads a stream token by token, and how many they were', async () => {
    const texts: string[] = [];
    const tokens = await client().stream(echo, (text) => texts.push(text));
    expect(texts.join('')).toContain('Hello! You wrote “Hello”');
    expect(texts).toHaveLength(countTokens(texts.join('')));
    expect(tokens).toEqual({ input: 1, output: texts.length });
  });

  it.each([false, true])('calls tools in parallel and gives their results back; stream %s', async (stream) => {
    const { text, inputs } = await client().tools(echo, { stream });
    expect(inputs).toEqual([{ city: 'text' }, { city: 'text' }]);
    expect(text).toContain('The tools answered “sunny” and “sunny”');
  });

  it('calls tools and then gets an object of its schema, with thinking asked for', async () => {
    const { text, inputs } = await client().tools(echo, { labelled: true, effort: 'high' });
    expect(inputs).toContainEqual({ city: 'text' });
    expect(JSON.parse(text)).toEqual({ label: 'text' });
  });

  it('gets an object of its schema', async () => {
    expect(await client().schema(echo)).toEqual({ label: 'text' });
  });

  it('reads the error of a stream that fails before its first output, and does not retry', async () => {
    const counter = countRequests();
    const texts: string[] = [];
    const error = await failureOf(client(counter.send).stream(`${provider}/too-long`, (text) => texts.push(text)));
    // On /v1 an error has no form that the libraries know.
    if (base !== '/v1') expect(String(error)).toContain('maximum context length is 128000 tokens');
    expect([texts, counter.count, gateway.simulator.calls.length]).toEqual([[], 1, 1]);
  });

  it.each(['broken', 'cut'])('throws if a stream breaks, after what came, and does not come back: %s', async (how) => {
    const counter = countRequests();
    const texts: string[] = [];
    const error = await failureOf(client(counter.send).stream(`${provider}/${how}`, (text) => texts.push(text)));
    expect(String(error)).toContain('The stream broke off after its first output');
    expect(texts.join('')).toMatch(/^Hello! You/);
    expect([counter.count, gateway.simulator.calls.length]).toEqual([1, 1]);
  });

  const isRefused = base === '/v1' && !(name in responsesClients);
  it(isRefused ? 'is refused a stream with a schema' : 'streams an object of its schema', async () => {
    const streamAnswer = client().streamedSchema(echo);
    if (!isRefused) expect(await streamAnswer).toEqual({ label: 'text' });
    else await expect(streamAnswer).rejects.toBeDefined();
  });
});

describe('results.ts', () => {
  it.each(Object.keys(nodeClients))('says at providers of which formats %s is answered', async (name) => {
    const cells: Record<string, string> = {};
    for (const format of formats) {
      const answer = openAt(name, '/openai/v1').answer(`formats/${format}`);
      const error = await answer.then(() => undefined, String);
      cells[format] = error === undefined ? 'yes' : 'no';
      if (error !== undefined) expect(error).toContain(`No provider of "formats/${format}" serves the interface`);
    }
    const servedFormats = formats.filter((format) => cells[format] === 'yes');
    expect(servedFormats).toEqual(chatFormats);
    expect(formatResults[name]).toEqual(cells);
    expect(gateway.simulator.calls.map(({ format }) => format)).toEqual(servedFormats);
  });

  const toolClients = { ...chatClients, 'openai, the message as it came': openaiByHand };
  it.each(Object.entries(toolClients))(
    'says what of the thinking %s sends back with tool results',
    async (name, open) => {
      const isBack = async (provider: ProviderName, stream: boolean) => {
        gateway.simulator.clear();
        const client = open({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, fetch });
        const { text, inputs } = await client.tools(`${provider}/thinking`, { stream, effort: 'high' });
        expect([inputs, text]).toEqual([
          Array(2).fill({ city: 'text' }),
          expect.stringContaining('“sunny” and “sunny”'),
        ]);
        return isSentBack(gateway.simulator.calls.map(({ body }) => body));
      };
      const cellOf = async (provider: ProviderName) =>
        shownAs(await isBack(provider, false), await isBack(provider, true));
      const [messages, converse] = [await cellOf('messages'), await cellOf('converse')];
      expect(converse).toBe(messages);
      const expectedThinking = {
        'Claude (messages, converse)': messages,
        'Gemini (generate-content)': await cellOf('generate-content'),
      };
      expect(thinkingResults[name]).toEqual(expectedThinking);
    },
  );
});

const openai = (more: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0, ...more });
const langchain = (model: string, fields: ChatOpenAIFields = {}) =>
  new ChatOpenAI({ model, apiKey: gateway.key, configuration: { baseURL: gateway.url }, maxRetries: 0, ...fields });
/** Shows the `gw` field of a function's answer to the SDK's user. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ function: { ...(parsedBody as { gw?: FunctionGwField }).gw } }),
  createStreamExtractor: () => ({ processChunk: () => {}, buildMetadata: () => undefined }),
};
const aiSdk = (model: string) =>
  createOpenAICompatible({ name: 'gw', baseURL: gateway.url, apiKey: gateway.key, metadataExtractor })(model);
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

/** Functions that make a call under an Idempotency-Key and return the answer's id. */
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
    const [first, again] = [await call(), await call()] as { gw?: FunctionGwField }[];
    expect(first?.gw).toEqual(ofFunction);
    expect(again).toEqual(first);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('is called by the AI SDK like a model, which shows the fields of the gateway', async () => {
    const { text, usage, providerMetadata } = await generateText({ model: aiSdk(functionAlias), prompt: 'Help me' });
    expect(text).toContain('Label this: Help me');
    expect(providerMetadata?.function).toEqual(ofFunction);
    expect(usage.raw).toMatchObject({ cost: expect.any(Number), attempts: 1 });
  });

  it('is called by LangChain like a model, once its stream: false is left out', async () => {
    // LangChain always sends `stream: false`, and a function call accepts no `stream` at all.
    const withoutStream: typeof fetch = (url, init) => {
      const { stream: _stream, ...body } = JSON.parse(String(init?.body));
      return fetch(url, { ...init, body: JSON.stringify(body) });
    };
    const chat = langchain(functionAlias, { configuration: { baseURL: gateway.url, fetch: withoutStream } });
    expect((await chat.invoke('Help me')).content).toContain('Label this: Help me');
  });
});

it('the gateway’s own fields are options of the AI SDK and of LangChain, and no provider sees them', async () => {
  const gatewayFields = { provider: { only: ['acme'], sort: 'price' } };
  const { usage } = await generateText({
    model: aiSdk('acme/echo'),
    prompt: 'Hello',
    providerOptions: { gw: gatewayFields },
  });
  expect(usage.raw).toMatchObject({ cost: expect.any(Number), provider: 'acme', model: 'acme/echo', attempts: 1 });
  const { response_metadata: seen } = await langchain('acme/echo', { modelKwargs: gatewayFields }).invoke('Hello');
  expect(seen.usage).toMatchObject({ cost: expect.any(Number), provider: 'acme', attempts: 1 });
  expect(gateway.simulator.calls.map(({ body }) => Reflect.has(body as object, 'provider'))).toEqual([false, false]);
});

it.each(providers)(
  'the AI SDK shows the thinking of a model of %s, and LangChain if its provider calls it reasoning_content',
  async (provider) => {
    const { reasoningText, text } = await generateText({ model: aiSdk(`${provider}/reasoning`), prompt: 'Hello' });
    expect([reasoningText, text]).toEqual([expect.stringMatching(/^The user wants/), expect.stringMatching(/^Hello!/)]);
    const { additional_kwargs: more } = await langchain(`${provider}/reasoning`).invoke('Hello');
    expect('reasoning_content' in more).toBe(provider === 'acme');
  },
);

// LangChain passes retries to itself, six by default, and does not read x-should-retry.
it.each<[string, ChatOpenAIFields, number]>([
  ['seven times by itself', {}, 7],
  ['once with the line of the README', { onFailedAttempt }, 1],
])('LangChain comes for an answer that fails its schema %s', async (_how, fields, calls) => {
  const counter = countRequests();
  const schema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
  const error = await impatiently(() =>
    new ChatOpenAI({
      ...{ model: 'acme/prose', apiKey: gateway.key, configuration: { baseURL: gateway.url, fetch: counter.send } },
      modelKwargs: { response_format: { type: 'json_schema', json_schema: { name: 'label', schema } } },
      ...fields,
    })
      .invoke('Hello')
      .catch((reason) => reason),
  );
  expect(error).toMatchObject({ status: 422, error: 'schema_validation_failed' });
  expect(error.headers.get('x-should-retry')).toBe('false');
  // The gateway makes each call three times.
  expect([counter.count, gateway.simulator.calls.length]).toEqual([calls, 3 * calls]);
});

it('openai sends an image by Responses, and the fields of the gateway', async () => {
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: 'input_text', text: 'What is it?' },
    { type: 'input_image', image_url: imageUrl, detail: 'auto' },
  ];
  const request = { model: 'acme/echo', input: [{ role: 'user' as const, content }], provider: { only: ['acme'] } };
  const answer = await openai({ baseURL: baseUrlOf(gateway, '/openai/v1') }).responses.create(request);
  expect(answer.output_text).toContain('1 image');
  expect(gateway.simulator.calls[0]?.body).not.toHaveProperty('provider');
});

it('openai reads a moderation, of each text and of an image', async () => {
  const { moderations } = openai({ baseURL: baseUrlOf(gateway, '/openai/v1') });
  const { data, response } = await moderations.create({ model: 'acme/echo', input: ['Hello', 'hate'] }).withResponse();
  expect(data.results.map(({ flagged, categories }) => [flagged, categories.hate])).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(Number(response.headers.get('x-gw-cost'))).toBeGreaterThan(0);
  const image = { type: 'image_url' as const, image_url: { url: imageUrl } };
  const moderation = await moderations.create({ model: 'acme/echo', input: [image] });
  expect(moderation.results[0]?.category_applied_input_types.violence).toEqual(['text', 'image']);
});

it('the AI SDK reranks, at either version of Cohere’s path', async () => {
  const documents = ['Bread', 'Capital of Norway'];
  for (const version of ['v1', 'v2']) {
    const cohere = createCohere({ baseURL: `${new URL(gateway.url).origin}/${version}`, apiKey: gateway.key });
    const request = { model: cohere.reranking('acme/echo'), documents, query: 'Norway', topN: 1 };
    const { rerankedDocuments, ranking } = await rerank(request);
    expect([version, rerankedDocuments, ranking[0]?.originalIndex]).toEqual([version, [documents[1]], 1]);
  }
});

describe('images', () => {
  const connection = () => ({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key });
  const isPng = (base64 = '') => Buffer.from(base64, 'base64').subarray(1, 4).toString() === 'PNG';

  it('openai makes them, streams them, and edits files', async () => {
    const { images } = openai(connection());
    const imageResponse = await images.generate({ model: 'acme/echo', prompt: 'A cat', n: 2 });
    expect(imageResponse.data?.map(({ b64_json }) => isPng(b64_json))).toEqual([true, true]);
    expect(imageResponse.usage).toMatchObject({ output_tokens: expect.any(Number), cost: expect.any(Number) });
    const types: string[] = [];
    const stream = await images.generate({ model: 'acme/echo', prompt: 'A cat', stream: true, partial_images: 1 });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);
    const image = await toFile(Buffer.from('bytes'), 'a.png', { type: 'image/png' });
    const gatewayFields = { provider: { only: ['acme'] } } as object;
    const edited = await images.edit({ model: 'acme/echo', prompt: 'Blue', image, ...gatewayFields });
    expect(isPng(edited.data?.[0]?.b64_json)).toBe(true);
    expect(gateway.simulator.calls.at(-1)?.body).toMatchObject({ image: { file_name: 'a.png', type: 'image/png' } });
    expect(gateway.simulator.calls.at(-1)?.body).not.toHaveProperty('provider');
  });

  it('the AI SDK makes one, and edits one', async () => {
    const model = createOpenAI(connection()).image('acme/echo');
    const result = await generateImage({ model, prompt: 'A cat', size: '1024x1024' });
    expect([isPng(result.image.base64), result.image.mediaType]).toEqual([true, 'image/png']);
    const prompt = { text: 'Blue', images: [result.image.uint8Array] };
    expect(isPng((await generateImage({ model, prompt })).image.base64)).toBe(true);
    expect(gateway.simulator.calls.at(-1)?.path).toMatch(/\/images\/edits$/);
  });
});

describe('vectors', () => {
  const embeddings = () => openai({ baseURL: baseUrlOf(gateway, '/openai/v1') }).embeddings;

  it('are the same numbers as base64, which the stock openai client asks for by itself, and as numbers', async () => {
    const request = { model: 'acme/echo', input: ['Hello', 'you'], dimensions: 8 };
    const [alone, floats] = [
      await embeddings().create(request),
      await embeddings().create({ ...request, encoding_format: 'float' }),
    ];
    const encodings = gateway.simulator.calls.map(({ body }) => (body as { encoding_format: string }).encoding_format);
    expect(encodings).toEqual(['base64', 'float']);
    expect(alone.data[0]?.embedding).toHaveLength(8);
    for (const [index, { embedding }] of floats.data.entries()) {
      expect(alone.data[index]?.embedding).toEqual([...new Float32Array(embedding)]);
    }
  });

  it('come from providers that speak Embeddings, and any other model says that it serves none', async () => {
    const servedFormats: string[] = [];
    for (const format of formats) {
      const call = embeddings().create({ model: `formats/${format}`, input: 'Hello' });
      const code = await call.then(
        () => void servedFormats.push(format),
        (error: { code: unknown }) => error.code,
      );
      if (code !== undefined) expect([format, code]).toEqual([format, 'model_not_routable']);
    }
    expect(servedFormats).toEqual(['embeddings']);
    const cells = Object.fromEntries(formats.map((format) => [format, servedFormats.includes(format) ? 'yes' : 'no']));
    expect(formatResults['openai, Embeddings']).toEqual(cells);
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
