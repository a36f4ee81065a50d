// Cached answers: the same question costs nothing the second time, and no other question gets the answer.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { collectedStreamMaxBytes, requestBudgetMs } from '../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { chatCompletions } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import type { EventReader } from '../../shared/protocol/wire/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { readUntil } from '../support/read-stream.ts';
import { chunkEvent, completionOf, sendJson, startScriptedGateway } from '../support/scripted-provider.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const upstreams = [
  'usage:1000:500',
  'unknown-members',
  'no-usage',
  'error-500',
  'error-after-chunks:3',
  'endless:1',
  'flaky:1',
  'cut',
  'reasoning',
];
const strict = { data_policy: { zdr: true, data_collection: 'deny' } };
const keys = { zdr: newKey(), other: newKey() };

let harness: Harness;
let clock: ManualClock;
let namespaces = 0;

const models = {
  ...Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
  'first/a': [{ provider: 'acme', upstream: 'flaky:1' }],
  'second/b': [{ provider: 'acme', upstream: 'usage:7:7', more: { output_price_per_million: '5' } }],
};
const parts = {
  models,
  providers: { acme: strict },
  modelMembers: { 'first/a': { auto: true }, 'second/b': { auto: true } },
  moreWorkspaces: [
    { id: 'zdr', credit_usd: '1', data_policy: { zdr: true }, keys: [{ name: 'k', key: keys.zdr }] },
    { id: 'other', credit_usd: '1', keys: [{ name: 'k', key: keys.other }] },
  ],
};
const presets = [
  { slug: 'counted', versions: [{ version: '1', config: { usage: { include: true } } }], designated: '1' },
];
const workspace = { features: { presets: true }, presets };

beforeAll(async () => {
  clock = manualClock();
  harness = await startHarness({ clock, ...parts, workspace });
});
afterAll(() => harness.stop());
beforeEach(async () => {
  await harness.settled();
  harness.simulator.clear();
});

const ownNamespace = (more = {}) => ({ namespace: `n${++namespaces}`, ...more });

async function ask(body: Record<string, unknown>, headers: Record<string, string> = {}, gateway = harness) {
  const response = await gateway.post(body, headers);
  const text = await response.text();
  await gateway.settled();
  return { status: response.status, text, headers: response.headers, cache: response.headers.get('x-gw-cache') };
}
const calls = () => harness.simulator.calls.length;

describe('a cached answer', () => {
  it('in JSON is a MISS, then a HIT at no cost and without a provider call', async () => {
    const body = hello('acme/usage:1000:500', { cache: ownNamespace() });
    const miss = await ask(body);
    const spent = await expectBalancedBooks(harness);
    const hit = await ask(body);
    expect([miss.cache, hit.cache]).toEqual(['MISS', 'HIT']);
    const [first, second] = [JSON.parse(miss.text), JSON.parse(hit.text)];
    expect(second).toEqual({
      ...first,
      usage: {
        ...first.usage,
        cost: 0,
        cost_usd: '0',
        cost_details: { upstream_inference_prompt_cost: 0, upstream_inference_completions_cost: 0 },
        attempts: 0,
        cache_hit: true,
      },
    });
    expect(first.usage).toMatchObject({ cost: 0.002, cache_hit: false });
    for (const header of ['content-type', 'x-gw-model', 'x-gw-provider']) {
      expect(hit.headers.get(header)).toBe(miss.headers.get(header));
    }
    expect(calls()).toBe(1);
    expect(await expectBalancedBooks(harness)).toBe(spent);
    expect((await harness.records()).find(({ cacheHit }) => cacheHit)).toMatchObject({
      outcome: 'ok',
      attempts: 0,
      costPicoUsd: 0n,
      provider: 'acme',
      modelServed: 'acme/usage:1000:500',
    });
  });

  it.each(['unknown-members', 'no-usage'])('of a stream is the same stream, at no cost: %s', async (upstream) => {
    const body = hello(`acme/${upstream}`, { stream: true, cache: ownNamespace() });
    const miss = await ask(body);
    const hit = await ask(body);
    expect([miss.cache, hit.cache]).toEqual(['MISS', 'HIT']);
    expect(hit.text).toBe(miss.text);
    expect(hit.headers.get('content-type')).toBe(miss.headers.get('content-type'));
    const merged = await ask({ ...body, usage: { include: true } });
    expect(merged.cache).toBe('HIT');
    expect(merged.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const lines = dataLines(merged.text);
    expect(lines.slice(0, -2)).toEqual(dataLines(miss.text).slice(0, -1));
    expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({
      choices: [],
      usage: { cost: 0, cost_usd: '0', cache_hit: true, attempts: 0 },
    });
    expect(calls()).toBe(1);
  });

  it('has the usage chunk of the provider for a client that asked for it, and a preset may ask', async () => {
    const request = { stream: true, stream_options: { include_usage: true } };
    const body = hello('acme/unknown-members', { ...request, cache: ownNamespace() });
    const miss = await ask(body);
    const hit = await ask(body);
    expect(hit.cache).toBe('HIT');
    expect(hit.text).toBe(miss.text);
    expect(JSON.parse(dataLines(hit.text).at(-2) ?? '').usage).toMatchObject({ total_tokens: 12 });
    const byPreset = await ask({ ...body, preset: 'counted' });
    expect(byPreset.cache).toBe('HIT');
    expect(JSON.parse(dataLines(byPreset.text).at(-2) ?? '').usage).toMatchObject({ cost: 0, cache_hit: true });
  });

  it('is found by the next call at once, while the first is still being settled', async () => {
    let { promise, resolve } = Promise.withResolvers<void>();
    const otherGateway = await harness.open({
      wrapStore: (store) =>
        aroundStore(store, async ({ method, table }, run) => {
          if (method !== 'get' && table !== 'keys' && calls() > 0) await promise;
          return run();
        }),
    });
    const found: (string | null)[] = [];
    for (const stream of [false, true]) {
      harness.simulator.clear();
      ({ promise, resolve } = Promise.withResolvers<void>());
      const body = hello('acme/usage:1000:500', { cache: ownNamespace(), stream });
      await (await otherGateway.post(body)).text();
      const second = otherGateway.post(body);
      for (let round = 0; round < 3; round++) await fetch(new URL('/health', otherGateway.url));
      resolve();
      found.push((await second).headers.get('x-gw-cache'));
      await (await second).text();
      await otherGateway.settled();
    }
    expect(found).toEqual(['HIT', 'HIT']);
  });

  it('is made anew for REFRESH, and that one is given from then on', async () => {
    const cache = ownNamespace();
    const body = hello('acme/usage:1000:500', { cache });
    const first = JSON.parse((await ask(body)).text);
    const refreshed = await ask({ ...body, cache: { ...cache, refresh: true } });
    expect(refreshed.cache).toBe('REFRESH');
    const second = JSON.parse(refreshed.text);
    expect(second.id).not.toBe(first.id);
    const hit = await ask(body);
    expect([hit.cache, JSON.parse(hit.text).id]).toEqual(['HIT', second.id]);
    expect(calls()).toBe(2);
  });

  it('ends with its ttl, to the second; 300 seconds if none is given', async () => {
    for (const [more, seconds] of [
      [{}, 300],
      [{ ttl: 1 }, 1],
      [{ ttl: 86_400 }, 86_400],
    ] as const) {
      const body = hello('acme/usage:1000:500', { cache: ownNamespace(more) });
      expect((await ask(body)).cache).toBe('MISS');
      clock.advance(seconds * 1_000 - 1);
      expect((await ask(body)).cache).toBe('HIT');
      clock.advance(1);
      expect((await ask(body)).cache).toBe('MISS');
    }
  });

  it('is not asked for without the field, if it is off, or under zdr of request or workspace', async () => {
    const cache = ownNamespace();
    const body = hello('acme/usage:1000:500', { cache });
    expect((await ask(body)).cache).toBe('MISS');
    const { cache: _cache, ...plain } = body;
    expect((await ask(plain)).cache).toBeNull();
    expect((await ask({ ...body, cache: null })).cache).toBeNull();
    expect((await ask({ ...body, cache: { ...cache, enabled: false } })).cache).toBe('BYPASS');
    expect((await ask({ ...body, provider: { zdr: true } })).cache).toBe('BYPASS');
    expect((await ask({ ...body, provider: { zdr: true } })).cache).toBe('BYPASS');
    const zdr = { authorization: `Bearer ${keys.zdr}` };
    expect((await ask(body, zdr)).cache).toBe('BYPASS');
    expect((await ask(body, zdr)).cache).toBe('BYPASS');
    expect(calls()).toBe(8);
    const dump = await harness.testStore.dumpTables();
    expect(JSON.parse(dump).cache).toHaveLength(
      new Set(JSON.parse(dump).cache.map(({ pk }: { pk: string }) => pk)).size,
    );
  });

  it('is another one for every changed value, whatever the order of fields', async () => {
    const cache = ownNamespace();
    const body = hello('acme/usage:1000:500', { cache, temperature: 0, metadata: { a: 1, b: [1, 2] } });
    expect((await ask(body)).cache).toBe('MISS');
    const reordered = {
      metadata: { b: [1, 2], a: 1 },
      temperature: 0.0,
      cache: { ...cache, ttl: 9 },
      messages: [{ content: 'Hello', role: 'user' }],
      model: 'acme/usage:1000:500',
      usage: { include: true },
      provider: { sort: 'price', data_residency: null },
    };
    expect((await ask(reordered)).cache).toBe('HIT');
    const changedBodies: Record<string, unknown>[] = [
      { temperature: 1 },
      { metadata: { a: 1, b: [2, 1] } },
      { messages: [{ role: 'user', content: 'Hello ' }] },
      { stream: true },
      { stream: false },
      { model: 'acme/no-usage' },
      { provider: { only: 'acme' } },
      { provider: { order: ['acme'], allow_fallbacks: false } },
      { provider: { data_collection: 'deny' } },
      { reasoning: { effort: 'low' } },
    ];
    for (const members of changedBodies)
      expect({ members, cache: (await ask({ ...body, ...members })).cache }).toEqual({ members, cache: 'MISS' });
    expect(calls()).toBe(1 + changedBodies.length);
    // Without an order, this field does not change which provider may serve.
    expect((await ask({ ...body, provider: { allow_fallbacks: false } })).cache).toBe('HIT');
  });

  it('is never an error, nor a stream that broke or that its client left', async () => {
    for (const upstream of ['error-500', 'error-after-chunks:3', 'cut']) {
      const body = hello(`acme/${upstream}`, { stream: true, cache: ownNamespace() });
      await ask(body);
      expect((await ask(body)).cache).not.toBe('HIT');
    }
    const body = hello('acme/endless:1', { stream: true, cache: ownNamespace() });
    for (let round = 0; round < 2; round += 1) {
      const client = new AbortController();
      const response = await harness.post(body, {}, client.signal);
      expect(response.headers.get('x-gw-cache')).toBe('MISS');
      await readUntil(response, 'and on');
      client.abort();
      clock.advance(requestBudgetMs);
      await harness.settled();
    }
  });

  it('belongs to its workspace', async () => {
    const body = hello('acme/usage:1000:500', { cache: ownNamespace() });
    expect((await ask(body)).cache).toBe('MISS');
    expect((await ask(body, { authorization: `Bearer ${keys.other}` })).cache).toBe('MISS');
    expect((await ask(body)).cache).toBe('HIT');
  });

  it('of auto is the answer of the model that gave it, and of no other', async () => {
    const cache = ownNamespace();
    const body = (model: string) => hello(model, { cache });
    // The first model fails once, so the second answers for auto.
    const answer = await ask(body('auto'));
    expect([answer.cache, answer.headers.get('x-gw-model')]).toEqual(['MISS', 'second/b']);
    const first = await ask(body('first/a'));
    expect([first.cache, first.headers.get('x-gw-model')]).toEqual(['MISS', 'first/a']);
    const second = await ask(body('second/b'));
    expect([second.cache, second.headers.get('x-gw-model')]).toEqual(['HIT', 'second/b']);
  });

  it('is served to a workspace without credit and to a key at its limit, and counts for the key', async () => {
    const clock = manualClock();
    const limitedHarness = await startHarness({ clock, ...parts, workspace });
    const body = hello('acme/usage:1000:500', { cache: ownNamespace({ ttl: 86_400 }) });
    expect((await ask(body, {}, limitedHarness)).cache).toBe('MISS');
    for (const limits of [
      { workspace: { ...workspace, spend_limit_usd: '0' } },
      { workspace, key: { spend_limit_usd: '0', rpm: 2 } },
    ]) {
      await limitedHarness.apply({ ...parts, ...limits });
      clock.advance(61_000);
      expect((await ask(body, {}, limitedHarness)).cache).toBe('HIT');
      expect(await outcomeOf(await limitedHarness.post({ ...body, seed: 1 }))).toBe('PAYMENT_REQUIRED');
    }
    expect(await outcomeOf(await limitedHarness.post(body))).toBe('api_key_rate_limit');
    expect(limitedHarness.simulator.calls).toHaveLength(1);
    await expectBalancedBooks(limitedHarness);
    await limitedHarness.stop();
  });
});

it('an answer of more than 8 MiB is not kept, however small it could be packed', async () => {
  const long = completionOf({ content: 'x'.repeat(collectedStreamMaxBytes) });
  const scriptedGateway = await startScriptedGateway((outgoing) => sendJson(outgoing, long));
  const seenUsages: unknown[] = [];
  for (const _call of [1, 2]) {
    const answer = await scriptedGateway.gateway.post(hello('acme/model', { cache: {} }));
    await answer.text();
    await scriptedGateway.gateway.settled();
    seenUsages.push([answer.status, answer.headers.get('x-gw-cache')]);
  }
  expect(seenUsages).toEqual([
    [200, 'MISS'],
    [200, 'MISS'],
  ]);
  expect(scriptedGateway.provider.bodies).toHaveLength(2);
  expect(scriptedGateway.gateway.logLines.filter((line) => line.includes('"error"'))).toEqual([]);
  await scriptedGateway.stop();
});

it('a stream of many events is read from the cache in turns, and is what came', async () => {
  const events = 3_000;
  const scriptedGateway = await startScriptedGateway((outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.end(`${chunkEvent({ content: 'a' }).repeat(events)}${chunkEvent({}, 'stop')}data: [DONE]\n\n`);
  });
  const ask = async () => {
    const answer = await scriptedGateway.gateway.post(hello('acme/model', { stream: true, cache: {} }));
    const text = await answer.text();
    await scriptedGateway.gateway.settled();
    return { cache: answer.headers.get('x-gw-cache'), text };
  };
  const first = await ask();
  const { openEventReader } = chatCompletions;
  const readsOfTurns: number[] = [0];
  let isOver = false;
  const others = (async () => {
    for (; !isOver; readsOfTurns.push(0)) await nextTurn();
  })();
  Object.assign(chatCompletions, {
    openEventReader(choices: number): EventReader {
      const reader = openEventReader(choices);
      const read: EventReader['read'] = (event) => {
        readsOfTurns[readsOfTurns.length - 1] = (readsOfTurns.at(-1) ?? 0) + 1;
        return reader.read(event);
      };
      return { ...reader, read };
    },
  });
  const second = await ask();
  Object.assign(chatCompletions, { openEventReader });
  isOver = true;
  await others;
  expect([first.cache, second.cache, second.text === first.text]).toEqual(['MISS', 'HIT', true]);
  expect(readsOfTurns.reduce((sum, reads) => sum + reads)).toBeGreaterThan(events);
  expect(Math.max(...readsOfTurns)).toBeLessThan(1_000);
  await scriptedGateway.stop();
});
