import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

/** Some rows have a message in plain words. */
const wrongTypes: [path: string, members: Record<string, unknown>, message?: string][] = [
  ['model', { model: undefined }],
  ['model', { model: null }],
  ['model', { model: 7 }],
  ['model', { model: '' }],
  ['messages', { messages: undefined }, 'is missing'],
  ['messages', { messages: null }],
  ['messages', { messages: 'Hello' }, 'must be a list'],
  ['messages', { messages: { role: 'user' } }],
  ['messages', { messages: [] }, 'must not be empty'],
  ['messages[0]', { messages: ['Hello'] }],
  ['messages[0].role', { messages: [{ content: 'Hello' }] }],
  ['messages[1].role', { messages: [{ role: 'user' }, { role: 7 }] }],
  ['stream', { stream: 'true' }, 'must be true or false'],
  ['temperature', { temperature: '0.5' }],
  ['top_p', { top_p: [1] }],
  ['max_tokens', { max_tokens: '16' }],
  ['max_tokens', { max_tokens: -1 }],
  ['stop', { stop: 7 }, 'must be a text or a list'],
  ['stop[0]', { stop: [7] }],
  ['tools', { tools: {} }],
  ['response_format', { response_format: 'json' }],
  ['provider', { provider: 'acme' }],
  ['provider', { provider: ['acme'] }],
  ['provider', { provider: true }],
  ['provider.only', { provider: { only: 7 } }],
  ['provider.only', { provider: { only: [] } }],
  ['provider.only[1]', { provider: { only: ['acme', 7] } }],
  ['provider.only', { provider: { only: ['nobody'] } }],
  ['provider.zdr', { provider: { zdr: 'yes' } }],
  ['provider.data_collection', { provider: { data_collection: 'sometimes' } }, 'must be allow or deny'],
  ['provider.data_residency', { provider: { data_residency: 7 } }],
  ['provider.data_residency', { provider: { data_residency: 'EU' } }],
  ['provider.max_price', { provider: { max_price: -1 } }],
  ['provider.max_price', { provider: { max_price: 'cheap' } }],
  ['provider.max_price.prompt', { provider: { max_price: { prompt: '-0.1' } } }],
  ['provider.max_price.completion', { provider: { max_price: { completion: true } } }],
  ['provider.max_price.character', { provider: { max_price: { character: -1 } } }],
  ['provider.max_price.token', { provider: { max_price: { token: 1 } } }],
  ['provider.order', { provider: { order: 'acme' } }],
  ['provider.ignore[0]', { provider: { ignore: [7] } }],
  ['provider.allow_fallbacks', { provider: { allow_fallbacks: 'no' } }],
  ['cache', { cache: true }],
  ['cache.enabled', { cache: { enabled: 'yes' } }],
  ['cache.ttl', { cache: { ttl: 0 } }],
  ['cache.ttl', { cache: { ttl: 86_401 } }, 'must be at most 86400'],
  ['cache.ttl', { cache: { ttl: 1.5 } }, 'must be a whole number'],
  ['cache.namespace', { cache: { namespace: 'x'.repeat(65) } }, 'must have at most 64 characters'],
  ['preset', { preset: 7 }],
  ['preset', { preset: ['terse'] }],
  ['preset.slug', { preset: { slug: 7 } }],
  ['reasoning', { reasoning: 'high' }],
  ['reasoning', { reasoning: { effort: 'high', max_tokens: 100 } }],
  ['reasoning.effort', { reasoning: { effort: 'enormous' } }],
  ['reasoning.max_tokens', { reasoning: { max_tokens: 'many' } }],
  ['reasoning.exclude', { reasoning: { exclude: 1 } }],
  ['reasoning.summary', { reasoning: { summary: 'long' } }],
  ['usage', { usage: true }],
  ['provider.require_parameters', { provider: { require_parameters: 'yes' } }],
];

describe('the members of a request', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(() => gateway.stop());

  it.each(wrongTypes)(
    'of a wrong type are named by their path, in plain words: %s in %j',
    async (path, members, expectedMessage) => {
      gateway.simulator.clear();
      const { message } = await expectError(await gateway.post(hello('acme/echo', members)), 400, 'invalid_request');
      expect(message.slice(0, path.length + 1)).toBe(`${path}:`);
      if (expectedMessage !== undefined) expect(message).toBe(`${path}: ${expectedMessage}`);
      expect(message).not.toMatch(/invalid|expected|received|[<>]=?/i);
      expect(gateway.simulator.calls).toHaveLength(0);
    },
  );

  it.each(['provider', 'cache', 'preset', 'reasoning', 'usage'])(
    'of a wrong type are seen even if they hold an integer beyond 2^53: %s',
    async (name) => {
      const body = `{"model":"acme/echo","messages":[{"role":"user","content":"Hi"}],"${name}":9007199254740993}`;
      const { message } = await expectError(await gateway.post(body), 400, 'invalid_request');
      expect(message).toContain(`${name}:`);
    },
  );

  it('may be null if they are the gateway’s own, and null means absent', async () => {
    gateway.simulator.clear();
    const names = ['provider', 'cache', 'preset', 'reasoning', 'usage', 'stream', 'response_format', 'tools'];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    const inside = [
      'sort',
      'max_price',
      'only',
      'order',
      'ignore',
      'allow_fallbacks',
      'zdr',
      'data_collection',
      'data_residency',
    ];
    const provider = Object.fromEntries(inside.map((name) => [name, null]));
    for (const members of [
      nulls,
      { ...nulls, provider },
      { ...nulls, cache: { ttl: null }, reasoning: { effort: null } },
    ]) {
      const response = await gateway.post(hello('acme/echo', members));
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(gateway.simulator.calls).toHaveLength(3);
    for (const { body } of gateway.simulator.calls) {
      for (const name of ['provider', 'cache', 'preset', 'reasoning', 'reasoning_effort', 'usage']) {
        expect(body).not.toHaveProperty(name);
      }
    }
  });

  it('inside cache that are unknown are ignored, and so is require_parameters, because it is always so', async () => {
    const members = { provider: { require_parameters: true, only: 'acme' }, cache: { enabled: false, colour: 'red' } };
    const response = await gateway.post(hello('acme/echo', members));
    expect(response.status).toBe(200);
    await response.text();
  });

  it('inside provider that are unknown are refused and named: a restriction must not be dropped', async () => {
    for (const name of ['quantizations', 'Only', 'x'.repeat(5_000)]) {
      gateway.simulator.clear();
      const answer = await gateway.post(hello('acme/echo', { provider: { only: 'acme', [name]: ['int8'] } }));
      const { message } = await expectError(answer, 400, 'invalid_request');
      expect(message).toContain(`provider.${name.slice(0, 64)}: `);
      expect(message.length).toBeLessThan(200);
      expect(gateway.simulator.calls).toHaveLength(0);
    }
  });

  it.each([
    ['Model', 'model'],
    ['MAX_TOKENS', 'max_tokens'],
    ['Max_Completion_Tokens', 'max_completion_tokens'],
    ['Stream', 'stream'],
    ['meſſages', 'messages'],
    ['toolſ', 'tools'],
    ['Provider', 'provider'],
    ['Models', 'models'],
    ['Reasoning_Effort', 'reasoning_effort'],
    ['Stream_options', 'stream_options'],
    ['STORE', 'store'],
    ['N_Predict', 'n_predict'],
    ['Service_tier', 'service_tier'],
    ['Prediction', 'prediction'],
    ['User', 'user'],
  ])('that differ only in letter case from one that is used are refused: %s', async (name, used) => {
    gateway.simulator.clear();
    const { message } = await expectError(
      await gateway.post(hello('acme/echo', { [name]: 1 })),
      400,
      'invalid_request',
    );
    expect(message).toContain(`${used}: `);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each([
    ['provider', '{"only":"acme","only":"globex"}'],
    ['provider', '{"max_price":{"prompt":1,"prompt":9}}'],
    ['cache', '{"enabled":false,"enabled":true}'],
    ['reasoning', '{"effort":"low","effort":"high"}'],
    ['response_format', '{"type":"json_object","type":"text"}'],
    ['stream_options', '{"include_usage":true,"include_usage":false}'],
    ['usage', '{"include":true,"include":false}'],
    ['preset', '{"slug":"a","slug":"b"}'],
  ])('of the gateway that are overruled by their own double are refused: %s %s', async (member, value) => {
    gateway.simulator.clear();
    const body = `{"model":"acme/echo","messages":[{"role":"user","content":"Hello"}],"${member}":${value}}`;
    const headers = { authorization: `Bearer ${gateway.key}` };
    const answer = await fetch(`${gateway.url}/chat/completions`, { method: 'POST', headers, body });
    const { message } = await expectError(answer, 400, 'invalid_request');
    expect(message).toMatch(new RegExp(`^${member}: ".*" stands in it twice$`));
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('that are unknown reach the provider in their own letter case', async () => {
    gateway.simulator.clear();
    const response = await gateway.post(hello('acme/echo', { Seed: 7, X_Vendor: { Model: 'a' } }));
    expect(response.status).toBe(200);
    await response.text();
    expect(gateway.simulator.calls[0]?.body).toMatchObject({ Seed: 7, X_Vendor: { Model: 'a' } });
  });

  it.each([
    ['n', { n: 129 }],
    ['n', { n: 0 }],
    ['models', { models: [] }],
    ['models', { models: new Array(9).fill('acme/echo') }],
    ['models', { models: 'acme/echo' }],
    ['models[1]', { models: ['acme/echo', 7] }],
    ['model', { model: undefined }],
    ['provider.order', { provider: { order: new Array(257).fill('acme') } }],
  ])('are bounded: %s', async (path, members) => {
    gateway.simulator.clear();
    const { message } = await expectError(await gateway.post(hello('acme/echo', members)), 400, 'invalid_request');
    expect(message.startsWith(path.split('.')[0] ?? '')).toBe(true);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('may leave out model if models name one, and models never reach a provider', async () => {
    gateway.simulator.clear();
    const response = await gateway.post(hello('acme/echo', { model: undefined, models: ['acme/echo'] }));
    expect(response.status).toBe(200);
    await response.text();
    expect(gateway.simulator.calls[0]?.body).not.toHaveProperty('models');
  });

  it.each([7, true, 'PRICE', {}, [], ''])('give invalid_sort for any other sort: %j', async (sort) => {
    await expectError(await gateway.post(hello('acme/echo', { provider: { sort } })), 400, 'invalid_sort');
  });
});
