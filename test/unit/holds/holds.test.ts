import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { requestsPerMinute } from '../../../shared/accounting/holds/index.ts';
import {
  planWrite,
  type WaitingReservation,
  type WaitingSettlement,
} from '../../../shared/accounting/holds/plan-write.ts';
import type { Assess, Correction, Settlement } from '../../../shared/accounting/holds/requests.ts';
import type { Item, Update } from '../../../shared/storage/store/index.ts';
import { applyUpdate } from './apply-update.ts';

// What one write to a counter's item does, and what it refuses.
const nowMs = 1_800_000_000_000;
const name = (letter: string, atMs: number): string => letter + (atMs / 1_000).toString(36);
const bucket = name('H', nowMs + 70_000);
const counter = (limit: bigint | null) =>
  ({ table: 'ledger', key: 'unit', balances: [{ attribute: 'b', limit }], spentAttribute: 's' }) as const;

type Asked = Assess | Settlement | Correction;

const take =
  (amount: bigint, limit: bigint | null = 100n): Assess =>
  () => ({ hold: { bucket, amount }, balances: counter(limit).balances });
const count =
  (amount: bigint, limit: bigint): Assess =>
  () => ({ counts: [{ window: requestsPerMinute, amount, limit }] });
const settle = (held: bigint, actual: bigint): Settlement => ({
  kind: 'settle',
  counter: counter(100n),
  bucket,
  held,
  actual,
});

function plan(asked: readonly Asked[], item?: Item, seenAtMs = nowMs, isSeenAfter = true) {
  const entries = asked.map((one): WaitingReservation | WaitingSettlement =>
    typeof one === 'function' ? { assess: one, isSeenAfter } : { settlement: one },
  );
  const reservations = entries.filter((entry) => 'assess' in entry);
  const settlements = entries.filter((entry) => 'settlement' in entry);
  const seen = item && { item, atMs: seenAtMs };
  const { answered, gone, write } = planWrite(reservations, settlements, seen, nowMs);
  const written: readonly object[] = [
    ...(write?.reserved ?? []),
    ...(write?.settled ?? []).map(({ waiting }) => waiting),
  ];
  const kinds = entries.map((entry) => {
    const answer = answered.find(([reservation]) => reservation === entry)?.[1];
    if (answer !== undefined) return answer.kind;
    if ('settlement' in entry && gone.includes(entry)) return 'gone';
    return written.includes(entry) ? 'written' : 'waits';
  });
  const update = write?.draft.toUpdate('ledger', 'unit', { repeatable: true });
  return { kinds, answers: answered.map(([, answer]) => answer), update };
}

/** With the names and values in the place of their placeholders. */
const spelled = (text: string | undefined, { names = {}, values = {} }: Update): string =>
  (text ?? '').replace(/[#:][nv]\d+/g, (placeholder) => String(names[placeholder] ?? values[placeholder]));

function written({ update }: ReturnType<typeof plan>) {
  if (update === undefined) throw new Error('nothing was written');
  return { expression: spelled(update.expression, update), condition: spelled(update.condition, update) };
}

describe('a write', () => {
  it('uses every placeholder it defines, defines every one it uses, and stays below 4 KB', () => {
    const amounts = fc.array(fc.bigInt(1n, 9n), { maxLength: 40 });
    const ends = fc.array(fc.integer({ min: -20, max: 15 }), { maxLength: 36 });
    fc.assert(
      fc.property(amounts, amounts, ends, fc.boolean(), (taken, settled, held, isKnown) => {
        const buckets = Object.fromEntries(held.map((at) => [name('H', nowMs + at * 5_000), 50n]));
        const item = { b: -400n, s: 1n, [name('M', nowMs - 5_000)]: new Set(['x']), ...buckets, [bucket]: 300n };
        const takes = taken.map((amount) => take(amount, 1_000n));
        const requests = [...takes, ...settled.map((amount) => settle(amount, 1n))];
        const { update } = plan(requests, isKnown ? item : undefined);
        if (update === undefined) return;
        const { expression, condition = '', names = {}, values = {} } = update;
        const used = new Set(`${expression} ${condition}`.match(/[#:][nv]\d+/g));
        expect([...used].toSorted()).toEqual([...Object.keys(names), ...Object.keys(values)].toSorted());
        expect(Buffer.byteLength(expression)).toBeLessThan(4_096);
        expect(Buffer.byteLength(condition)).toBeLessThan(4_096);
      }),
    );
  });

  it('obeys the lower of two limits for the holds that were asked for under it, and not for the others', () => {
    const { condition } = written(plan([take(5n, 100n), take(5n, 20n), take(5n, null)]));
    expect(condition).toBe('(attribute_not_exists(b) OR b >= -10)');
  });
});

describe('requests that want one item', () => {
  it('are written in order of arrival as far as they fit, to the unit', () => {
    const requests = [take(40n), take(50n), take(20n), take(10n), take(1n)];
    expect(plan(requests, { b: 0n }).kinds).toEqual(['written', 'written', 'waits', 'written', 'waits']);
  });

  it('are refused by the item alone, with what it has, and only where it was asked for after they came', () => {
    const requests = [take(101n), take(99n), take(3n)];
    const { kinds, answers } = plan(requests, { b: -2n });
    expect(kinds).toEqual(['insufficient', 'insufficient', 'written']);
    expect(answers).toMatchObject([{ available: 98n }, { available: 98n }]);
    expect(plan(requests, { b: -2n }, nowMs, false).kinds).toEqual(['waits', 'waits', 'waits']);
    const behind = [take(3n), ...requests];
    expect(plan(behind, { b: -2n }, nowMs, false).kinds).toEqual(['written', 'waits', 'waits', 'waits']);
  });

  it('are written together where nothing is known of the item, but for those that count', () => {
    expect(plan([take(99n), take(99n)]).kinds).toEqual(['written', 'written']);
    expect(plan([count(1n, 5n)]).kinds).toEqual(['waits']);
  });

  it('count under the limit of each, and are told the wait', () => {
    const part = (nowMs / 1_000).toString(36);
    const item = { requests_total: 4n, [`R${part}`]: 4n, [`L${part}`]: 0 };
    const requests = [count(1n, 6n), count(1n, 6n), count(1n, 6n), count(1n, 7n)];
    expect(plan(requests, item).kinds).toEqual(['written', 'written', 'waits', 'written']);
    expect(plan([count(1n, 4n)], item).answers).toMatchObject([{ kind: 'limited', retryAfterMs: 60_000 }]);
  });

  it('are never refused where there is no limit', () => {
    expect(plan([take(10n, null)], { b: -(10n ** 30n) }).kinds).toEqual(['written']);
  });
});

// The rules of the windows, on a plain item that takes what a plan writes. The same on the real engine, with many
// writers, is in test/stores.
const startMs = 1_800_000_000_000;

/** One request of a caller that sees the item as it stands. */
function request(item: Item, limit: number, nowMs: number): { item: Item; retryAfterMs: number | undefined } {
  const demand = { counts: [{ window: requestsPerMinute, amount: 1n, limit: BigInt(limit) }] };
  const reservation = { assess: () => demand, isSeenAfter: true };
  const { answered, write } = planWrite([reservation], [], { item, atMs: nowMs }, nowMs);
  const answer = answered[0]?.[1];
  if (answer?.kind === 'limited') return { item, retryAfterMs: answer.retryAfterMs };
  const update = write?.draft.toUpdate('limits', 'unit', { repeatable: true });
  if (update === undefined) throw new Error('neither written nor refused');
  return { item: applyUpdate(item, update), retryAfterMs: undefined };
}

describe('the window of a limit', () => {
  it('never lets more than the limit into any 60 seconds, wherever they begin', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 50, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsMs) => {
        let [item, nowMs]: [Item, number] = [{}, startMs];
        const admittedAtMs: number[] = [];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const result = request(item, limit, nowMs);
          item = result.item;
          if (result.retryAfterMs === undefined) admittedAtMs.push(nowMs);
        }
        for (const fromMs of admittedAtMs) {
          const inWindow = admittedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000);
          expect(inWindow.length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('names the first moment at which a request fits: a millisecond earlier it does not', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 15 }), gaps, (limit, gapsMs) => {
        let [item, nowMs]: [Item, number] = [{}, startMs];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const { item: after, retryAfterMs } = request(item, limit, nowMs);
          item = after;
          if (retryAfterMs === undefined) continue;
          expect(retryAfterMs).toBeGreaterThan(0);
          expect(retryAfterMs).toBeLessThanOrEqual(60_000);
          expect(request(item, limit, nowMs + retryAfterMs - 1).retryAfterMs).toBe(1);
          expect(request(item, limit, nowMs + retryAfterMs).retryAfterMs).toBeUndefined();
        }
      }),
      { numRuns: 40 },
    );
  });

  it('lets a burst of the whole limit through at once, and again when a minute has passed', () => {
    let item: Item = {};
    const burst = (nowMs: number) =>
      Array.from({ length: 5 }, () => {
        const result = request(item, 3, nowMs);
        item = result.item;
        return result.retryAfterMs;
      });
    expect(burst(startMs + 700)).toEqual([undefined, undefined, undefined, 60_000, 60_000]);
    expect(burst(startMs + 60_699)).toEqual([1, 1, 1, 1, 1]);
    expect(burst(startMs + 60_700)).toEqual([undefined, undefined, undefined, 60_000, 60_000]);
  });

  it('refuses no caller that keeps to an even pace of twelve thirteenths of the limit', () => {
    let item: Item = {};
    for (let sent = 0; sent < 300; sent += 1) {
      const result = request(item, 52, startMs + sent * 1_250);
      expect(result.retryAfterMs).toBeUndefined();
      item = result.item;
    }
  });

  it('is about a dozen numbers at any rate, and forgets what is over', () => {
    let item: Item = {};
    for (let second = 0; second < 200; second += 1) item = request(item, 100_000, startMs + second * 1_000).item;
    const parts = Object.keys(item).filter((name) => name.startsWith('R'));
    expect(parts.length).toBeLessThanOrEqual(14);
    expect(item.requests_total).toBe(200n);
    item = request(item, 100_000, startMs + 400_000).item;
    expect(Object.keys(item).filter((name) => /^[RL]/.test(name))).toHaveLength(2);
  });

  it('counts with an instance whose clock is a little ahead, and does not wait for a clock that jumped', () => {
    const { item } = request({}, 3, startMs + 7_000);
    const full = request(request(item, 3, startMs).item, 3, startMs).item;
    expect(request(full, 3, startMs).retryAfterMs).toBe(60_000);
    const jumped = request({}, 3, startMs + 86_400_000).item;
    expect(request(jumped, 1, startMs).retryAfterMs).toBeUndefined();
  });
});
