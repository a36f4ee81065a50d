// Rules of Rerank alone: documents of two kinds, searches as billed units, a second path, and Bedrock's form.
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectRefusedUnpaid } from '../support/expect-refused-unpaid.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { fieldsNamed } from '../support/installed-types.ts';
import { countOutcomes } from '../support/outcomes.ts';

type Json = Record<string, unknown>;

const capped = newKey();
const documents = ['The weather in Oslo', 'Capital of Norway: Oslo', 'Bread'];
const query = 'capital of Norway';

let gateway: Harness;
beforeAll(async () => {
  const more = {
    ...{ input_price_per_million: '0', output_price_per_million: '0', price_per_request: '0.002' },
    ...{ max_output_tokens: 1, supported_params: {} },
  };
  const bedrock = (upstream: string) => [{ provider: 'bedrock', upstream, more: { ...more, apis: ['rerank'] } }];
  gateway = await startHarness({
    speaks: { api: 'rerank', path: '/rerank' },
    models: {
      cohere: [{ provider: 'cohere', upstream: 'echo', more }],
      'cohere-3': [{ provider: 'cohere', upstream: 'usage:0:3', more }],
      'cohere-silent': [{ provider: 'cohere', upstream: 'no-usage', more }],
      'cohere-lies': [{ provider: 'cohere', upstream: 'wrong-usage:astronomic', more }],
      amazon: bedrock('amazon.rerank-v1:0'),
      'amazon-own': [{ provider: 'amazon', upstream: 'amazon.rerank-v1:0', more: { ...more, apis: ['rerank'] } }],
      'amazon-fails': [
        ...bedrock('amazon.rerank-v1:0/error-500'),
        { provider: 'cohere', upstream: 'echo', more: { ...more, price_per_request: '0.003' } },
      ],
      'amazon-garbage': bedrock('amazon.rerank-v1:0/garbage'),
    },
    providers: {
      bedrock: { kind: 'bedrock', region: 'eu-central-1' },
      amazon: {
        kind: 'bedrock',
        region: 'eu-central-1',
        base_url: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
      },
    },
    moreWorkspaces: [
      { id: 'capped', credit_usd: '100', keys: [{ name: 'three', key: capped, spend_limit_usd: '0.006' }] },
    ],
  });
});
beforeEach(() => gateway.simulator.clear());
afterAll(() => gateway.stop());

const origin = () => new URL(gateway.url).origin;
const post = (body: Json, headers: Record<string, string> = {}) =>
  gateway.post({ model: 'cohere', query, documents, ...body }, headers);

describe('the order of documents', () => {
  it.each(['/v1/rerank', '/v2/rerank', '/v1/v2/rerank', '/rerank', '/openai/v1/rerank'])(
    'is given at %s',
    async (path) => {
      const response = await fetch(origin() + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ model: 'cohere', query, documents, top_n: 2 }),
      });
      const { results } = (await response.json()) as { results: { index: number }[] };
      expect([response.status, results.map(({ index }) => index)]).toEqual([200, [1, 0]]);
    },
  );

  it('comes to Cohere’s own client, of both versions, with what it cost in a header', async () => {
    const v2 = new CohereClientV2({ token: gateway.key, environment: origin() });
    const { data, rawResponse } = await v2.rerank({ model: 'cohere', query, documents, topN: 1 }).withRawResponse();
    expect(data.results).toEqual([{ index: 1, relevanceScore: expect.any(Number) }]);
    expect(data.meta?.billedUnits?.searchUnits).toBe(1);
    expect(rawResponse.headers.get('x-gw-cost')).toBe('0.002');
    const v1 = new CohereClient({ token: gateway.key, environment: origin() });
    const texts = documents.map((text) => ({ text }));
    const rerankAnswer = await v1.rerank({ model: 'cohere', query, documents: texts, topN: 1, returnDocuments: true });
    expect(rerankAnswer.results[0]).toMatchObject({ index: 1, document: { text: documents[1] } });
    const rejection = v2.rerank({ model: 'nobody', query, documents }, { maxRetries: 0 });
    await expect(rejection).rejects.toMatchObject({ statusCode: 400, body: { error: 'unknown_model' } });
  });
});

describe('the price of a search', () => {
  it('is charged for each that is reported, and for the usual number if none is', async () => {
    const many = Array.from({ length: 250 }, (_, at) => `document ${at}`);
    for (const [model, searches, estimated] of [
      ['cohere', 3, false],
      ['cohere-silent', 3, true],
    ] as const) {
      const response = await post({ model, documents: many });
      const record = await gateway.recordOf(response);
      expect([model, record?.costPicoUsd, record?.estimated === true]).toEqual([
        model,
        BigInt(searches) * 2_000_000_000n,
        estimated,
      ]);
    }
    await expectBalancedBooks(gateway);
  });

  it('is reserved for as many as long documents can be: more that are reported are not charged, and named in the log', async () => {
    const long = Array.from({ length: 100 }, () => 'word '.repeat(200));
    expect((await gateway.recordOf(await post({ model: 'cohere-3', documents: long })))?.costPicoUsd).toBe(
      6_000_000_000n,
    );
    expect(await gateway.recordOf(await post({ model: 'cohere-3' }))).toMatchObject({
      costPicoUsd: 2_000_000_000n,
      estimated: true,
    });
    expect((await gateway.recordOf(await post({ model: 'cohere-lies' })))?.costPicoUsd).toBe(2_000_000_000n);
    const over = gateway.logLines.filter((line) => line.includes('charge_over_hold'));
    expect(over.map((line) => JSON.parse(line) as Record<string, unknown>)).toEqual([
      expect.objectContaining({ model: 'cohere-3', units: '3 search units' }),
    ]);
    await expectBalancedBooks(gateway);
  });

  it('is reserved exactly, so that of forty concurrent calls three pass that a spend limit covers', async () => {
    const body = { model: 'cohere', query, documents };
    const answers = Array.from({ length: 40 }, () => gateway.post(body, { authorization: `Bearer ${capped}` }));
    expect(await countOutcomes(answers)).toEqual({ ok: 3, PAYMENT_REQUIRED: 37 });
    expect(gateway.simulator.calls).toHaveLength(3);
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, 'capped')).toBe(6_000_000_000n);
  });
});

describe('Bedrock', () => {
  it('is called at the service that reranks, not at that of its models', async () => {
    const hosts: string[] = [];
    const otherGateway = await gateway.open({
      replace: ({ transport }) => ({
        transport: {
          ...transport,
          send(request) {
            hosts.push(request.url.hostname);
            return transport.send({ ...request, url: new URL(`${gateway.simulator.urlOf('bedrock')}/rerank`) });
          },
        },
      }),
    });
    const response = await otherGateway.postTo('/rerank', { model: 'amazon-own', query, documents });
    expect([response.status, hosts]).toEqual([200, ['bedrock-agent-runtime.eu-central-1.amazonaws.com']]);
  });

  it('ranks texts and objects, in Cohere’s form, at the service and the model of its region', async () => {
    for (const list of [documents, documents.map((title) => ({ title, pages: 1 }))]) {
      const response = await post({ model: 'amazon', documents: list, top_n: 2 });
      const answer = (await response.json()) as Json;
      expect(answer).toMatchObject({
        id: response.headers.get('x-request-id'),
        results: [
          { index: 1, relevance_score: expect.any(Number) },
          { index: 0, relevance_score: expect.any(Number) },
        ],
        meta: { billed_units: { search_units: 1 }, estimated: true },
      });
      expect(await gateway.recordOf(response)).toMatchObject({ costPicoUsd: 2_000_000_000n, estimated: true });
    }
    const arn = 'arn:aws:bedrock:eu-central-1::foundation-model/amazon.rerank-v1:0';
    expect(JSON.stringify(gateway.simulator.calls[0]?.body)).toContain(arn);
  });

  it('gives an order that comes in several answers, whole, and is billed for the searches once', async () => {
    const many = Array.from({ length: 230 }, (_, at) => (at === 229 ? query : `document ${at}`));
    const response = await post({ model: 'amazon', documents: many });
    const { results } = (await response.json()) as { results: { index: number }[] };
    expect(results.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(many.map((_, at) => at));
    expect(results[0]?.index).toBe(229);
    expect(gateway.simulator.calls).toHaveLength(3);
    expect(await gateway.recordOf(response)).toMatchObject({ costPicoUsd: 6_000_000_000n });
  });

  it('takes a text for what an object with nothing else is', async () => {
    await post({ model: 'amazon', documents: documents.map((text) => ({ text })) });
    const [first] = gateway.simulator.calls;
    const source = { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text: documents[0] } } };
    expect(first?.body).toMatchObject({ sources: expect.arrayContaining([source]) });
  });

  it('is followed by the next provider if it fails, and says what it left out', async () => {
    const fallback = await post({ model: 'amazon-fails' });
    expect([fallback.status, fallback.headers.get('x-gw-provider')]).toEqual([200, 'cohere']);
    expect((await post({ model: 'amazon', priority: 1 })).headers.get('x-gw-left-out')).toBe('priority');
    expect((await post({ model: 'amazon-garbage' })).status).toBe(502);
    await gateway.settled();
    await expectBalancedBooks(gateway);
  });

  it.each<[string, Json, string]>([
    ['rank_fields', { rank_fields: ['title'] }, 'rank_fields'],
    ['return_documents', { return_documents: true }, 'return_documents'],
    ['max_tokens_per_doc', { max_tokens_per_doc: 9 }, 'max_tokens_per_doc'],
    ['max_chunks_per_doc', { max_chunks_per_doc: 9 }, 'max_chunks_per_doc'],
    ['texts beside objects', { documents: ['a', { text: 'b' }] }, 'documents'],
  ])('is not asked for what its package has no words for, by name: %s', async (_what, more, param) => {
    const response = await post({ model: 'amazon', ...more }, { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code: 'feature_unsupported', param } });
    expect(gateway.simulator.calls).toEqual([]);
  });
});

it.each<[string, Json, string]>([
  ['no query', { query: undefined }, 'query'],
  ['an empty query', { query: '' }, 'query'],
  ['no documents', { documents: undefined }, 'documents'],
  ['an empty list', { documents: [] }, 'documents'],
  ['documents that are a text', { documents: 'a' }, 'documents'],
  ['a document that is a number', { documents: ['a', 7] }, 'documents[1]'],
  ['a count of 0', { top_n: 0 }, 'top_n'],
  ['a count that is no number', { top_n: '2' }, 'top_n'],
  ['fields that are no list', { rank_fields: 'text' }, 'rank_fields'],
  ['a field that is no name', { rank_fields: ['a', 7] }, 'rank_fields[1]'],
])('the gateway refuses %s before a provider is called, and reserves nothing', async (_what, more, param) => {
  await expectRefusedUnpaid(gateway, () => post(more, { 'x-gw-error-format': 'openai' }), param);
});

it('the gateway reads what Cohere’s own types know of a request: a new option is seen here', () => {
  const types = { first: 'Cohere.RerankRequest', second: 'Cohere.V2RerankRequest' };
  const found = fieldsNamed("import type { Cohere } from 'cohere-ai';", types, /^[a-z]\w+$/);
  const names = (ways: typeof found.first) =>
    new Set(ways?.filter((way) => way.length === 1).map(([step]) => step?.name ?? ''));
  expect([...names(found.first).union(names(found.second))].toSorted()).toEqual([
    ...['documents', 'maxChunksPerDoc', 'maxTokensPerDoc', 'model', 'priority', 'query', 'rankFields'],
    ...['returnDocuments', 'topN'],
  ]);
});
