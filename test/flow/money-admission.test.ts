// Admission on a warm instance is one round to the store, or two where the call is likely to end in the first.
import { afterEach, describe, expect, it } from '#jest';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const limits = { rate_limit_rpm: 1_000, rate_limit_tpm: 10_000_000, rate_limit_tpd: 10_000_000 };
const connection = (provider: string) => ({
  provider,
  key: { env: 'GW_TEST_BYOK' },
  policy: 'allowed',
  budget_usd: '5',
});

/** Whatever is asked for without waiting for an answer is asked for within these turns of the event loop. */
const turns = 20;
async function letOthersAsk(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
}

describe('the admission of a call', () => {
  let harness: Harness;
  const events: string[] = [];
  afterEach(() => harness.stop());

  const watched = (store: Store) =>
    aroundStore(store, async ({ method, table }, run) => {
      events.push(`ask ${table} ${method}`);
      await letOthersAsk();
      const answer = await run();
      events.push('answer');
      return answer;
    });

  /** What was asked before the first answer, and how much after it, before the provider was called. */
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
      wrapStore: watched,
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

  it('takes money and a slot in a second round where what is stored may be the answer', async () => {
    await startWatched(everything);
    await callTwice(hello('acme/all', { cache: {} }), (id) => ({ 'idempotency-key': id, 'x-gw-span-id': id }));
    const { first, later } = rounds();
    expect(first).toEqual(['ask cache get', 'ask idempotency put', 'ask keys update', 'ask spans put']);
    expect(later.toSorted()).toEqual(['ask keys update', ...money]);
    await expectBalancedBooks(harness);
  });

  it('asks for key and credit alone where nothing else is wanted', async () => {
    await startWatched({});
    await callTwice(hello('acme/plain'), () => ({}));
    expect(rounds()).toEqual({ first: ['ask keys get', 'ask ledger update'], later: [] });
  });

  /** How often something was asked for after an answer had come, before the provider was called. */
  const roundCount = () => {
    const before = events.slice(0, events.indexOf('provider'));
    return before.filter((event, at) => event.startsWith('ask') && (at === 0 || before[at - 1] === 'answer')).length;
  };
  const limited = { 'acme/limited': [{ provider: 'acme', upstream: 'echo', more: limits }] };
  /** Covers a call of few tokens. */
  const little = '0.000300';

  it.each([
    ['the spend limit of the key', { key: { rpm: 60, spend_limit_usd: little } }, ['ask keys update']],
    ['the credit', { workspace: { credit_usd: little } }, ['ask keys get', 'ask ledger update']],
  ])('asks for %s in the first of two rounds where it has just refused another call', async (_name, parts, asked) => {
    await startWatched({ models: limited, ...parts });
    const body = hello('acme/limited', { max_tokens: 5 });
    await callTwice(body, () => ({}));
    expect(roundCount()).toBe(1);
    expect(await outcomeOf(await harness.post({ ...body, max_tokens: 4_096 }))).toBe('PAYMENT_REQUIRED');
    await callTwice(body, () => ({}));
    const { first, later } = rounds();
    expect(first).toEqual(asked);
    expect(later).toContain('ask limits update');
    expect(roundCount()).toBe(2);
    await expectBalancedBooks(harness);
  });
});
