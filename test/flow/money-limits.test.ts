// Limits on money, met by many calls at once: what fits is served, and not a pico-USD more.
import { afterEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';

const usd = (amount: string): bigint => BigInt(Math.round(Number(amount) * 1e6)) * 1_000_000n;

/** A call of 50 tokens of output at 2 USD a million may cost 0.0001 USD: a tenth of the limits below. */
const priced = (upstream: string) => ({ provider: 'acme', upstream, more: { input_price_per_million: '0' } });
const models = { 'acme/full': [priced('usage:0:50')], 'acme/half': [priced('usage:0:25')] };
const limit = '0.001';

describe('calls at once against a limit that fits ten of them', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  const limits: [string, object][] = [
    ['the spend limit of a key', { key: { spend_limit_usd: limit } }],
    ['the credit of a workspace', { workspace: { credit_usd: limit } }],
    ['the spend limit of a workspace', { workspace: { spend_limit_usd: limit } }],
  ];

  it.each(limits)('are ten at the provider and forty refused: %s', async (_name, parts) => {
    harness = await startHarness({ models, ...parts });
    const second = await harness.open();
    const call = hello('acme/full', { max_tokens: 50 });
    const doors = [harness, second];
    const answers = Array.from({ length: 50 }, async (_none, index) => doors[index % 2]?.post(call) as never);
    expect(await countOutcomes(answers)).toEqual({ ok: 10, PAYMENT_REQUIRED: 40 });
    expect(harness.simulator.calls).toHaveLength(10);
    await Promise.all([harness.settled(), second.settled()]);
    expect(await expectBalancedBooks(harness)).toBe(usd(limit));
    expect((await harness.records()).filter(({ outcome }) => outcome === 'ok')).toHaveLength(10);
    const { message } = await expectError(await harness.post(call), 402, 'PAYMENT_REQUIRED');
    expect(message).toContain('0.0001 USD');
    expect(message).toMatch(/ 0 USD of /);
  });

  it.each(limits)('leave what they did not use to the next, to the last that fits: %s', async (_name, parts) => {
    harness = await startHarness({ models, ...parts });
    const call = hello('acme/half', { max_tokens: 50 });
    for (let calls = 0; calls < 19; calls += 1) {
      expect(await countOutcomes([harness.post(call)])).toEqual({ ok: 1 });
      await harness.settled();
    }
    const { message } = await expectError(await harness.post(call), 402, 'PAYMENT_REQUIRED');
    expect(message).toMatch(/may cost 0\.0001 USD, and 0\.00005 USD of /);
    expect(harness.simulator.calls).toHaveLength(19);
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(usd('0.00095'));
  });
});

describe('amounts', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  const more = { input_price_per_million: '0', output_price_per_million: '0.000001' };
  const tiny = { 'acme/pico': [{ provider: 'acme', upstream: 'usage:0:1', more }] };

  it('are exact to the pico-USD, however small the limit', async () => {
    harness = await startHarness({ models: tiny, key: { spend_limit_usd: '0.000000000007' } });
    const answers = Array.from({ length: 12 }, () => harness.post(hello('acme/pico', { max_tokens: 1 })));
    expect(await countOutcomes(answers)).toEqual({ ok: 7, PAYMENT_REQUIRED: 5 });
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(7n);
  });

  it('are exact beside credit beyond what a double can hold', async () => {
    harness = await startHarness({ models: tiny, workspace: { credit_usd: '999999999999999.999999999999' } });
    const response = await harness.post(hello('acme/pico', { max_tokens: 1 }));
    expect((await response.json()) as object).toMatchObject({ usage: { cost: 1e-12, cost_usd: '0.000000000001' } });
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(1n);
    expect((await harness.credit()).available).toBe(999999999999999999999999998n);
  });

  it('of a call that asks for more than any workspace could pay are a refusal like any other', async () => {
    harness = await startHarness({ models, key: { spend_limit_usd: '5' } });
    const most = Number.MAX_SAFE_INTEGER;
    for (const members of [{ max_tokens: most }, { max_tokens: most, n: 128 }]) {
      await expectError(await harness.post(hello('acme/full', members)), 402, 'PAYMENT_REQUIRED');
    }
    expect(harness.simulator.calls).toHaveLength(0);
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(0n);
  });

  it('hold for the larger of two limits on output, whichever the provider heeds', async () => {
    harness = await startHarness({ models, workspace: { credit_usd: '0.0001' } });
    for (const members of [
      { max_tokens: 51, max_completion_tokens: 1 },
      { max_tokens: 1, max_completion_tokens: 51 },
    ]) {
      await expectError(await harness.post(hello('acme/full', members)), 402, 'PAYMENT_REQUIRED');
    }
    expect(harness.simulator.calls).toHaveLength(0);
  });

  it('of nothing need no credit at all', async () => {
    const free = { input_price_per_million: '0', output_price_per_million: '0' };
    harness = await startHarness({
      models: { 'acme/free': [{ provider: 'acme', upstream: 'echo', more: free }] },
      workspace: { credit_usd: '0' },
      key: { spend_limit_usd: '0' },
    });
    expect(await countOutcomes([harness.post(hello('acme/free'))])).toEqual({ ok: 1 });
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(0n);
  });

  it('are held for the dearest provider that may answer, and settled for the one that did', async () => {
    const dear = { input_price_per_million: '0', output_price_per_million: '20.00' };
    harness = await startHarness({
      models: { 'acme/two': [priced('usage:0:50'), { provider: 'dear', upstream: 'usage:0:50', more: dear }] },
      workspace: { credit_usd: '0.001' },
    });
    const call = hello('acme/two', { max_tokens: 50 });
    expect(await countOutcomes([harness.post(call), harness.post(call)])).toEqual({ ok: 1, PAYMENT_REQUIRED: 1 });
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(usd('0.0001'));
    const cheap = { ...call, provider: { only: 'acme' } };
    expect(await countOutcomes([harness.post(call), harness.post(cheap)])).toEqual({ ok: 1, PAYMENT_REQUIRED: 1 });
  });
});
