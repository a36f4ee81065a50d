// Embeddings of providers with a form of their own, through the front door.
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

type Json = Record<string, unknown>;

const more = { output_price_per_million: '0', max_output_tokens: 1, apis: ['embeddings'] };
const bedrock = (upstream: string) => [{ provider: 'bedrock', upstream, more }];
const google = (upstream: string) => [{ provider: 'google', upstream, more }];
const titan = 'amazon.titan-embed-text-v2:0';
const cohere = 'cohere.embed-v4:0';
const nova = 'amazon.nova-2-multimodal-embeddings-v1:0';

const vertex = (upstream: string) => [{ provider: 'vertex', upstream, more }];

describe('embeddings of Bedrock, Google and Vertex', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        titan: bedrock(titan),
        'titan-v1': bedrock('amazon.titan-embed-text-v1'),
        cohere: bedrock(cohere),
        'cohere-v3': bedrock('cohere.embed-english-v3'),
        nova: bedrock(nova),
        gemini: google('gemini-embedding-001'),
        'gemini-2': google('models/gemini-embedding-2'),
        'vertex-text': vertex('text-embedding-005'),
        'vertex-gemini': vertex('gemini-embedding-001'),
        'vertex-2': vertex('models/gemini-embedding-2'),
        'titan-silent': bedrock(`${titan}/no-usage`),
        'cohere-silent': bedrock(`${cohere}/no-usage`),
        'nova-miscounted': bedrock(`${nova}/wrong-usage:nulls`),
        'titan-part-fails': [
          { provider: 'bedrock', upstream: `${titan}/scripted:2`, more },
          { provider: 'google', upstream: 'gemini-embedding-2', more },
        ],
        'titan-window': bedrock(`${titan}/window:5`),
        'titan-fails': [
          { provider: 'bedrock', upstream: `${titan}/error-500`, more },
          { provider: 'google', upstream: 'gemini-embedding-2', more },
        ],
        chat: [{ provider: 'bedrock', upstream: 'echo', more: { apis: ['converse'] } }],
      },
      providers: {
        bedrock: { kind: 'bedrock' },
        google: { kind: 'google' },
        vertex: { kind: 'vertex' },
      },
    });
  });
  beforeEach(() => gateway.simulator.clear());
  afterAll(() => gateway.stop());

  const post = (body: Json, headers: Record<string, string> = {}) => gateway.postTo('/embeddings', body, headers);
  const embed = async (body: Json) => {
    const response = await post(body);
    const answer = (await response.json()) as { data: { index: number; embedding: number[] }[]; usage: Json } & Json;
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  };
  const bodies = () => gateway.simulator.calls.map(({ body }) => body as Json);
  const lengthOf = (vector: readonly number[]) => Math.hypot(...vector);
  const texts = (count: number) => Array.from({ length: count }, (_, at) => `text number ${at}`);

  it.each([
    ['titan', 1_024, 'invoke-model', 7],
    ['cohere', 1_536, 'invoke-model', 1],
    ['nova', 1_024, 'invoke-model', 7],
    ['gemini', 3_072, 'embed-content', 1],
    ['gemini-2', 3_072, 'embed-content', 1],
    ['vertex-text', 3_072, 'predict', 2],
    ['vertex-gemini', 3_072, 'predict', 7],
    ['vertex-2', 3_072, 'embed-content', 7],
  ])('%s answers a list in its order, as OpenAI does, with one usage', async (model, dimensions, format, calls) => {
    const answer = await embed({ model, input: texts(7) });
    expect(answer).toMatchObject({ object: 'list', model });
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(answer.data.map(({ embedding }) => embedding.length)).toEqual(new Array(7).fill(dimensions));
    expect(gateway.simulator.calls.map((call) => call.format)).toEqual(new Array(calls).fill(format));
    const alone = await embed({ model, input: 'text number 5' });
    expect(answer.data[5]?.embedding).toEqual(alone.data[0]?.embedding);
    expect(answer.usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) });
    expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens);
  });

  it.each([
    ['titan', 250, 250],
    ['cohere', 250, 3],
    ['gemini', 250, 3],
    ['vertex-text', 12, 3],
  ])('%s gets a list of %d texts in %d calls, and is billed once', async (model, count, calls) => {
    await gateway.settled();
    const before = (await gateway.credit()).spent;
    const response = await post({ model, input: texts(count), encoding_format: 'base64' });
    const answer = (await response.json()) as { data: Json[]; usage: Json };
    expect(answer.data).toHaveLength(count);
    expect(gateway.simulator.calls).toHaveLength(calls);
    await gateway.settled();
    const spent = (await expectBalancedBooks(gateway)) - before;
    expect(spent).toBe(BigInt(Number(answer.usage.prompt_tokens)) * 1_000_000n);
    expect(await gateway.lastRecord()).toMatchObject({
      promptTokens: answer.usage.prompt_tokens,
      completionTokens: 0,
    });
  });

  it.each([
    ['gemini', { taskType: 'RETRIEVAL_QUERY' }, 'title'],
    ['vertex-text', { task_type: 'RETRIEVAL_QUERY', title: 'A page' }, null],
    ['vertex-2', { taskType: 'RETRIEVAL_QUERY', title: 'A page' }, null],
    ['titan', {}, 'taskType,title'],
  ])('%s gets the task of a client of Google if its form has words for it', async (model, task, leftOut) => {
    const content = { parts: [{ text: 'Hello' }] };
    const response = await fetch(`${new URL(gateway.url).origin}/v1beta/models/${model}:embedContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key },
      body: JSON.stringify({ content, task_type: 'RETRIEVAL_QUERY', title: 'A page' }),
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    expect(response.headers.get('x-gw-left-out')).toBe(leftOut);
    const sentText = gateway.simulator.calls[0]?.bodyText ?? '';
    for (const [name, value] of Object.entries(task)) expect(sentText).toContain(`"${name}":"${value}"`);
    if (!('title' in task)) expect(sentText).not.toContain('A page');
  });

  it.each(['vertex-text', 'vertex-gemini'])(
    '%s is asked for the dimensions, and to cut no text in silence; its vectors are of length 1',
    async (model) => {
      const answer = await embed({ model, input: 'a b c d e f', dimensions: 256 });
      expect(answer.data[0]?.embedding).toHaveLength(256);
      expect(lengthOf(answer.data[0]?.embedding ?? [])).toBeCloseTo(1, 5);
      expect(bodies()).toMatchObject([{ parameters: { outputDimensionality: 256, autoTruncate: false } }]);
      expect(gateway.simulator.calls[0]?.headers).not.toHaveProperty('x-goog-api-key');
      const refusal = await post({ model, input: [1, 2, 3] });
      expect(await refusal.json()).toMatchObject({ error: 'feature_unsupported' });
      expect(gateway.simulator.calls).toHaveLength(1);
    },
  );

  it.each([
    ['titan', 256, 'dimensions'],
    ['cohere', 512, 'output_dimension'],
    ['gemini', 768, 'outputDimensionality'],
  ])('%s gives vectors of the asked dimensions, of length 1', async (model, dimensions, member) => {
    const answer = await embed({ model, input: 'a b c d e f', dimensions });
    const vector = answer.data[0]?.embedding ?? [];
    expect(vector).toHaveLength(dimensions);
    expect(lengthOf(vector)).toBeCloseTo(1, 5);
    expect(bodies()[0]).toMatchObject({ [member]: dimensions });
  });

  it('asks Nova for its dimensions, and never to cut a text in silence', async () => {
    expect((await embed({ model: 'nova', input: 'Hello', dimensions: 384 })).data[0]?.embedding).toHaveLength(384);
    expect(bodies()[0]).toMatchObject({
      singleEmbeddingParams: { embeddingDimension: 384, text: { truncationMode: 'NONE', value: 'Hello' } },
    });
  });

  it("sends Cohere's input_type as it came, else search_document, and reports to clients of other models that it was left out", async () => {
    await embed({ model: 'cohere', input: 'a', input_type: 'search_query' });
    await embed({ model: 'cohere', input: 'a' });
    expect(bodies().map(({ input_type }) => input_type)).toEqual(['search_query', 'search_document']);
    const response = await post({ model: 'titan', input: 'a', input_type: 'search_query', user: 'u' });
    expect([response.status, response.headers.get('x-gw-left-out')]).toEqual([200, 'input_type,user']);
    expect(bodies().at(-1)).toEqual({ inputText: 'a' });
  });

  it.each([
    ['titan', false],
    ['cohere', false],
    ['nova', false],
    ['gemini-2', false],
    ['gemini', true],
    ['titan-silent', true],
    ['cohere-silent', true],
    ['nova-miscounted', true],
  ])('%s is billed by what it reports, else by an estimate that is flagged: %s', async (model, estimated) => {
    const { usage } = await embed({ model, input: ['Hello, how are you?', 'Fine.'] });
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), ...(estimated ? { estimated: true } : {}) });
    if (!estimated) expect(usage).not.toHaveProperty('estimated');
    expect(Number(usage.prompt_tokens)).toBeGreaterThan(0);
    expect(Number(usage.prompt_tokens)).toBeLessThan(30);
    await gateway.settled();
    expect(await gateway.lastRecord()).toMatchObject({
      promptTokens: usage.prompt_tokens,
      estimated,
      format: 'embeddings',
    });
  });

  it.each<[string, Json, string]>([
    ['tokens', { model: 'titan', input: [1, 2, 3] }, 'input'],
    ['lists of tokens', { model: 'gemini', input: [[1], [2]] }, 'input'],
    ['a text beside tokens', { model: 'cohere', input: ['a', [2]] }, 'input'],
    ['dimensions of a Titan that has none', { model: 'titan-v1', input: 'a', dimensions: 256 }, 'dimensions'],
    ['dimensions of a Cohere that has none', { model: 'cohere-v3', input: 'a', dimensions: 256 }, 'dimensions'],
  ])('refuses %s by name, before a provider is called', async (_what, body, param) => {
    const response = await post(body, { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code: 'feature_unsupported', param } });
    expect(gateway.simulator.calls).toEqual([]);
  });

  it.each<[Json, string]>([
    [{ model: 'titan', input: 'a', dimensions: 333 }, 'dimensions'],
    [{ model: 'cohere', input: 'a', input_type: 'image' }, 'input_type'],
    [{ model: 'gemini', input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ])('refuses %j, which the form of the model cannot say, unsent and unbilled', async (body, param) => {
    await gateway.settled();
    const before = (await gateway.credit()).spent;
    const response = await post(body, { 'x-gw-error-format': 'openai' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect(gateway.simulator.calls).toEqual([]);
    await gateway.settled();
    expect(await expectBalancedBooks(gateway)).toBe(before);
  });

  it('fails a call with a part that fails, asks no other provider, and bills the parts that were answered', async () => {
    await gateway.settled();
    const before = (await gateway.credit()).spent;
    const response = await post({ model: 'titan-part-fails', input: new Array(30).fill('same text') });
    expect(response.status).toBe(502);
    const calls = gateway.simulator.calls;
    expect(calls.filter(({ status }) => status === 200)).toHaveLength(2);
    // After a failed part no new part began; each of the parallel senders may have begun one more.
    expect(calls.length).toBeLessThan(10);
    expect(calls.every(({ format }) => format === 'invoke-model')).toBe(true);
    await gateway.settled();
    const { usage } = await embed({ model: 'titan', input: 'same text' });
    await gateway.settled();
    expect((await expectBalancedBooks(gateway)) - before).toBe(BigInt(3 * Number(usage.prompt_tokens)) * 1_000_000n);
  });

  it("says which fault a text has that the provider refuses, in the provider's words, and bills the others", async () => {
    await gateway.settled();
    const before = (await gateway.credit()).spent;
    const response = await post({ model: 'titan-window', input: ['a', 'b', 'word '.repeat(20)] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request', reason: 'context_length_exceeded' });
    await gateway.settled();
    const spent = (await expectBalancedBooks(gateway)) - before;
    const { usage } = await embed({ model: 'titan', input: ['a', 'b'] });
    expect(spent).toBe(BigInt(Number(usage.prompt_tokens)) * 1_000_000n);
  });

  it('falls back to a model of another form if nothing was used', async () => {
    const response = await post({ model: 'titan-fails', input: ['a', 'b'] });
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'google']);
  });

  it('answers the official SDK, which asks for base64', async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.url });
    for (const model of ['titan', 'gemini']) {
      const { data } = await client.embeddings.create({ model, input: ['Hello', 'World'], dimensions: 256 });
      expect(data.map(({ embedding }) => lengthOf(embedding))).toEqual([expect.closeTo(1, 4), expect.closeTo(1, 4)]);
    }
  });

  it('lists what embeds, and nothing else, as a model of embeddings', async () => {
    const modelList = (await (await gateway.get('/models')).json()) as { data: Json[] };
    const apisOf = (model: string) => modelList.data.find(({ id }) => id === model);
    expect(apisOf('titan')).toMatchObject({ apis: ['embeddings'], translated_apis: ['embeddings'] });
    expect(apisOf('chat')?.apis).not.toContain('embeddings');
    expect(apisOf('gemini')?.apis).toEqual(['embeddings']);
  });
});

describe('a part that goes to a kept socket which has died', () => {
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({
      // The clock stands still: the socket breaks at once, however slow the machine is.
      clock: manualClock(),
      models: { titan: bedrock(`${titan}/stale-socket`) },
      providers: { bedrock: { kind: 'bedrock' } },
    });
  });
  afterAll(() => gateway.stop());

  it('is sent once more, and the call is billed once', async () => {
    const used: number[] = [];
    for (const input of ['first', 'second']) {
      const response = await gateway.postTo('/embeddings', { model: 'titan', input });
      expect(response.status).toBe(200);
      used.push(Number(((await response.json()) as { usage: Json }).usage.prompt_tokens));
    }
    expect(gateway.simulator.calls).toHaveLength(3);
    await gateway.settled();
    const tokens = used.reduce((sum, count) => sum + count, 0);
    expect(await expectBalancedBooks(gateway)).toBe(BigInt(tokens) * 1_000_000n);
  });
});
