// Holds against a model: random takes, bursts, settlements, repetitions, lost answers, deaths and clock jumps in both
// directions. After every step the numbers in the item must add up, and no step may do what the state forbids.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Counter,
  type Hold,
  lateSettlementMs,
  readAmount,
  readHolds,
  settleHold,
  takeHold,
} from '../../shared/accounting/holds/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const limit = 100n;
const leaseMs = 70_000;

interface Model {
  nowMs: number;
  latestMs: number;
  /** Holds whose owner lives and has not been told that it settled. */
  open: Hold[];
  settled: Hold[];
  spent: bigint;
  /** Real costs that no hold covered: all by which the limit may be passed. */
  uncovered: bigint;
  owners: number;
}

class Real {
  readonly counter: Counter;
  constructor(key: string) {
    this.counter = { table: 'ledger', key, balances: [{ attribute: 'balance', limit }], spentAttribute: 'spent' };
  }
  async read() {
    const item = (await test.store.get('ledger', this.counter.key)) ?? {};
    return { balance: readAmount(item.balance), spent: readAmount(item.spent), holds: readHolds(item) };
  }
}

type State = Awaited<ReturnType<Real['read']>>;
const sum = (holds: readonly Hold[]): bigint => holds.reduce((total, { amount }) => total + amount, 0n);

async function checkInvariants(model: Model, real: Real): Promise<void> {
  const { balance, spent, holds } = await real.read();
  expect(balance + sum(holds) + spent).toBe(0n);
  expect(spent).toBe(model.spent);
  expect(limit + balance).toBeGreaterThanOrEqual(-model.uncovered);
  for (const { amount } of holds) expect(amount).toBeGreaterThanOrEqual(0n);
}

const losingStore = (): Store => {
  let isLost = false;
  return {
    ...test.store,
    update: async (update, options) => {
      const result = await test.store.update(update, options);
      if (isLost) return result;
      isLost = true;
      throw new StoreUnavailable(new Error('the answer was lost'));
    },
  };
};

/** What could be held in this state, expired holds given back. */
const reclaimable = ({ balance, holds }: State, nowMs: number): bigint =>
  limit + balance + sum(holds.filter(({ expiresAtMs }) => expiresAtMs <= nowMs));

type Command = fc.AsyncCommand<Model, Real>;

class Take implements Command {
  readonly amounts: readonly bigint[];
  constructor(amounts: readonly bigint[]) {
    this.amounts = amounts;
  }
  check = () => true;
  async run(model: Model, real: Real) {
    const { nowMs } = model;
    const room = reclaimable(await real.read(), nowMs);
    const holds = this.amounts.map((amount) => {
      model.owners += 1;
      return { owner: `o-${model.owners}`, amount, expiresAtMs: nowMs + leaseMs };
    });
    const results = await Promise.all(
      holds.map((hold) => takeHold({ store: test.store, counter: real.counter, hold, nowMs })),
    );
    const taken = holds.filter((_hold, index) => results[index]?.kind === 'taken');
    const refused = holds.filter((_hold, index) => results[index]?.kind === 'insufficient');
    model.open.push(...taken);
    if (taken.length > 0) expect(sum(taken)).toBeLessThanOrEqual(room);
    // Whoever was refused would not fit beside those who were not.
    for (const { amount } of refused) expect(amount).toBeGreaterThan(room - sum(taken));
    await checkInvariants(model, real);
  }
  toString = () => `take(${this.amounts})`;
}

class Settle implements Command {
  readonly pick: number;
  readonly actual: bigint;
  readonly losesAnswer: boolean;
  constructor(pick: number, actual: bigint, losesAnswer: boolean) {
    this.pick = pick;
    this.actual = actual;
    this.losesAnswer = losesAnswer;
  }
  check = ({ open }: Readonly<Model>) => open.length > 0;
  async run(model: Model, real: Real) {
    const { open, nowMs, settled } = model;
    const [hold] = open.splice(this.pick % open.length, 1);
    if (hold === undefined) throw new Error('checked before');
    const before = (await real.read()).holds.find(({ owner }) => owner === hold.owner);
    const request = { counter: real.counter, owner: hold.owner, held: hold.amount, actual: this.actual, nowMs };
    const isDone = before !== undefined;
    if (this.losesAnswer) {
      await expect(settleHold({ ...request, store: losingStore() })).rejects.toThrow(StoreUnavailable);
    }
    const result = await settleHold({ ...request, store: test.store });
    if (isDone) {
      model.spent += this.actual;
      model.uncovered += this.actual > before.amount ? this.actual - before.amount : 0n;
      if (!this.losesAnswer) expect(result).toMatchObject({ kind: 'settled', wasLate: before.amount === 0n });
    } else {
      // Only somebody whose clock stood ten minutes behind this lease may have cleared it away.
      expect(model.latestMs).toBeGreaterThanOrEqual(hold.expiresAtMs + lateSettlementMs);
      expect(result.kind).toBe('gone');
    }
    settled.push(hold);
    await checkInvariants(model, real);
  }
  toString = () => `settle(${this.pick}, ${this.actual}${this.losesAnswer ? ', answer lost' : ''})`;
}

class SettleAgain implements Command {
  readonly pick: number;
  constructor(pick: number) {
    this.pick = pick;
  }
  check = ({ settled }: Readonly<Model>) => settled.length > 0;
  async run(model: Model, real: Real) {
    const hold = model.settled[this.pick % model.settled.length];
    if (hold === undefined) throw new Error('checked before');
    const { counter } = real;
    const request = { counter, owner: hold.owner, held: hold.amount, actual: 50n, nowMs: model.nowMs };
    expect(await settleHold({ ...request, store: test.store })).toEqual({ kind: 'gone' });
    await checkInvariants(model, real);
  }
  toString = () => `settle again(${this.pick})`;
}

class Die implements Command {
  readonly pick: number;
  constructor(pick: number) {
    this.pick = pick;
  }
  check = ({ open }: Readonly<Model>) => open.length > 0;
  async run(model: Model) {
    model.open.splice(this.pick % model.open.length, 1);
  }
  toString = () => `die(${this.pick})`;
}

class MoveClock implements Command {
  readonly byMs: number;
  constructor(byMs: number) {
    this.byMs = byMs;
  }
  check = () => true;
  async run(model: Model) {
    model.nowMs += this.byMs;
    model.latestMs = Math.max(model.latestMs, model.nowMs);
  }
  toString = () => `clock(${this.byMs})`;
}

const amount = fc.bigInt(1n, 70n);
const commands = fc.commands(
  [
    fc.array(amount, { minLength: 1, maxLength: 6 }).map((amounts) => new Take(amounts)),
    fc.tuple(fc.nat(9), fc.bigInt(0n, 80n), fc.boolean()).map((values) => new Settle(...values)),
    fc.nat(9).map((pick) => new SettleAgain(pick)),
    fc.nat(9).map((pick) => new Die(pick)),
    fc.constantFrom(1, 30_000, leaseMs, -leaseMs, lateSettlementMs).map((byMs) => new MoveClock(byMs)),
  ],
  { maxCommands: 30 },
);

it('the numbers of a counter add up after every step, and nobody holds what is not there', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      runs += 1;
      const startMs = 1_800_000_000_000;
      const model = { nowMs: startMs, latestMs: startMs, open: [], settled: [], spent: 0n, uncovered: 0n, owners: 0 };
      const real = new Real(`model-${runs}`);
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      // Whatever happened: once all have died or settled, the next request finds everything that was not spent.
      const end = model.latestMs + leaseMs + lateSettlementMs;
      const hold = { owner: 'last', amount: limit, expiresAtMs: end + leaseMs };
      const last = await takeHold({ store: test.store, counter: real.counter, hold, nowMs: end });
      if (model.spent === 0n) expect(last.kind).toBe('taken');
      else expect(last).toMatchObject({ kind: 'insufficient', available: limit - model.spent });
    }),
    { numRuns: 150 },
  );
});
