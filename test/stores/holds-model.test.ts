// A counter is compared with a plain model: random takes, settlements, repetitions and deaths in several processes with
// skewed clocks, many at once, on a network that loses writes and answers and delivers some writes later. After every
// write of the store, the totals must balance and no write may have exceeded the limit.
//
// Amounts show their owner: beside the amount itself, which counts in units of 2^100, each owner adds a digit of its
// own in base 4. So the numbers in the item show how often each owner's hold and settlement are counted.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type Counter,
  type Counters,
  createCounters,
  type HeldAmount,
  type Hold,
  readAmount,
  readHeldAmounts,
} from '../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import {
  type ConditionalResult,
  type Item,
  type Store,
  StoreUnavailable,
  type Update,
} from '../../shared/storage/store/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

/** An unanswered settlement is sent again for this time. */
const settlementRetryMs = 30_000;

onEachStore((start) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  const unit = 1n << 100n;
  const limit = 100n * unit + unit / 2n;
  const holdLifeMs = 70_000;
  const startMs = 1_800_000_000_000;
  const skewsMs = [0, -2_000, 25_000];

  const digitsOf = (amount: bigint, owners: number): number[] =>
    Array.from({ length: owners }, (_, owner) => Number(((amount % unit) >> BigInt(2 * owner)) & 3n));

  /**
   * The fate of a write. `answered`; `lost`: done, but not answered; `never`: not done; `late`: not answered, and done
   * some time later.
   */
  type Fate = 'answered' | 'lost' | 'never' | 'late';

  interface Owner {
    readonly number: number;
    readonly process: number;
    readonly hold: Hold;
    readonly actual: bigint;
    state: 'asked' | 'taken' | 'refused' | 'settling' | 'settled' | 'dead';
    firstSettledAtMs: number;
  }

  interface State {
    readonly balance: bigint;
    readonly spent: bigint;
    readonly held: readonly HeldAmount[];
  }

  const stateOf = (item: Item): State => ({
    balance: readAmount(item.balance),
    spent: readAmount(item.spent),
    held: readHeldAmounts(item),
  });
  const sumOf = (amounts: readonly HeldAmount[]): bigint => amounts.reduce((sum, { amount }) => sum + amount, 0n);

  class Simulation {
    readonly counter: Counter;
    readonly owners: Owner[] = [];
    readonly states: State[] = [stateOf({})];
    fates: Fate[] = [];
    nowMs = startMs;
    #processes: Counters[];
    #lastRun: Promise<unknown> = Promise.resolve();
    readonly #late: { readonly update: Update; readonly sentAtMs: number }[] = [];

    constructor(key: string) {
      this.counter = { table: 'ledger', key, balances: [{ attribute: 'balance', limit }], spentAttribute: 'spent' };
      this.#processes = skewsMs.map((_skew, index) => this.#start(index));
    }

    #start(index: number): Counters {
      const clock = { nowMs: () => this.nowMs + (skewsMs[index] ?? 0), after: () => () => {} };
      const store: Store = { ...test.store, update: (update) => this.#send(update) };
      return createCounters({ store, clock, randomness: systemRandomness });
    }

    async #send(update: Update): Promise<ConditionalResult> {
      const fate = this.fates.shift() ?? 'answered';
      if (fate === 'late') this.#late.push({ update, sentAtMs: this.nowMs });
      const result = fate === 'answered' || fate === 'lost' ? await this.#run(update) : undefined;
      if (fate === 'answered' && result !== undefined) return result;
      throw new StoreUnavailable(new Error(fate));
    }

    /** Runs updates one after the other, so that their order is known. */
    #run(update: Update): Promise<ConditionalResult> {
      const result = this.#lastRun.then(async () => {
        const done = await test.store.update({ ...update, returnsNoItem: false });
        if (done.kind === 'written') this.#check(stateOf(done.item ?? {}));
        return update.returnsNoItem === true && done.kind === 'written' ? { ...done, item: undefined } : done;
      });
      this.#lastRun = result.catch(() => {});
      return result;
    }

    /** Delivers late writes. A write is under way for seconds, but not for longer than a settlement is repeated. */
    async deliverLate(): Promise<void> {
      for (const { update, sentAtMs } of this.#late.splice(0)) {
        if (this.nowMs - sentAtMs <= settlementRetryMs) await this.#run(update);
      }
    }

    #check(state: State): void {
      const former = this.states.at(-1) as State;
      this.states.push(state);
      expect(state.balance + sumOf(state.held) + state.spent).toBe(0n);
      for (const { amount } of state.held) expect(amount).toBeGreaterThanOrEqual(0n);
      const count = this.owners.length;
      const [held, spent] = [digitsOf(sumOf(state.held), count), digitsOf(state.spent, count)];
      const formerAmount = digitsOf(sumOf(former.held), count);
      for (const owner of this.owners) {
        const { number, state: of } = owner;
        if (of === 'asked' || of === 'taken' || of === 'refused') expect(spent[number]).toBe(0);
        if (of === 'settled') expect(spent[number]).toBe(1);
        expect(spent[number]).toBeLessThanOrEqual(1);
        const mayBeOver = owner.hold.expiresAtMs <= this.nowMs + Math.max(...skewsMs);
        if (of === 'taken' && !mayBeOver) expect(held[number]).toBeGreaterThanOrEqual(1);
        // The first answer was that of its settlement, so at most a repeated take may be left.
        expect(held[number]).toBeLessThanOrEqual(2);
      }
      const isTake = held.some((digit, owner) => digit > (formerAmount[owner] ?? 0));
      if (isTake) expect(limit + state.balance).toBeGreaterThanOrEqual(0n);
    }

    /** Returns the amount that a further hold could take in a state, by the clock of a process. */
    #availableIn({ balance, held }: State, process: number): bigint {
      const atMs = this.nowMs + (skewsMs[process] ?? 0);
      return limit + balance + sumOf(held.filter(({ expiresAtMs }) => expiresAtMs <= atMs));
    }

    async take(process: number, units: bigint, actualUnits: bigint): Promise<void> {
      const number = this.owners.length;
      const id = 1n << BigInt(2 * number);
      const expiresAtMs = this.nowMs + (skewsMs[process] ?? 0) + holdLifeMs;
      const hold = { owner: `o-${number}`, amount: units * unit + id, expiresAtMs };
      const owner: Owner = {
        number,
        process,
        hold,
        actual: actualUnits * unit + id,
        state: 'asked',
        firstSettledAtMs: 0,
      };
      this.owners.push(owner);
      const from = this.states.length - 1;
      try {
        const result = await this.#process(process).take(this.counter, hold);
        if (owner.state === 'dead') return;
        owner.state = result.kind === 'taken' ? 'taken' : 'refused';
        // A take is refused only if it did not fit at some moment between the request and the answer.
        const wasShort = this.states.slice(from).some((state) => this.#availableIn(state, process) < hold.amount);
        if (result.kind === 'insufficient') expect(wasShort).toBe(true);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        owner.state = 'dead';
      }
    }

    async settle(owner: Owner): Promise<void> {
      if (owner.state === 'taken') owner.firstSettledAtMs = this.nowMs;
      owner.state = 'settling';
      try {
        await this.#process(owner.process).settle(this.counter, owner.hold, owner.actual);
        owner.state = 'settled';
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }

    /** Ends a process, and another one takes its place; unsettled holds stay until their lease ends. */
    die(process: number): void {
      this.#processes = this.#processes.map((counters, index) => (index === process ? this.#start(index) : counters));
      for (const owner of this.owners) {
        if (owner.process === process && owner.state !== 'settled' && owner.state !== 'refused') owner.state = 'dead';
      }
    }

    readonly #process = (index: number): Counters => this.#processes[index] as Counters;

    async end(): Promise<void> {
      this.fates = [];
      await this.deliverLate();
      const inTime = ({ firstSettledAtMs }: Owner) => this.nowMs - firstSettledAtMs < settlementRetryMs;
      const unsettled = this.owners.filter((owner) => owner.state === 'settling' && inTime(owner));
      await Promise.all(unsettled.map((owner) => this.settle(owner)));
      for (const { state } of unsettled) expect(state).toBe('settled');
      this.nowMs += 2 * holdLifeMs;
      // Any process releases expired holds.
      await this.#process(0).releaseExpired(this.counter);
      const { balance, spent } = stateOf((await test.store.get('ledger', this.counter.key)) ?? {});
      expect(balance).toBe(-spent);
      const digits = digitsOf(spent, this.owners.length);
      for (const { number, state } of this.owners) if (state === 'settled') expect(digits[number]).toBe(1);
    }
  }

  type Step =
    | { readonly kind: 'burst'; readonly acts: readonly Act[]; readonly fates: readonly Fate[] }
    | { readonly kind: 'wait'; readonly ms: number }
    | { readonly kind: 'deliver' }
    | { readonly kind: 'die'; readonly process: number };
  type Act =
    | { readonly kind: 'take'; readonly process: number; readonly units: bigint; readonly actual: bigint }
    | { readonly kind: 'settle' | 'repeat'; readonly pick: number };

  const process = fc.nat(skewsMs.length - 1);
  const act: fc.Arbitrary<Act> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('take' as const),
        process,
        units: fc.bigInt(1n, 60n),
        actual: fc.bigInt(0n, 70n),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), pick: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), pick: fc.nat(30) }) },
  );
  const fate = fc.constantFrom<Fate>('answered', 'answered', 'answered', 'lost', 'never', 'late');
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('burst' as const),
        acts: fc.array(act, { minLength: 1, maxLength: 6 }),
        fates: fc.array(fate, { maxLength: 5 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        ms: fc.constantFrom(1_000, 20_000, 50_000, holdLifeMs),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'deliver' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), process }) },
  );

  /** Each owner needs 2 of the 100 bits below the unit. */
  const ownersMax = 45;

  async function run(simulation: Simulation, { kind, ...of }: Step): Promise<void> {
    const now = of as never as Extract<Step, { kind: 'burst' }> & { ms: number; process: number };
    if (kind === 'wait') simulation.nowMs += now.ms;
    if (kind === 'deliver') await simulation.deliverLate();
    if (kind === 'die') simulation.die(now.process);
    if (kind !== 'burst') return;
    simulation.fates = [...now.fates];
    const started = now.acts.map((each) => {
      if (each.kind === 'take') {
        return simulation.owners.length < ownersMax
          ? simulation.take(each.process, each.units, each.actual)
          : undefined;
      }
      const { owners, nowMs } = simulation;
      const open = owners.filter(({ state, firstSettledAtMs }) =>
        each.kind === 'settle'
          ? state === 'taken'
          : state === 'settled' || (state === 'settling' && nowMs - firstSettledAtMs < settlementRetryMs - 10_000),
      );
      const owner = open[each.pick % Math.max(open.length, 1)];
      if (owner === undefined) return undefined;
      return simulation.settle(owner);
    });
    await Promise.all(started);
  }

  it('the books of a counter balance after every write, its limit holds, and every settlement counts once', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        runs += 1;
        const simulation = new Simulation(`model-${runs}`);
        for (const each of steps) await run(simulation, each);
        await simulation.end();
      }),
      { numRuns: 30 },
    );
  });

  // Holds on a real engine, because a fake cannot show the result of many simultaneous takes.
  describe('a counter', () => {
    let test: TestStore;
    beforeAll(async () => {
      test = await start();
    });
    afterAll(() => test.stop());

    const holdLifeMs = 70_000;

    /**
     * Returns a counter of its own for each test, with the limit outside the item; `process` opens another gateway
     * process on it.
     */
    function counterOf(key: string, limit: bigint | null, store: Store = test.store) {
      const clock = manualClock();
      const counterWith = (of: bigint | null): Counter => ({
        table: 'ledger',
        key,
        balances: [{ attribute: 'balance', limit: of }],
        spentAttribute: 'spent',
      });
      const process = (on: Store = store) => {
        const counters = createCounters({ store: on, clock, randomness: systemRandomness });
        const holds = new Map<string, { owner: string; amount: bigint; expiresAtMs: number }>();
        return {
          take(owner: string, amount: bigint, of = limit) {
            const hold = { owner, amount, expiresAtMs: clock.nowMs() + holdLifeMs };
            holds.set(owner, hold);
            return counters.take(counterWith(of), hold);
          },
          settle(owner: string, actual: bigint) {
            const hold = holds.get(owner) ?? { owner, amount: 1n, expiresAtMs: clock.nowMs() + holdLifeMs };
            return counters.settle(counterWith(limit), hold, actual);
          },
        };
      };
      const item = async (): Promise<Item> => (await test.store.get('ledger', key)) ?? {};
      const state = async () => {
        const { balance = 0, spent = 0, ...rest } = await item();
        const held = readHeldAmounts(rest).reduce((sum, { amount }) => sum + amount, 0n);
        return { balance: BigInt(balance as number), spent: BigInt(spent as number), held };
      };
      return { clock, process, item, state, ...process() };
    }

    it('that settles leaves a mark that the next write of its process removes, or any process once it is old', async () => {
      const { process, item, clock } = counterOf('marks', 100n);
      const marks = async () =>
        Object.values(await item()).flatMap((value) => (value instanceof Set ? [...value] : []));
      const first = process();
      for (let round = 1; round <= 3; round += 1) {
        await first.take(`a-${round}`, 1n);
        expect(await marks()).toHaveLength(0);
        await first.settle(`a-${round}`, 1n);
        expect(await marks()).toHaveLength(1);
      }
      const second = process();
      await second.take('b', 1n);
      expect(await marks()).toHaveLength(1);
      clock.advance(110_000);
      await second.take('c', 1n);
      expect(await marks()).toHaveLength(0);
    });

    it('whose amount is zero or negative, or whose owner is no id, is refused, and nothing is written', async () => {
      const { take, settle, item } = counterOf('amounts', 10n);
      for (const amount of [0n, -1n]) await expect(take('a', amount)).rejects.toThrow(RangeError);
      await expect(take('a#b', 1n)).rejects.toThrow(RangeError);
      await expect(settle('a', -1n)).rejects.toThrow(RangeError);
      expect(await item()).toEqual({});
    });

    describe('the hold of a dead owner', () => {
      it('is released by a settlement that meets it, so that nothing waits for a shortage', async () => {
        const { clock, take, settle, state, item } = counterOf('healed', 100n);
        await take('dead', 10n);
        clock.advance(holdLifeMs);
        await take('me', 20n);
        await settle('me', 5n);
        expect(await state()).toEqual({ balance: -5n, held: 0n, spent: 5n });
        clock.advance(holdLifeMs);
        await take('later', 20n);
        await settle('later', 5n);
        expect(readHeldAmounts(await item())).toEqual([{ amount: 0n, expiresAtMs: clock.nowMs() + holdLifeMs }]);
      });
    });

    describe('a longer lease', () => {
      it('keeps its holds in as many buckets, so that they come back within a fifteenth of it', async () => {
        const clock = manualClock();
        const longMs = 855_000;
        const counters: Counters = createCounters({
          store: test.store,
          clock,
          randomness: systemRandomness,
          holdLifeMs: longMs,
        });
        const counter: Counter = {
          table: 'ledger',
          key: 'long-lease',
          balances: [{ attribute: 'balance', limit: 100n }],
        };
        for (let second = 0; second < 855; second += 15) {
          await counters.take(counter, { owner: `o-${second}`, amount: 1n, expiresAtMs: clock.nowMs() + longMs });
          clock.advance(15_000);
        }
        expect(readHeldAmounts((await test.store.get('ledger', 'long-lease')) ?? {}).length).toBeLessThanOrEqual(16);
        clock.advance(longMs + longMs / 15);
        const hold = { owner: 'next', amount: 100n, expiresAtMs: clock.nowMs() + longMs };
        expect((await counters.take(counter, hold)).kind).toBe('taken');
      });
    });
  });
});
