// A span id belongs to one call of its workspace: whose retry may bring it again, and whose may not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { requestBudgetMs } from '../../shared/foundation/constants/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';

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
    const refused = await response;
    expect(refused.headers.get('x-should-retry')).toBe('false');
    await expectError(refused, 409, 'duplicate_span_id');
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
    // The replay gave nothing away: neither the same call without the key, nor one with another key.
    await expectUsed(post('echo', { 'x-gw-span-id': names1['x-gw-span-id'] }));
    await expectUsed(post('echo', { ...names1, 'idempotency-key': 'another' }));
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it('of a call that runs is not given away by a retry that is told to wait', async () => {
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
    const refused = fresh();
    await expectError(await harness.post(hello('nobody/nothing'), refused), 400, 'unknown_model');
    await expectError(await harness.post(hello('nobody/nothing'), refused), 400, 'unknown_model');
    await harness.settled();
    expect(await outcomeOf(await post('echo', refused))).toBe('ok');
    await expectUsed(post('echo', refused));
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

  it('is untouched by a refusal that stands before it', async () => {
    const rateLimited = { authorization: `Bearer ${keys.rateLimited}` };
    expect(await outcomeOf(await post('echo', rateLimited))).toBe('ok');
    const limited = fresh();
    await expectError(await post('echo', { ...limited, ...rateLimited }), 429, 'api_key_rate_limit');
    expect(await outcomeOf(await post('echo', limited, { seed: 1 }))).toBe('ok');
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
