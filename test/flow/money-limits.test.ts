// Limits on money, met by many calls at once: what fits is served, and not a pico-USD more. Of a key and of credit: interface-conformance.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';

const usd = (amount: string): bigint => BigInt(Math.round(Number(amount) * 1e6)) * 1_000_000n;

/** A call of 50 tokens of output at 2 USD a million may cost 0.0001 USD: a tenth of the limits below. */
const priced = (upstream: string) => ({ provider: 'acme', upstream, more: { input_price_per_million: '0' } });
const tiny = { input_price_per_million: '0', output_price_per_million: '0.000001' };
const free = { input_price_per_million: '0', output_price_per_million: '0' };
const dear = { input_price_per_million: '0', output_price_per_million: '20.00' };
const models = {
  'acme/full': [priced('usage:0:50')],
  'acme/pico': [{ provider: 'acme', upstream: 'usage:0:1', more: tiny }],
  'acme/free': [{ provider: 'acme', upstream: 'echo', more: free }],
  'acme/two': [priced('usage:0:50'), { provider: 'dear', upstream: 'usage:0:50', more: dear }],
};
const limit = '0.001';

let harness: Harness;
let second: ServedGateway;
const keys: Record<string, string> = {};

/** A workspace for each test, with one key. */
const limited = (id: string, workspace: object, key: object = {}) => {
  keys[id] = newKey();
  return { id, credit_usd: '100', ...workspace, keys: [{ name: 'k', key: keys[id], ...key }] };
};
beforeAll(async () => {
  harness = await startHarness({
    models,
    moreWorkspaces: [
      limited('at-once', { spend_limit_usd: limit }),
      limited('pico', {}, { spend_limit_usd: '0.000000000007' }),
      limited('rich', { credit_usd: '999999999999999.999999999999' }),
      limited('asks-for-more', {}, { spend_limit_usd: '5' }),
      limited('nothing', { credit_usd: '0' }, { spend_limit_usd: '0' }),
      limited('dearest', { credit_usd: '0.001' }),
    ],
  });
  second = await harness.open();
});
afterAll(() => harness.stop());
beforeEach(() => harness.simulator.clear());

const post = (workspace: string, body: object, door: ServedGateway = harness) =>
  door.post(body, { authorization: `Bearer ${keys[workspace]}` });

describe('calls against a limit', () => {
  it('are ten at the provider and fifteen refused', async () => {
    const call = hello('acme/full', { max_tokens: 50 });
    const doors = [harness, second];
    const answers = Array.from({ length: 25 }, (_none, index) => post('at-once', call, doors[index % 2]));
    expect(await countOutcomes(answers)).toEqual({ ok: 10, PAYMENT_REQUIRED: 15 });
    expect(harness.simulator.calls).toHaveLength(10);
    await Promise.all([harness.settled(), second.settled()]);
    expect(await expectBalancedBooks(harness, 'at-once')).toBe(usd(limit));
    expect((await harness.records('at-once')).filter(({ outcome }) => outcome === 'ok')).toHaveLength(10);
    const { message } = await expectError(await post('at-once', call), 402, 'PAYMENT_REQUIRED');
    expect(message).toContain('0.0001 USD');
    expect(message).toMatch(/ 0 USD of /);
  });
});

describe('amounts', () => {
  it('are exact to the pico-USD, however small the limit', async () => {
    const answers = Array.from({ length: 12 }, () => post('pico', hello('acme/pico', { max_tokens: 1 })));
    expect(await countOutcomes(answers)).toEqual({ ok: 7, PAYMENT_REQUIRED: 5 });
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'pico')).toBe(7n);
  });

  it('are exact beside credit beyond what a double can hold', async () => {
    const response = await post('rich', hello('acme/pico', { max_tokens: 1 }));
    expect(response.status).toBe(200);
    await response.text();
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'rich')).toBe(1n);
    expect((await harness.credit('rich')).available).toBe(999999999999999999999999998n);
  });

  it('of a call that asks for more than any workspace could pay are a refusal like any other', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const members of [{ max_tokens: most }, { max_tokens: most, n: 128 }]) {
      await expectError(await post('asks-for-more', hello('acme/full', members)), 402, 'PAYMENT_REQUIRED');
    }
    expect(harness.simulator.calls).toHaveLength(0);
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'asks-for-more')).toBe(0n);
  });

  it('of nothing need no credit at all', async () => {
    expect(await countOutcomes([post('nothing', hello('acme/free'))])).toEqual({ ok: 1 });
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'nothing')).toBe(0n);
  });

  it('are held for the dearest provider that may answer, and settled for the one that did', async () => {
    const call = hello('acme/two', { max_tokens: 50 });
    expect(await countOutcomes([post('dearest', call), post('dearest', call)])).toEqual({
      ok: 1,
      PAYMENT_REQUIRED: 1,
    });
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'dearest')).toBe(usd('0.0001'));
    const cheap = { ...call, provider: { only: 'acme' } };
    expect(await countOutcomes([post('dearest', call), post('dearest', cheap)])).toEqual({
      ok: 1,
      PAYMENT_REQUIRED: 1,
    });
  });
});
