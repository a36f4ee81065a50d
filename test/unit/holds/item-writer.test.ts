// Requests for one item gather while a write is under way; the store answers when the test says so.
import { describe, expect, it } from '#jest';
import { type Counter, createCounters } from '../../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import {
  type ConditionalResult,
  type Item,
  StoreUnavailable,
  type Update,
} from '../../../shared/storage/store/index.ts';
import { gatheredWrite } from '../../support/gathered-write.ts';
import { manualClock } from '../../support/manual-clock.ts';

const queueWaitMaxMs = 10_000;

const counter = (limit: bigint, key = 'unit'): Counter => ({
  table: 'ledger',
  key,
  balances: [{ attribute: 'b', limit }],
  spentAttribute: 's',
});

interface AskedChange {
  readonly update: Update | undefined;
  answer(result: ConditionalResult): void;
  fail(): void;
}

interface StartOptions {
  readonly gatherMs?: () => number;
  readonly sharesCharges?: boolean;
}

function start({ gatherMs, sharesCharges = false }: StartOptions = {}) {
  const clock = manualClock();
  const changes: AskedChange[] = [];
  const ask = <Result>(update: Update | undefined, read: (result: ConditionalResult) => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      changes.push({
        update,
        answer: (result) => resolve(read(result)),
        fail: () => reject(new StoreUnavailable(new Error('no answer'))),
      });
    });
  const store = {
    get: () => ask(undefined, ({ item }) => item),
    update: (update: Update) => ask(update, (result) => result),
  };
  const gathering = gatherMs && { clock, gatherMs };
  const counters = createCounters({ store, clock, randomness: systemRandomness, gathering, sharesCharges });
  let owners = 0;
  const take = (amount: bigint, limit = 100n, key?: string) => {
    owners += 1;
    const hold = { owner: `o-${owners}`, amount, expiresAtMs: clock.nowMs() + 70_000 };
    return { hold, result: counters.take(counter(limit, key), hold) };
  };
  const kindOf = (result: Promise<{ kind: string }>) =>
    result.then(
      ({ kind }) => kind,
      (error: Error) => String((error.cause as Error).message),
    );
  return { clock, changes, counters, take, kindOf };
}

const writtenResult = (item?: Item): ConditionalResult => ({ kind: 'written', item });
const refusedResult = (item: Item): ConditionalResult => ({ kind: 'refused', item });

/** Returns the amount that an update takes from the balance. */
const takenBy = ({ update }: AskedChange): bigint => -BigInt(update?.changes.add?.b ?? 0);
const addedNames = ({ update }: AskedChange): string[] => Object.keys(update?.changes.add ?? {});

describe('requests that want one item', () => {
  it('alone are written at once, and those that come meanwhile, or in the turn of its answer, share the next write', async () => {
    const { changes, take, kindOf } = start();
    const first = kindOf(take(1n).result);
    expect(changes.map(takenBy)).toEqual([1n]);
    const others = Array.from({ length: 999 }, () => kindOf(take(1n, 10_000n).result));
    await gatheredWrite();
    expect(changes).toHaveLength(1);
    changes[0]?.answer(writtenResult({ b: -1n }));
    // The caller gets the result at once, and calls that follow in the same turn of the event loop still join the next
    // write.
    expect(await first).toBe('taken');
    others.push(kindOf(take(1n, 10_000n).result));
    expect(changes).toHaveLength(1);
    await gatheredWrite();
    expect(changes.map(takenBy)).toEqual([1n, 1_000n]);
    changes[1]?.answer(writtenResult({ b: -1_001n }));
    expect(new Set(await Promise.all(others))).toEqual(new Set(['taken']));
    expect(changes).toHaveLength(2);
  });

  it('are served in their order, and the rest refused with the numbers that are left, without another write', async () => {
    const { changes, take, kindOf } = start();
    const first = take(10n);
    const results = [40n, 30n, 50n, 20n, 1n].map((amount) => take(amount).result);
    changes[0]?.answer(writtenResult({ b: -10n }));
    await gatheredWrite();
    // 90 are left: 40 and 30 fit, 50 does not, 20 does.
    expect(changes.map(takenBy)).toEqual([10n, 90n]);
    changes[1]?.answer(writtenResult({ b: -100n }));
    expect((await first.result).kind).toBe('taken');
    const answers = await Promise.all(results);
    expect(answers.map(({ kind }) => kind)).toEqual(['taken', 'taken', 'insufficient', 'taken', 'insufficient']);
    expect(answers[2]).toMatchObject({ available: 0n });
    expect(changes).toHaveLength(2);
    await Promise.all(results.map(kindOf));
  });

  it('of which none fits cost one look, not one each', async () => {
    const { changes, take } = start();
    const first = take(100n);
    changes[0]?.answer(writtenResult({ b: -100n }));
    await first.result;
    const results = Array.from({ length: 50 }, () => take(5n).result);
    expect(changes).toHaveLength(2);
    // The next answer decides about requests that came after the write was sent.
    changes[1]?.answer(writtenResult({ b: -100n }));
    await gatheredWrite();
    changes[2]?.answer(writtenResult({ b: -100n }));
    const kinds = new Set((await Promise.all(results)).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['insufficient']));
    expect(changes).toHaveLength(3);
    expect(changes.slice(1).map(({ update }) => update)).toEqual([undefined, undefined]);
  });

  it('go together with settlements, under one mark, which the next write deletes', async () => {
    const { changes, counters, take } = start();
    const holds = [take(10n), take(20n)];
    const bucket = addedNames(changes[0] as AskedChange).find((name) => name.startsWith('H')) ?? '';
    changes[0]?.answer(writtenResult({ b: -10n, [bucket]: 10n }));
    await gatheredWrite();
    changes[1]?.answer(writtenResult());
    await Promise.all(holds.map(({ result }) => result));
    const blocking = take(1n);
    const settlements = holds.map(({ hold }) => counters.settle(counter(100n), hold, 3n));
    const more = take(4n);
    changes[2]?.answer(writtenResult());
    await gatheredWrite();
    expect(changes).toHaveLength(4);
    // 27 are released, 6 of them were spent, and 4 are taken.
    expect(takenBy(changes[3] as AskedChange)).toBe(-(30n - 6n) + 4n);
    const mark = Object.values(changes[3]?.update?.changes.addElements ?? {});
    expect(mark).toEqual([new Set([expect.any(String)])]);
    expect(changes[3]?.update?.repeatable).toBe(false);
    changes[3]?.answer(writtenResult());
    await Promise.all([blocking.result, more.result, ...settlements]);
    void take(1n);
    expect(Object.values(changes[4]?.update?.changes.removeElements ?? {})).toEqual(mark);
  });
});

describe('a request', () => {
  it('is refused when it has waited ten seconds in the process', async () => {
    const { changes, take, kindOf, clock } = start();
    const first = kindOf(take(1n).result);
    const second = kindOf(take(1n).result);
    // The process was busy with other work when the answer came.
    clock.advance(queueWaitMaxMs + 1);
    changes[0]?.answer(writtenResult({ b: -1n }));
    expect(await Promise.all([first, second])).toEqual(['taken', 'waited 10000 ms in the process for its turn']);
    expect(changes).toHaveLength(1);
  });

  it('is served when it waited for less, however long the store may take for an admission', async () => {
    const { changes, take, kindOf, clock } = start();
    void take(1n);
    const second = kindOf(take(1n).result);
    clock.advance(queueWaitMaxMs);
    changes[0]?.answer(writtenResult({ b: -1n }));
    await gatheredWrite();
    changes[1]?.answer(refusedResult({ b: -1n }));
    await gatheredWrite();
    changes[2]?.answer(writtenResult({ b: -2n }));
    expect(await second).toBe('taken');
  });

  it('is refused within two seconds of a store that does not answer, though others were before it', async () => {
    const { changes, take, kindOf, clock } = start();
    const first = kindOf(take(1n).result);
    clock.advance(1);
    const second = kindOf(take(1n).result);
    clock.advance(799);
    changes[0]?.fail();
    await gatheredWrite();
    clock.advance(800);
    changes[1]?.fail();
    expect(await Promise.all([first, second])).toEqual(['no answer', 'no answer']);
    expect(changes).toHaveLength(2);
  });

  it('beside a settlement whose write is not answered is sent again without it, once', async () => {
    const { changes, counters, take, kindOf, clock } = start();
    const reservation = take(10n);
    changes[0]?.answer(writtenResult({ b: -10n }));
    await reservation.result;
    const blocking = take(1n);
    const settlement = kindOf(counters.settle(counter(100n), reservation.hold, 3n));
    const beside = kindOf(take(5n).result);
    changes[1]?.answer(writtenResult({ b: -11n }));
    await blocking.result;
    await gatheredWrite();
    expect(changes[2]?.update?.changes).toHaveProperty('addElements');
    clock.advance(800);
    changes[2]?.fail();
    expect(await settlement).toBe('no answer');
    await gatheredWrite();
    expect(changes[3]?.update?.changes).not.toHaveProperty('addElements');
    expect(takenBy(changes[3] as AskedChange)).toBe(5n);
    clock.advance(800);
    changes[3]?.fail();
    expect(await beside).toBe('no answer');
  });

  it('are answered without the item if a look of the last second knows it, and go by what they have made of it', async () => {
    const { clock, changes, counters, take } = start();
    const first = take(10n);
    const bucket = addedNames(changes[0] as AskedChange).find((name) => name.startsWith('H')) ?? '';
    changes[0]?.answer(writtenResult({ b: -10n, [bucket]: 10n }));
    await first.result;
    const settlement = counters.settle(counter(100n), first.hold, 3n);
    changes[1]?.answer(writtenResult());
    expect(await settlement).toMatchObject({ kind: 'settled', wasLate: false, item: { b: -3, s: 3, [bucket]: 0 } });
    const second = take(95n);
    changes[2]?.answer(writtenResult());
    expect((await second.result).kind).toBe('taken');
    // Two are left as far as the process knows, and only the store may refuse.
    const third = take(3n);
    expect(changes.map(({ update }) => update?.returnsNoItem)).toEqual([false, true, true, undefined]);
    changes[3]?.answer(writtenResult({ b: -40n, [bucket]: 37n }));
    await gatheredWrite();
    clock.advance(1_000);
    changes[4]?.answer(writtenResult());
    expect((await third.result).kind).toBe('taken');
    void take(1n);
    expect(changes.slice(4).map(({ update }) => update?.returnsNoItem)).toEqual([true, false]);
  });

  it('and settlements that no caller waits for wait for the next one with a caller', async () => {
    const { changes, counters, take } = start({ gatherMs: () => 50 });
    const first = take(10n);
    changes[0]?.answer(writtenResult({ b: -10n }));
    await first.result;
    const settlement = counters.settle(counter(100n), first.hold, 4n, { isAwaited: false });
    await gatheredWrite();
    expect(changes).toHaveLength(1);
    const second = take(20n);
    expect(changes).toHaveLength(2);
    changes[1]?.answer(writtenResult());
    expect([(await settlement).kind, (await second.result).kind]).toEqual(['settled', 'taken']);
    const awaited = counters.settle(counter(100n), second.hold, 5n);
    changes[2]?.answer(writtenResult());
    expect((await awaited).kind).toBe('settled');
  });

  it('that settles is reported as written once, even if another of the same unanswered write has asked again first', async () => {
    const { changes, counters, take, kindOf } = start();
    const holds = [take(10n), take(20n)];
    changes[0]?.answer(writtenResult({ b: -10n }));
    await gatheredWrite();
    changes[1]?.answer(writtenResult({ b: -30n }));
    await Promise.all(holds.map(({ result }) => result));
    const blocking = take(1n);
    const settle = ({ hold }: (typeof holds)[number]) => kindOf(counters.settle(counter(100n), hold, 3n));
    const unanswered = holds.map(settle);
    changes[2]?.answer(writtenResult({ b: -31n }));
    await blocking.result;
    await gatheredWrite();
    changes[3]?.fail();
    expect(await Promise.all(unanswered)).toEqual(['no answer', 'no answer']);
    const [first, second] = holds as [(typeof holds)[0], (typeof holds)[0]];
    const again = settle(second);
    changes[4]?.answer(writtenResult({ b: -7n }));
    expect(await again).toBe('settled');
    expect(await settle(first)).toBe('settled');
    expect(await Promise.all(holds.map(settle))).toEqual(['gone', 'gone']);
    expect(changes).toHaveLength(5);
  });

  it('that other writers always precede is given up after ten writes', async () => {
    const { changes, take, kindOf } = start();
    const kind = kindOf(take(1n).result);
    for (let write = 0; write < 10; write += 1) {
      changes[write]?.answer(refusedResult({ b: 0n }));
      await gatheredWrite();
    }
    expect(await kind).toBe('other writes came first in every try');
    expect(changes).toHaveLength(10);
  });
});

describe('spending of a key that nothing limits', () => {
  const known = { secret_sha256: 'f' };
  const spentBy = ({ update }: AskedChange) => update?.changes.add?.spent_pico_usd;

  it('is written at once by a call that comes alone, and by one write for all that end in the second after it', async () => {
    const { clock, changes, counters } = start({ sharesCharges: true });
    const ended: string[] = [];
    const charge = (owner: string, publicId = 'k', amount = 2n) =>
      counters.chargeKey({ publicId, owner, known }, amount).then(() => ended.push(owner));
    void charge('a');
    expect(changes.map(spentBy)).toEqual([2n]);
    changes[0]?.answer(writtenResult(known));
    await gatheredWrite();
    expect(ended).toEqual(['a']);
    for (const owner of ['b', 'c', 'd']) void charge(owner);
    void charge('nothing', 'k', 0n);
    void charge('e', 'another');
    await gatheredWrite();
    clock.advance(999);
    expect(changes.map(spentBy)).toEqual([2n, 2n]);
    clock.advance(1);
    await gatheredWrite();
    expect(changes.map(spentBy)).toEqual([2n, 2n, 6n]);
    changes[2]?.answer(writtenResult(known));
    await gatheredWrite();
    expect(ended).toEqual(['a', 'nothing', 'b', 'c', 'd']);
  });

  it('counts once if its write was made and not answered, and waits for no second in a function', async () => {
    const { changes, clock, counters } = start();
    const charge = counters.chargeKey({ publicId: 'k', owner: 'a', known }, 2n);
    changes[0]?.fail();
    await gatheredWrite();
    clock.advance(1_000);
    await gatheredWrite();
    const mark = (change: AskedChange | undefined) => JSON.stringify([change?.update?.condition]);
    expect(changes.map(spentBy)).toEqual([2n, 2n]);
    expect(mark(changes[1])).toBe(mark(changes[0]));
    changes[1]?.answer(refusedResult({ ...known, ...changes[0]?.update?.changes.addElements }));
    await charge;
    void counters.chargeKey({ publicId: 'k', owner: 'b', known }, 3n);
    await gatheredWrite();
    expect(changes.map(spentBy)).toEqual([2n, 2n, 3n]);
  });
});
