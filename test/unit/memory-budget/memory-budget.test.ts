import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { createMemoryBudget } from '../../../shared/protocol/memory-budget/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

const kib = 1024;
const maxBytes = 1_200 * kib;
/** Of large calls: two thirds, and half of that for a key. */
const largeMaxBytes = 800 * kib;

function openBudget() {
  const clock = manualClock();
  const budget = createMemoryBudget(clock, { maxBytes });
  /** Outcome of a reservation: at once, later, or the code of its refusal. */
  const reserve = (memory: ReturnType<typeof budget.open>, bytes: number) => {
    const waits = memory.reserve(bytes);
    const outcome = { value: waits === undefined ? 'at once' : 'waits' };
    void waits?.then(
      () => (outcome.value = 'later'),
      (error: GatewayError) => (outcome.value = error.code),
    );
    return outcome;
  };
  const callOf = (keyId: string) => {
    const memory = budget.open();
    memory.nameKey(keyId);
    return memory;
  };
  return { clock, budget, reserve, callOf };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what a call keeps', () => {
  it('is counted until it is released, and no longer than the call', () => {
    const { budget } = openBudget();
    const memory = budget.open();
    expect(memory.reserve(100)).toBe(undefined);
    memory.release(30);
    expect(budget.bytesInUse()).toBe(70);
    memory.release(1_000);
    expect(budget.bytesInUse()).toBe(0);
    void memory.reserve(100);
    memory.end();
    void memory.reserve(50);
    memory.release(10);
    expect(budget.bytesInUse()).toBe(0);
  });

  it('that does not fit waits for what others release, in its turn', async () => {
    const { reserve, callOf } = openBudget();
    const first = callOf('a');
    reserve(first, 400 * kib);
    reserve(callOf('b'), 300 * kib);
    const large = reserve(callOf('c'), 300 * kib);
    // It would fit, but waits behind an earlier one.
    const behind = reserve(callOf('d'), 100 * kib);
    expect([large.value, behind.value]).toEqual(['waits', 'waits']);
    first.release(390 * kib);
    await settled();
    expect([large.value, behind.value]).toEqual(['later', 'later']);
  });

  it('is refused after a second and a half without room, and waits for nothing more', async () => {
    const { clock, budget, reserve, callOf } = openBudget();
    const first = callOf('a');
    reserve(first, 700 * kib);
    const refused = reserve(callOf('b'), 200 * kib);
    clock.advance(1_499);
    await settled();
    expect(refused.value).toBe('waits');
    clock.advance(1);
    await settled();
    expect(refused.value).toBe('RATE_LIMITER_UNAVAILABLE');
    first.end();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('waits in a bounded line', async () => {
    const { reserve, callOf } = openBudget();
    reserve(callOf('a'), largeMaxBytes);
    const waiting = Array.from({ length: 1_025 }, () => reserve(callOf('b'), 65 * kib));
    await settled();
    expect(waiting.map(({ value }) => value)).toEqual([...new Array(1_024).fill('waits'), 'RATE_LIMITER_UNAVAILABLE']);
  });

  it('stands in no small call’s way, however much large ones keep or want', () => {
    const { reserve, callOf } = openBudget();
    for (let call = 0; call < 100; call += 1) reserve(callOf(`key ${call}`), 300 * kib);
    const small = Array.from({ length: 6 }, () => reserve(callOf('key 1'), 64 * kib));
    expect(small.map(({ value }) => value)).toEqual(new Array(6).fill('at once'));
  });

  it('by the large calls of one key is half of what large calls may: others are served beside it', () => {
    const { reserve, callOf } = openBudget();
    const own = [200, 200, 100].map((size) => reserve(callOf('a'), size * kib).value);
    expect(own).toEqual(['at once', 'at once', 'waits']);
    expect([reserve(callOf('b'), 200 * kib).value, reserve(callOf('c'), 200 * kib).value]).toEqual([
      'at once',
      'at once',
    ]);
  });

  it('may be larger than its share where nothing else large is kept', async () => {
    const { reserve, callOf } = openBudget();
    const first = callOf('a');
    expect(reserve(first, 5_000 * kib).value).toBe('at once');
    const other = reserve(callOf('b'), 100 * kib);
    expect(other.value).toBe('waits');
    first.end();
    await settled();
    expect(other.value).toBe('later');
  });

  it('counts to nothing in the end, whatever was reserved, released and refused', async () => {
    const step = fc.record({
      call: fc.nat({ max: 9 }),
      kind: fc.constantFrom(
        'reserve' as const,
        'reserve' as const,
        'release' as const,
        'end' as const,
        'pass' as const,
      ),
      bytes: fc.oneof(fc.nat({ max: 60 * kib }), fc.nat({ max: 500 * kib })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, budget, reserve, callOf } = openBudget();
        const calls = Array.from({ length: 10 }, (_none, at) => callOf(`key ${at % 3}`));
        const outcomes: { value: string }[] = [];
        for (const { call, kind, bytes } of steps) {
          const memory = calls[call];
          if (memory === undefined) continue;
          if (kind === 'reserve') outcomes.push(reserve(memory, bytes));
          else if (kind === 'release') memory.release(bytes);
          else if (kind === 'end') memory.end();
          else clock.advance(bytes / 100);
          await settled();
          expect(budget.bytesInUse()).toBeGreaterThanOrEqual(0);
          expect(budget.bytesInUse()).toBeLessThanOrEqual(maxBytes);
        }
        clock.advance(2_000);
        await settled();
        expect(outcomes.filter(({ value }) => value === 'waits')).toEqual([]);
        for (const memory of calls) memory.end();
        expect(budget.bytesInUse()).toBe(0);
        // All of it is free again.
        expect(reserve(callOf('key 1'), largeMaxBytes).value).toBe('at once');
      }),
      { numRuns: 50 },
    );
  });
});

describe('what large calls let go', () => {
  const mib = 1024 * kib;
  it('is collected once it is much, and twice once it is quiet; what small calls let go never is', async () => {
    const clock = manualClock();
    let collections = 0;
    const budget = createMemoryBudget(clock, { collect: () => (collections += 1) });
    const use = async (bytes: number) => {
      const memory = budget.open();
      await memory.reserve(bytes);
      memory.end();
    };
    for (let calls = 0; calls < 2_000; calls += 1) await use(60 * kib);
    clock.advance(60_000);
    expect(collections).toBe(0);
    await use(63 * mib);
    expect(collections).toBe(0);
    await use(mib);
    expect(collections).toBe(1);
    clock.advance(4_999);
    expect(collections).toBe(1);
    clock.advance(60_000);
    expect(collections).toBe(3);
  });
});

describe('an answer that stands unread', () => {
  function openUnread() {
    const opened = openBudget();
    const ended: string[] = [];
    const stand = (name: string, bytes: number, memory = opened.budget.open()) => {
      memory.standStill(bytes, () => ended.push(name));
      return memory;
    };
    return { ...opened, ended, stand };
  }

  it('is counted where its call keeps less, once, and until it is read, also behind the end of its call', () => {
    const { budget, callOf, stand } = openUnread();
    const memory = callOf('a');
    void memory.reserve(40 * kib);
    stand('a', 30 * kib, memory);
    expect(budget.bytesInUse()).toBe(40 * kib);
    memory.keepOnly(10 * kib);
    expect(budget.bytesInUse()).toBe(30 * kib);
    memory.end();
    expect(budget.bytesInUse()).toBe(30 * kib);
    memory.moveOn();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('ends where all that stand are more than a third, the one that stood longest; one that is read does not, nor one alone', () => {
    const { ended, stand } = openUnread();
    const first = stand('first', 150 * kib);
    stand('second', 150 * kib);
    first.moveOn();
    stand('first', 150 * kib, first);
    expect(ended).toEqual([]);
    const third = stand('third', 150 * kib);
    expect(ended).toEqual(['second']);
    first.moveOn();
    third.moveOn();
    stand('alone', 900 * kib);
    expect(ended).toEqual(['second']);
  });

  it('ends once it has stood for half a second where a call waits for its bytes, and no more than that call needs', async () => {
    const { clock, ended, stand, callOf, reserve } = openUnread();
    const [first, second] = [stand('first', 130 * kib), stand('second', 130 * kib)];
    void callOf('a').reserve(390 * kib);
    const waiting = reserve(callOf('b'), 250 * kib);
    const small = reserve(callOf('c'), 60 * kib);
    clock.advance(499);
    expect([ended, waiting.value, small.value]).toEqual([[], 'waits', 'at once']);
    clock.advance(1);
    expect(ended).toEqual(['first']);
    first.moveOn();
    await settled();
    expect(waiting.value).toBe('later');
    clock.advance(5_000);
    expect(ended).toEqual(['first']);
    second.moveOn();
  });

  it('ends at once where it has stood so long already, and its client, its call, or one that is of no use does not', () => {
    const { clock, ended, stand, callOf, reserve } = openUnread();
    stand('small', 20 * kib);
    stand('old', 150 * kib);
    const reading = stand('reading', 150 * kib);
    clock.advance(500);
    reading.moveOn();
    stand('reading', 150 * kib, reading);
    void callOf('a').reserve(390 * kib);
    expect(ended).toEqual([]);
    expect(reserve(callOf('b'), 250 * kib).value).toBe('waits');
    expect(ended).toEqual(['old']);
  });

  it('of another key does not end where only the share of a key is taken', () => {
    const { clock, ended, stand, callOf, reserve } = openUnread();
    stand('other', 100 * kib, callOf('b'));
    stand('own', 300 * kib, callOf('a'));
    clock.advance(500);
    expect(reserve(callOf('a'), 150 * kib).value).toBe('waits');
    expect(ended).toEqual(['own']);
  });

  it('is counted exactly, whatever its call and its client do', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('reserve', 'release', 'stand', 'move', 'end'), fc.nat(90 * kib)));
    fc.assert(
      fc.property(steps, (all) => {
        const { budget, stand } = openUnread();
        const memory = budget.open();
        let [kept, unread, hasEnded] = [0, 0, false];
        for (const [step, bytes] of all) {
          if (step === 'reserve') {
            void memory.reserve(bytes);
            if (!hasEnded) kept += bytes;
          } else if (step === 'release') {
            memory.release(bytes);
            kept = Math.max(0, kept - bytes);
          } else if (step === 'stand') {
            stand('it', bytes, memory);
            unread = bytes;
          } else if (step === 'move') {
            memory.moveOn();
            unread = 0;
          } else {
            memory.end();
            [kept, hasEnded] = [0, true];
          }
          expect(budget.bytesInUse()).toBe(Math.max(kept, unread));
        }
      }),
    );
  });
});
