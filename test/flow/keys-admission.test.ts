// Keys on warm instances: their requests per minute are exact across gateways, and a revoked key ends with its next
// request.
import { afterEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import type { FileParts } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { countOutcomes, outcomeOf } from '../support/outcomes.ts';

const models: FileParts['models'] = { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] };

describe('a key', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('with a limit has exactly that many requests in any minute, across two gateways', async () => {
    const clock = manualClock();
    // In the middle of what is counted together.
    clock.advance(3_210);
    harness = await startHarness({ clock, models, key: { rpm: 7 } });
    const doors = [harness, await harness.open()];
    const calls = () =>
      Array.from({ length: 20 }, async (_none, at) => doors[at % 2]?.post(hello('acme/echo')) as never);
    expect(await countOutcomes(calls())).toEqual({ ok: 7, api_key_rate_limit: 13 });
    expect(harness.simulator.calls).toHaveLength(7);
    clock.advance(30_000);
    const refused = await harness.post(hello('acme/echo'));
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.headers.get('x-should-retry')).toBeNull();
    await expectError(refused, 429, 'api_key_rate_limit');
    clock.advance(29_999);
    expect(await countOutcomes(calls())).toEqual({ api_key_rate_limit: 20 });
    clock.advance(1);
    expect(await countOutcomes(calls())).toEqual({ ok: 7, api_key_rate_limit: 13 });
    expect(harness.simulator.calls).toHaveLength(14);
  });

  it('without a limit has that of its stage where there is one, is told it, and any number elsewhere', async () => {
    const clock = manualClock();
    harness = await startHarness({ clock, models });
    const bounded = await harness.open({ clock, keyRequestsPerMinute: 3 });
    const calls = (door: Pick<Harness, 'post'>) =>
      countOutcomes(Array.from({ length: 5 }, () => door.post(hello('acme/echo'))));
    expect(await calls(bounded)).toEqual({ ok: 3, api_key_rate_limit: 2 });
    const refused = await bounded.post(hello('acme/echo'));
    expect((await expectError(refused, 429, 'api_key_rate_limit')).message).toContain('may make 3 requests a minute');
    expect(await calls(harness)).toEqual({ ok: 5 });
    expect(harness.simulator.calls).toHaveLength(8);
    await harness.apply({ models, key: { rpm: 9 } });
    clock.advance(60_000);
    expect(await calls(bounded)).toEqual({ ok: 5 });
  });

  it('is counted for every request it makes, also those that are refused or answered from memory', async () => {
    harness = await startHarness({ clock: manualClock(), models, key: { rpm: 6, spend_limit_usd: '0.01' } });
    const once = { 'idempotency-key': 'k' };
    expect(await outcomeOf(await harness.post(hello('acme/echo', { max_tokens: 9 }), once))).toBe('ok');
    expect(await outcomeOf(await harness.post(hello('acme/echo', { max_tokens: 9 }), once))).toBe('ok');
    await expectError(await harness.post('not JSON'), 400, 'invalid_request');
    await expectError(await harness.post(hello('nobody/nothing')), 400, 'unknown_model');
    await expectError(await harness.post(hello('acme/echo', { max_tokens: 10_000 })), 402, 'PAYMENT_REQUIRED');
    await expectError(await harness.post(hello('acme/echo'), { 'x-byok-key': 'mine' }), 403, 'byok_not_enabled');
    await expectError(await harness.post(hello('acme/echo', { max_tokens: 9 })), 429, 'api_key_rate_limit');
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it.each([{}, { rpm: 100 }, { spend_limit_usd: '5' }, { rpm: 100, spend_limit_usd: '5' }])(
    'that is revoked is refused at the next request of a warm instance, and works again when a file says that it is active: %j',
    async (limits) => {
      harness = await startHarness({ clock: manualClock(), models, key: limits });
      expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
      await harness.apply({ models, key: { ...limits, status: 'revoked' } });
      const again = { 'idempotency-key': 'k', 'x-gw-span-id': 's' };
      await expectError(await harness.post(hello('acme/echo'), again), 401, 'UNAUTHORIZED');
      await expectError(await harness.post('not JSON'), 401, 'UNAUTHORIZED');
      await expectError(await harness.post(hello('gw/function/f')), 401, 'api_key_revoked');
      expect(harness.simulator.calls).toHaveLength(1);
      await harness.apply({ models, key: limits });
      await expectError(await harness.post(hello('acme/echo'), again), 401, 'UNAUTHORIZED');
      await harness.apply({ models, key: { ...limits, status: 'active' } });
      expect(await outcomeOf(await harness.post(hello('acme/echo'), again))).toBe('ok');
    },
  );

  it('whose limits change is bound by the new ones at once', async () => {
    harness = await startHarness({ clock: manualClock(), models, key: { rpm: 100 } });
    expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
    await harness.apply({ models, key: { rpm: 1 } });
    await expectError(await harness.post(hello('acme/echo')), 429, 'api_key_rate_limit');
    await harness.apply({ models, key: { rpm: null, spend_limit_usd: '0.000001' } });
    await expectError(await harness.post(hello('acme/echo')), 402, 'PAYMENT_REQUIRED');
    await harness.apply({ models, key: { spend_limit_usd: null } });
    expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
  });
});
