import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Counter, Hold, WriteParts } from '../../../shared/accounting/holds/index.ts';
import {
  healParts,
  lateSettlementMs,
  planCount,
  planTake,
  settleParts,
  takeParts,
  toUpdate,
} from '../../../shared/accounting/holds/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';

const nowMs = 1_800_000_000_000;
const counter = (...limits: (bigint | null)[]): Counter => ({
  table: 'ledger',
  key: 'unit',
  balances: limits.map((limit, index) => ({ attribute: `b${index}`, limit })),
  spentAttribute: 'spent',
});
const hold = (owner: string, amount: bigint, expiresAtMs = nowMs + 70_000): Hold => ({ owner, amount, expiresAtMs });
const entry = (amount: bigint, until_ms: number) => ({ amount, until_ms });

/** DynamoDB refuses a write with a placeholder that is not defined, and one that defines what it does not use. */
function expectWellFormed(...parts: WriteParts[]): void {
  const { expression, condition = '', names = {}, values = {} } = toUpdate('ledger', 'unit', parts);
  const used = new Set(`${expression} ${condition}`.match(/[#:][A-Za-z0-9]+/g));
  expect([...used].toSorted()).toEqual([...Object.keys(names), ...Object.keys(values)].toSorted());
  expect(Buffer.byteLength(expression)).toBeLessThan(4_096);
  expect(Buffer.byteLength(condition)).toBeLessThan(4_096);
}

describe('parts of writes', () => {
  it('use every placeholder they define, define every one they use, and stay below 4 KB', () => {
    const dead = Array.from({ length: 20 }, (_, index) =>
      hold(`dead-${index}`, 3n, nowMs - 1 - index * lateSettlementMs),
    );
    const limits = fc.array(fc.option(fc.bigInt(-100n, 100n), { nil: null }), { minLength: 1, maxLength: 2 });
    const window = { rate_second: 1, rate_sum: 1, rate_counts: [1], rate_offsets_ms: [0], rate_version: 1 };
    fc.assert(
      fc.property(limits, fc.nat(20), fc.boolean(), (shape, reclaimed, counts) => {
        const take = takeParts(counter(...shape), hold('me', 5n), dead.slice(0, reclaimed), nowMs);
        const count = planCount('limit_of_requests', 10, counts ? window : {}, nowMs);
        expectWellFormed(take);
        expectWellFormed(take, ...('parts' in count ? [count.parts] : []));
        expectWellFormed(settleParts(counter(...shape), 'me', 5n, 2n));
      }),
    );
  });

  it('that mean different things by one placeholder cannot be put together', () => {
    const one = takeParts(counter(5n), hold('a', 1n), [], nowMs);
    expect(() => toUpdate('ledger', 'unit', [one, takeParts(counter(5n), hold('b', 1n), [], nowMs)])).toThrow('#hold');
  });

  it('let an absent balance count as 0, no more', () => {
    expect(takeParts(counter(5n), hold('me', 5n), [], nowMs).conditions).toContain(
      'attribute_not_exists(#balance0) OR #balance0 >= :floor0',
    );
    expect(takeParts(counter(5n), hold('me', 6n), [], nowMs).conditions).toContain('#balance0 >= :floor0');
  });
});

describe('a request that wants a hold', () => {
  const plan = (item: Item | undefined, amount = 10n, limit: bigint | null = 20n) =>
    planTake(counter(limit), hold('me', amount), item, nowMs);

  it('writes at once where nobody has looked yet', () => {
    expect(plan(undefined).kind).toBe('take');
  });

  it('recognises its own first try, and no other', () => {
    expect(plan({ 'hold#me': entry(10n, nowMs + 70_000) }).kind).toBe('standing');
    expect(() => plan({ 'hold#me': entry(9n, nowMs + 70_000) })).toThrow('owner');
    expect(() => plan({ 'hold#me': entry(0n, nowMs + 70_000) })).toThrow('owner');
  });

  it('reclaims nothing that is not expired, and nothing it does not need', () => {
    const item = { b0: -15n, 'hold#live': entry(5n, nowMs + 1), 'hold#dead': entry(4n, nowMs) };
    expect(plan(item)).toEqual({ kind: 'insufficient', available: 9n });
    const covered = plan(item, 5n);
    expect(covered.kind === 'take' && covered.parts.names).not.toHaveProperty('#expired0');
    const needed = plan(item, 9n);
    expect(needed.kind === 'take' && needed.parts.names).toMatchObject({ '#expired0': 'hold#dead' });
  });

  it('is never refused where there is no limit', () => {
    expect(plan({ b0: -(10n ** 30n) }, 10n, null).kind).toBe('take');
  });

  it('first heals where more owners died than one write can put right', () => {
    const dead = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`hold#d${n}`, entry(1n, nowMs - 5)]));
    expect(plan({ b0: -50n, ...dead }, 15n, 50n).kind).toBe('take');
    const heal = plan({ b0: -50n, ...dead }, 30n, 50n);
    expect(heal.kind).toBe('heal');
    if (heal.kind === 'heal') expectWellFormed(heal.parts);
  });
});

describe('healing', () => {
  it('keeps the place of a hold while its owner may only be late, and no longer', () => {
    const late = healParts(counter(9n), { 'hold#x': entry(4n, nowMs - 1) }, nowMs);
    expect(late).toMatchObject({ set: expect.arrayContaining(['#expired0.#amount = :zero']), remove: [] });
    const dead = healParts(counter(9n), { 'hold#x': entry(4n, nowMs - lateSettlementMs) }, nowMs);
    expect(dead).toMatchObject({ remove: ['#expired0'], values: { ':freed': 4n } });
    const forgotten = healParts(counter(9n), { 'hold#x': entry(0n, nowMs - lateSettlementMs) }, nowMs);
    expect(forgotten).toMatchObject({ remove: ['#expired0'], values: { ':freed': 0n } });
  });

  it('has nothing to do where every hold lives or waits for a late owner', () => {
    const item = { 'hold#a': entry(4n, nowMs + 1), 'hold#b': entry(0n, nowMs - 1) };
    expect(healParts(counter(9n), item, nowMs)).toBeUndefined();
  });
});
