// Tags say the purpose of a call: its client and its key set them, and the key's tags win.
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { requestBudgetMs } from '../../shared/foundation/constants/index.ts';
import { formatTags, readTags } from '../../shared/protocol/wire/index.ts';
import { expectError } from '../support/expect-error.ts';
import { prompt } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';

describe('tags of a call', () => {
  const [searchKey, plainKey] = [newKey(), newKey()];
  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  let harness: Harness;
  const parts = (tags: Record<string, string>) => ({
    models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
    workspace: {
      keys: [
        { name: 'search', key: searchKey, tags },
        { name: 'plain', key: plainKey },
      ],
      functions: [prompt('echoed')],
    },
  });
  beforeAll(async () => {
    harness = await startHarness(parts({ team: 'search', 'cost.center': '4711' }));
  });
  afterAll(() => harness?.stop());

  interface Found {
    readonly status: number;
    readonly id: string;
    readonly tags: unknown;
    /** The tags in the call's log line. */
    readonly line: string | undefined;
  }

  /** Returns the tags that the gateway stores for one call. */
  async function tagsOf(
    key: string,
    headers: Record<string, string>,
    body: unknown = hello('acme/echo'),
    gateway = harness,
  ): Promise<Found> {
    const response = await gateway.post(body, { ...as(key), ...headers });
    await response.text();
    await gateway.settled();
    const id = response.headers.get('x-request-id') ?? '';
    const generation = await gateway.get(`/generation?id=${id}`, as(key));
    const { data } = (await generation.json()) as { data?: { tags: unknown } };
    const line = gateway.logLines.find((one) => one.includes(id) && one.includes('"event":"request"'));
    return {
      status: response.status,
      id,
      tags: data?.tags,
      line: (JSON.parse(line ?? '{}') as { tags?: string }).tags,
    };
  }

  describe('tags', () => {
    it('of a request are in its record and in its log line, and nothing of them reaches the provider', async () => {
      harness.simulator.clear();
      const headers = { 'x-gw-tags': 'team=canary-team, feature=canary-feature' };
      expect(await tagsOf(plainKey, headers)).toMatchObject({
        status: 200,
        tags: { team: 'canary-team', feature: 'canary-feature' },
        line: 'feature=canary-feature,team=canary-team',
      });
      const [call] = harness.simulator.calls;
      expect(call?.status).toBe(200);
      expect(JSON.stringify(call)).not.toMatch(/canary|x-gw-tags/i);
      expect(await tagsOf(plainKey, {})).toMatchObject({ tags: null, line: undefined });
    });

    it('of a key are on each of its calls, and a request that says otherwise is overruled', async () => {
      const tags = { team: 'search', 'cost.center': '4711' };
      expect(await tagsOf(searchKey, {})).toMatchObject({ tags: tags, line: 'cost.center=4711,team=search' });
      const spoofed = { 'x-gw-tags': 'team=other,feature=rerank' };
      const allTags = { ...tags, feature: 'rerank' };
      expect(await tagsOf(searchKey, spoofed)).toMatchObject({ status: 200, tags: allTags });
      expect(await tagsOf(searchKey, spoofed, hello('acme/echo', { stream: true }))).toMatchObject({ tags: allTags });
      expect(await tagsOf(searchKey, spoofed, hello('gw/function/echoed'))).toMatchObject({
        status: 200,
        tags: allTags,
      });
      const refusal = await tagsOf(searchKey, spoofed, hello('acme/none'));
      expect(refusal).toMatchObject({ status: 400, tags: allTags, line: formatTags(allTags) });
    });

    it('are those of the retry if its answer is a replay, and other tags are no conflict', async () => {
      const name = { 'idempotency-key': 'told-twice' };
      const first = await tagsOf(plainKey, { ...name, 'x-gw-tags': 'run=1' });
      harness.simulator.clear();
      const second = await tagsOf(plainKey, { ...name, 'x-gw-tags': 'run=2' });
      expect([first, second]).toMatchObject([
        { status: 200, tags: { run: '1' } },
        { status: 200, tags: { run: '2' }, line: 'run=2' },
      ]);
      expect(harness.simulator.calls).toEqual([]);
      expect((await harness.records()).find(({ executionId }) => executionId === second.id)?.replayOf).toBe(first.id);
    });

    it('are no part of what a cached answer is found by', async () => {
      const body = hello('acme/echo', { cache: { enabled: true, namespace: 'tags' } });
      await tagsOf(plainKey, { 'x-gw-tags': 'run=1' }, body);
      harness.simulator.clear();
      expect(await tagsOf(plainKey, { 'x-gw-tags': 'run=2' }, body)).toMatchObject({ status: 200, tags: { run: '2' } });
      expect(harness.simulator.calls).toEqual([]);
    });

    it('of a key count from the next call on if they are changed, also in a gateway that knows the key', async () => {
      const otherHarness = await startHarness(parts({ team: 'search' }));
      const tags = async (text: string) =>
        (await tagsOf(searchKey, { 'x-gw-tags': text }, hello('acme/echo'), otherHarness)).tags;
      expect(await tags('cost.center=1')).toEqual({ team: 'search', 'cost.center': '1' });
      await otherHarness.apply(parts({ team: 'ads' }));
      expect(await tags('cost.center=1')).toEqual({ team: 'ads', 'cost.center': '1' });
      await otherHarness.apply(parts({}));
      expect(await tags('team=own')).toEqual({ team: 'own' });
      await otherHarness.stop();
    });

    it('are eight at most in a request, beside those of its key', async () => {
      const pairs = (count: number) => Array.from({ length: count }, (_, at) => `n${at}=v`).join(',');
      const found = await tagsOf(searchKey, { 'x-gw-tags': pairs(8) });
      expect([found.status, Object.keys(found.tags as object).length]).toEqual([200, 10]);
      expect((await tagsOf(searchKey, { 'x-gw-tags': pairs(9) })).status).toBe(400);
    });

    it('that name a field of every object are tags like any other', async () => {
      expect(await tagsOf(plainKey, { 'x-gw-tags': 'constructor=a,prototype=b' })).toMatchObject({
        tags: { constructor: 'a', prototype: 'b' },
      });
    });

    it('that hold an API key keep nothing of it', async () => {
      const headers = { 'x-gw-tags': 'key=sk-proj-0123456789abcdefghij' };
      expect(await tagsOf(plainKey, headers)).toMatchObject({ tags: { key: 'sk-…' }, line: 'key=sk-…' });
    });

    it.each([
      ['team', 'no value'],
      ['team=', 'an empty value'],
      ['=search', 'no name'],
      ['Team=search', 'a capital'],
      ['1team=search', 'a digit first'],
      ['team=a=b', 'an equals sign in a value'],
      ['team=a b', 'a space in a value'],
      ['team =a', 'a space before the equals sign'],
      ['team=a ,run=1', 'a space before a comma'],
      ['team=a,', 'a comma at the end'],
      ['team=a,team=b', 'a name twice'],
      ['team=caf\u00e9', 'a letter beyond ASCII'],
      [`t${'e'.repeat(32)}=a`, 'a name of 33 characters'],
      [`team=${'a'.repeat(65)}`, 'a value of 65 characters'],
    ])('such as "%s" (%s) are invalid_request, and no provider is called', async (text) => {
      harness.simulator.clear();
      const response = await harness.post(hello('acme/echo'), { ...as(searchKey), 'x-gw-tags': text });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: 'invalid_request', message: expect.stringContaining('x-gw-tags') },
      ]);
      await harness.settled();
      expect(harness.simulator.calls).toEqual([]);
      // The key's tags stay.
      const line = harness.logLines.find((one) => one.includes(response.headers.get('x-request-id') ?? '?'));
      expect(line).toContain('"tags":"cost.center=4711,team=search"');
    });

    it('in two headers are invalid_request', async () => {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const headers = { ...as(plainKey), 'content-type': 'application/json', 'x-gw-tags': ['a=1', 'b=2'] };
      const outgoing = httpRequest(`${harness.url}/chat/completions`, { method: 'POST', headers }, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode);
      });
      outgoing.end(JSON.stringify(hello('acme/echo')));
      expect(await promise).toBe(400);
    });

    it('are read as they were written, whatever their values', () => {
      const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,31}$/);
      const value = fc.stringMatching(/^[\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,64}$/);
      fc.assert(
        fc.property(fc.dictionary(name, value, { minKeys: 1 }), (tags) => {
          expect(readTags(formatTags(tags))).toEqual({ ...tags });
        }),
      );
      fc.assert(fc.property(fc.string(), (text) => void readTags(text)));
    });
  });
});

// A span id belongs to one call of its workspace: some calls may be retried with it, others may not.
const upstreams = ['echo', 'silent', 'error-400', 'error-500', 'error-429', 'error-after-chunks:3'];

describe('a span id', () => {
  let harness: Harness;
  let clock: ManualClock;
  let names = 0;
  const keys = { rateLimited: newKey(), other: newKey() };

  beforeAll(async () => {
    clock = manualClock();
    const models = Object.fromEntries(
      upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]),
    );
    const moreWorkspaces = [{ id: 'other', credit_usd: '1', keys: [{ name: 'k', key: keys.other }] }];
    harness = await startHarness({ clock, models, moreWorkspaces });
    const both = [
      { name: 'first', key: harness.key },
      { name: 'rateLimited', key: keys.rateLimited, rpm: 1 },
    ];
    await harness.apply({ models, moreWorkspaces, workspace: { keys: both } });
  });
  afterAll(() => harness.stop());
  beforeEach(async () => {
    await harness.settled();
    harness.simulator.clear();
  });

  const fresh = () => ({ 'x-gw-span-id': `span-${++names}` });
  const withKey = <Span extends object>(span: Span) => ({ ...span, 'idempotency-key': `key-${++names}` });
  const post = (upstream: string, headers: Record<string, string>, more = {}) =>
    harness.post(hello(`acme/${upstream}`, more), headers);
  const expectUsed = async (response: Promise<Response>) => {
    const refusal = await response;
    expect(refusal.headers.get('x-should-retry')).toBe('false');
    await expectError(refusal, 409, 'duplicate_span_id');
  };

  it('belongs to its workspace', async () => {
    const span = fresh();
    expect(await outcomeOf(await post('echo', span))).toBe('ok');
    expect(await outcomeOf(await post('echo', { ...span, authorization: `Bearer ${keys.other}` }))).toBe('ok');
    await expectUsed(post('echo', span));
  });

  it('may come again with the Idempotency-Key of its call, and with no other', async () => {
    const names1 = withKey(fresh());
    expect(await outcomeOf(await post('echo', names1))).toBe('ok');
    const replay = await post('echo', names1);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    await replay.text();
    await harness.settled();
    // The replay did not free the span id: neither for the same call without the Idempotency-Key, nor for one with
    // another.
    await expectUsed(post('echo', { 'x-gw-span-id': names1['x-gw-span-id'] }));
    await expectUsed(post('echo', { ...names1, 'idempotency-key': 'another' }));
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it('of a running call is not released by a retry that gets a retry time', async () => {
    const names1 = withKey(fresh());
    const client = new AbortController();
    const running = harness.post(hello('acme/silent'), names1, client.signal);
    running.catch(() => {});
    await harness.simulator.until((calls) => calls.length === 1);
    await expectError(await post('silent', names1), 409, 'execution_in_progress');
    await expectError(await post('echo', names1), 409, 'idempotency_conflict');
    await harness.simulator.until((calls) => calls.length === 1);
    await expectUsed(post('silent', { 'x-gw-span-id': names1['x-gw-span-id'] }));
    client.abort();
    clock.advance(requestBudgetMs);
    await harness.settled();
  });

  it.each(['error-500', 'error-429', 'error-after-chunks:3'])(
    'is free for the same call once that failed in a way that may be retried, and for no other: %s',
    async (upstream) => {
      const span = fresh();
      const stream = upstream.includes('after');
      expect(await (await post(upstream, span, { stream })).text()).toContain('error');
      await expectUsed(post('echo', span));
      expect(await (await post(upstream, span, { stream })).text()).not.toContain('duplicate_span_id');
      expect(harness.simulator.calls).toHaveLength(2);
    },
  );

  it.each(['echo', 'error-400'])('stays used after an end that is not retried: %s', async (upstream) => {
    const span = fresh();
    await (await post(upstream, span)).text();
    await harness.settled();
    await expectUsed(post(upstream, span));
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it('stays unused after a refusal before any provider is called', async () => {
    const refusedHeaders = fresh();
    await expectError(await harness.post(hello('nobody/nothing'), refusedHeaders), 400, 'unknown_model');
    await expectError(await harness.post(hello('nobody/nothing'), refusedHeaders), 400, 'unknown_model');
    await harness.settled();
    expect(await outcomeOf(await post('echo', refusedHeaders))).toBe('ok');
    await expectUsed(post('echo', refusedHeaders));
  });

  it('stays used after an answer of the response cache', async () => {
    const body = hello('acme/echo', { cache: { namespace: 'spans' } });
    expect(await outcomeOf(await harness.post(body))).toBe('ok');
    await harness.settled();
    const hit = fresh();
    expect((await harness.post(body, hit)).headers.get('x-gw-cache')).toBe('HIT');
    await harness.settled();
    await expectUsed(harness.post(body, hit));
  });

  it('is untouched by a refusal that comes before it', async () => {
    const rateLimited = { authorization: `Bearer ${keys.rateLimited}` };
    expect(await outcomeOf(await post('echo', rateLimited))).toBe('ok');
    const limitedHeaders = fresh();
    await expectError(await post('echo', { ...limitedHeaders, ...rateLimited }), 429, 'api_key_rate_limit');
    expect(await outcomeOf(await post('echo', limitedHeaders, { seed: 1 }))).toBe('ok');
    const names1 = withKey({});
    expect(await outcomeOf(await post('echo', names1))).toBe('ok');
    const conflicting = fresh();
    await expectError(await post('echo', { ...names1, ...conflicting }), 409, 'idempotency_conflict');
    expect(await outcomeOf(await post('echo', conflicting, { seed: 1 }))).toBe('ok');
    const malformed = fresh();
    await expectError(await post('echo', malformed, { temperature: 'hot' }), 400, 'invalid_request');
    expect(await outcomeOf(await post('echo', malformed))).toBe('ok');
  });
});
