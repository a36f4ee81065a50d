// A refused call takes nothing from other calls, not even for a moment: no money and no slot of a provider.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { aroundStore } from '../support/wrapped-store.ts';

describe('a call that is not run takes nothing', () => {
  /** The credit covers the worst case of one call, and not of two. */
  const forOneCall = '0.000300';
  const model = [{ provider: 'acme', upstream: 'echo', more: { rate_limit_rpm: 1_000 } }];
  const [poor, revokedKey, busy, thrifty, frugal, slow] = Array.from({ length: 6 }, () => newKey());
  const as = (key = '') => ({ authorization: `Bearer ${key}` });

  let harness: Harness;
  let clock: ManualClock;
  /** The gateway's writes in their order: `ledger update`, `limits update` and so on. */
  const writes: string[] = [];

  beforeAll(async () => {
    clock = manualClock();
    harness = await startHarness({
      clock,
      models: { 'acme/one': model },
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          if (call.method !== 'get') writes.push(`${call.table} ${call.method}`);
          return run();
        }),
      workspace: { credit_usd: '5' },
      moreWorkspaces: [
        { id: 'poor', credit_usd: '0', keys: [{ name: 'k', key: poor }] },
        {
          id: 'mixed',
          credit_usd: '5',
          keys: [
            { name: 'revoked', key: revokedKey, status: 'revoked' },
            { name: 'busy', key: busy, rpm: 1 },
            { name: 'slow', key: slow, rpm: 2 },
            { name: 'thrifty', key: thrifty, spend_limit_usd: '0.000001' },
            { name: 'frugal', key: frugal, spend_limit_usd: '0.000001' },
          ],
        },
      ],
    });
  });
  afterAll(() => harness.stop());
  beforeEach(async () => {
    await harness.settled();
    harness.simulator.clear();
    writes.length = 0;
  });

  const call = async (headers: Record<string, string> = {}, more: object = {}) =>
    outcomeOf(await harness.post(hello('acme/one', { max_tokens: 5, ...more }), headers));

  async function writesOf(act: () => Promise<unknown>): Promise<string[]> {
    await harness.settled();
    writes.length = 0;
    await act();
    await harness.settled();
    return writes.filter((write) => !write.startsWith('records') && !write.startsWith('statistics'));
  }

  const takesFromOthers = (all: readonly string[]) => all.filter((write) => /^(ledger|limits) /.test(write));

  describe('an answer that is there already', () => {
    it('from the cache takes no money and no slot', async () => {
      expect(await call({}, { cache: {} })).toBe('ok');
      expect(await writesOf(async () => expect(await call({}, { cache: {} })).toBe('ok'))).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(1);
    });

    it('of the same Idempotency-Key takes no money and no slot', async () => {
      const name = { 'idempotency-key': 'stored' };
      expect(await call(name)).toBe('ok');
      const writes = await writesOf(async () => expect(await call(name)).toBe('ok'));
      expect(takesFromOthers(writes)).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(1);
    });
  });

  it.each([
    ['of the same Idempotency-Key', { 'idempotency-key': 'counted' }, {}],
    ['from the cache', {}, { cache: { namespace: 'counted' } }],
  ])('an answer %s counts as a request of its key, which is refused beyond its requests', async (_name, name, body) => {
    clock.advance(61_000);
    const again = () => call({ ...as(slow), ...name }, body);
    expect([await again(), await again(), await again()]).toEqual(['ok', 'ok', 'api_key_rate_limit']);
    expect(harness.simulator.calls).toHaveLength(1);
  });

  describe('a call that is refused', () => {
    it.each([
      ['a revoked key', revokedKey, 'UNAUTHORIZED', 0],
      ['a key over its requests per minute', busy, 'api_key_rate_limit', 1],
    ])('for %s takes no money and no slot, from the second on', async (_name, key, code, running) => {
      for (let times = 0; times < running; times += 1) expect(await call(as(key))).toBe('ok');
      expect(await call(as(key))).toBe(code);
      const writes = await writesOf(async () => expect(await call(as(key))).toBe(code));
      expect(takesFromOthers(writes)).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(running);
    });

    it('for the spend limit of its key takes no credit and no slot, from the first on', async () => {
      const writes = await writesOf(async () => expect(await call(as(thrifty))).toBe('PAYMENT_REQUIRED'));
      expect(takesFromOthers(writes)).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(0);
    });

    it('for the spend limit of its key takes neither if it has a name, from the first on', async () => {
      const callWithKey = () => call({ ...as(frugal), 'idempotency-key': 'refused', 'x-gw-span-id': 'refused' });
      const writes = await writesOf(async () => expect(await callWithKey()).toBe('PAYMENT_REQUIRED'));
      expect(takesFromOthers(writes)).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(0);
    });

    it('for the credit of its workspace takes no slot, from the second on', async () => {
      expect(await call(as(poor))).toBe('PAYMENT_REQUIRED');
      const writes = await writesOf(async () => expect(await call(as(poor))).toBe('PAYMENT_REQUIRED'));
      expect(writes.filter((write) => write.startsWith('limits'))).toEqual([]);
      expect(harness.simulator.calls).toHaveLength(0);
    });

    it('is remembered for ten seconds: then a call that pays is one round again', async () => {
      expect(await call(as(busy))).toBe('api_key_rate_limit');
      clock.advance(61_000);
      expect(await call(as(busy))).toBe('ok');
      const writes = await writesOf(async () => expect(await call(as(busy))).toBe('api_key_rate_limit'));
      // The instance no longer expected a refusal, so it reserved everything at once and released it.
      expect(takesFromOthers(writes)).not.toEqual([]);
    });
  });

  describe('money for one call', () => {
    const crowd = 10;
    let tight: Harness;
    const limitedKey = newKey();
    beforeAll(async () => {
      tight = await startHarness({
        clock: manualClock(),
        models: { 'acme/one': model },
        moreWorkspaces: [
          ...Array.from({ length: 8 }, (_none, at) => ({
            id: `tight-${at}`,
            credit_usd: forOneCall,
            keys: [{ name: 'k', key: keys[at] ?? '' }],
          })),
          { id: 'limited', credit_usd: '5', keys: [{ name: 'k', key: limitedKey, spend_limit_usd: forOneCall }] },
        ],
      });
    });
    afterAll(() => tight.stop());
    const keys = Array.from({ length: 8 }, () => newKey());

    const atOnce = async (headers: Record<string, string>): Promise<string[]> =>
      (
        await Promise.all(
          Array.from({ length: crowd }, async () =>
            outcomeOf(await tight.post(hello('acme/one', { max_tokens: 5 }), headers)),
          ),
        )
      ).toSorted();

    it.each([
      ['one Idempotency-Key', 'idempotency-key', 'execution_in_progress', 0],
      ['one span', 'x-gw-span-id', 'duplicate_span_id', 4],
    ])(
      'lets exactly one of ten calls with %s run, and the others get the code for it',
      async (_name, header, code, from) => {
        for (const key of keys.slice(from, from + 4)) {
          const outcomes = await atOnce({ ...as(key), [header]: 'same' });
          expect(outcomes.filter((outcome) => outcome === 'ok').length).toBeGreaterThanOrEqual(1);
          // A call that comes after the end of the first call gets its stored answer.
          expect(outcomes.filter((outcome) => outcome !== 'ok' && outcome !== code)).toEqual([]);
        }
        expect(tight.simulator.calls).toHaveLength(from + 4);
      },
    );

    it('of the key alone does so too', async () => {
      const before = tight.simulator.calls.length;
      const outcomes = await atOnce({ ...as(limitedKey), 'idempotency-key': 'same' });
      expect(outcomes).toContain('ok');
      expect(outcomes.filter((outcome) => outcome !== 'ok' && outcome !== 'execution_in_progress')).toEqual([]);
      expect(tight.simulator.calls).toHaveLength(before + 1);
      await tight.settled();
      await expectBalancedBooks(tight);
    });
  });
});

// Admission on a warm instance takes one round trip to the store, or two if the first round is likely to refuse the
// call.
const limits = { rate_limit_rpm: 1_000, rate_limit_tpm: 10_000_000, rate_limit_tpd: 10_000_000 };
const connection = (provider: string) => ({
  provider,
  key: { env: 'GW_TEST_BYOK' },
  policy: 'allowed',
  budget_usd: '5',
});

/** Requests that do not depend on an answer are sent within this number of turns of the event loop. */
const turns = 20;
async function letOthersAsk(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
}

describe('the admission of a call', () => {
  let harness: Harness;
  const events: string[] = [];
  afterEach(() => harness.stop());

  const watchingStore = (store: Store) =>
    aroundStore(store, async ({ method, table }, run) => {
      events.push(`ask ${table} ${method}`);
      await letOthersAsk();
      const answer = await run();
      events.push('answer');
      return answer;
    });

  /** Returns the requests before the first answer, and the later requests before the call of the provider. */
  function rounds() {
    const before = events.slice(0, events.indexOf('provider'));
    const first = before.slice(0, before.indexOf('answer'));
    const later = before.slice(first.length).filter((event) => event.startsWith('ask'));
    return { first: first.toSorted(), later };
  }

  async function startWatched(parts: object): Promise<void> {
    process.env.GW_TEST_BYOK = 'byok-key';
    harness = await startHarness({
      clock: manualClock(),
      models: {
        'acme/all': [
          { provider: 'acme', upstream: 'echo', more: limits },
          { provider: 'mine', upstream: 'echo', more: { output_price_per_million: '5' } },
          { provider: 'mine-too', upstream: 'echo', more: { output_price_per_million: '9' } },
        ],
        'acme/plain': [{ provider: 'acme', upstream: 'echo' }],
      },
      ...parts,
      wrapStore: watchingStore,
      replace: ({ transport }) => ({
        transport: {
          ...transport,
          send: (request) => {
            events.push('provider');
            return transport.send(request);
          },
        },
      }),
    });
  }

  async function callTwice(body: Record<string, unknown>, headersOf: (id: string) => Record<string, string>) {
    for (const id of ['warm-up', 'measured']) {
      events.length = 0;
      expect(await outcomeOf(await harness.post({ ...body, seed: id.length }, headersOf(id)))).toBe('ok');
      await harness.settled();
    }
  }

  const everything = {
    key: { rpm: 60, spend_limit_usd: '5' },
    workspace: { features: { byok: true }, byok: { connections: [connection('mine'), connection('mine-too')] } },
  };
  const money = ['ask ledger update', 'ask ledger update', 'ask ledger update', 'ask limits update'];

  it('asks for everything it needs at once, each thing once, on a warm instance', async () => {
    await startWatched(everything);
    await callTwice(hello('acme/all'), () => ({}));
    expect(rounds()).toEqual({ first: ['ask keys update', ...money], later: [] });
    await expectBalancedBooks(harness);
  });

  it('asks the key, money and slots in a second round if what is stored may be the answer, each once', async () => {
    await startWatched(everything);
    await callTwice(hello('acme/all', { cache: {} }), (id) => ({ 'idempotency-key': id, 'x-gw-span-id': id }));
    const { first, later } = rounds();
    expect(first).toEqual(['ask cache get', 'ask idempotency put', 'ask spans put']);
    expect(later.toSorted()).toEqual(['ask keys update', ...money]);
    await expectBalancedBooks(harness);
  });

  it('asks for key and credit alone if nothing else is wanted', async () => {
    await startWatched({});
    await callTwice(hello('acme/plain'), () => ({}));
    expect(rounds()).toEqual({ first: ['ask keys get', 'ask ledger update'], later: [] });
  });

  /** Returns how many rounds of requests there were before the call of the provider; an answer ends a round. */
  const roundCount = () => {
    const before = events.slice(0, events.indexOf('provider'));
    return before.filter((event, at) => event.startsWith('ask') && (at === 0 || before[at - 1] === 'answer')).length;
  };
  const limitedModels = { 'acme/limited': [{ provider: 'acme', upstream: 'echo', more: limits }] };
  /** This credit covers a call of few tokens. */
  const little = '0.000300';

  it.each([
    ['the spend limit of the key', { key: { rpm: 60, spend_limit_usd: little } }, ['ask keys update']],
    ['the credit', { workspace: { credit_usd: little } }, ['ask keys get', 'ask ledger update']],
  ])(
    'asks for %s in the first of two rounds if it has just refused another call',
    async (_name, parts, expectedParts) => {
      await startWatched({ models: limitedModels, ...parts });
      const body = hello('acme/limited', { max_tokens: 5 });
      await callTwice(body, () => ({}));
      expect(roundCount()).toBe(1);
      expect(await outcomeOf(await harness.post({ ...body, max_tokens: 4_096 }))).toBe('PAYMENT_REQUIRED');
      await callTwice(body, () => ({}));
      const { first, later } = rounds();
      expect(first).toEqual(expectedParts);
      expect(later).toContain('ask limits update');
      expect(roundCount()).toBe(2);
      await callTwice(body, (id) => ({ 'idempotency-key': id }));
      expect(rounds().first).toEqual(['ask idempotency put']);
      expect(roundCount()).toBe(3);
      await expectBalancedBooks(harness);
    },
  );
});
