import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { type InterfaceId, interfaceIds, servingApis } from '../../../shared/foundation/constants/index.ts';
import {
  createMemoryBudget,
  headWeight,
  type RequestPath,
  requestBytes,
} from '../../../shared/protocol/memory-budget/index.ts';
import { countIteratorSteps } from '../../support/iterator-steps.ts';
import { manualClock } from '../../support/manual-clock.ts';

const kib = 1024;
const maxBytes = 1_200 * kib;
/** The share of the budget for requests, then the share for large requests. */
const requestMaxBytes = 800 * kib;
const largeMaxBytes = 600 * kib;

function openBudget(options = {}) {
  const clock = manualClock();
  const budget = createMemoryBudget(clock, { maxBytes, ...options });
  const order: string[] = [];
  /** Takes memory at once, later, or never. */
  const enter = (workspace: string, bytes: number, more: object = {}, memory = budget.open()) => {
    const allocation = memory.openRequest();
    const waits = allocation.take({ workspace, bytes, isLarge: bytes > 64 * kib, ...more });
    const call = { memory, allocation, value: waits === undefined ? 'at once' : 'waits', error: undefined as unknown };
    if (waits === undefined) order.push(workspace);
    void waits?.then(
      () => {
        call.value = 'later';
        order.push(workspace);
      },
      (error: GatewayError) => {
        [call.value, call.error] = [error.code, error];
      },
    );
    return call;
  };
  return { clock, budget, enter, order };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the memory of a request', () => {
  it('is counted until it is released, and no longer than the call', () => {
    const { budget, enter } = openBudget();
    const { memory, allocation } = enter('a', 100);
    allocation.keepOnly(70);
    expect(budget.bytesInUse()).toBe(70);
    allocation.keepOnly(90);
    expect(budget.bytesInUse()).toBe(70);
    memory.end();
    expect(allocation.take({ workspace: 'a', bytes: 50, isLarge: false })).toBeUndefined();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('that is not there is waited for in turn, and holds nothing meanwhile', async () => {
    const { budget, enter } = openBudget();
    const [first] = [enter('a', 300 * kib), enter('b', 200 * kib)];
    const large = enter('c', 200 * kib);
    // This request would fit, but an earlier one is before it.
    const behind = enter('d', 100 * kib);
    expect([large.value, behind.value, budget.bytesInUse()]).toEqual(['waits', 'waits', 500 * kib]);
    first.memory.end();
    await settled();
    expect([large.value, behind.value, budget.bytesInUse()]).toEqual(['later', 'later', 500 * kib]);
  });

  it('is passed by others after half a second if they fit and it does not', async () => {
    const { clock, enter } = openBudget();
    enter('a', 500 * kib);
    const [large, behind] = [enter('c', 200 * kib), enter('d', 100 * kib)];
    clock.advance(499);
    await settled();
    expect([large.value, behind.value]).toEqual(['waits', 'waits']);
    clock.advance(1);
    await settled();
    expect([large.value, behind.value]).toEqual(['waits', 'later']);
  });

  it('is refused within two seconds, with a time that is as long as what waits takes, and the call then waits for nothing', async () => {
    const { clock, budget, enter } = openBudget();
    const first = enter('a', 600 * kib);
    const refusal = enter('b', 300 * kib);
    clock.advance(1_499);
    await settled();
    expect(refusal.value).toBe('waits');
    clock.advance(1);
    await settled();
    // Nothing ended in the time that the slowest upload may take.
    expect(refusal.error).toMatchObject({ code: 'RATE_LIMITER_UNAVAILABLE', retryAfterSeconds: 30 });
    expect(refusal.error).toMatchObject({ exhausted: 'process_memory' });
    const [second, third] = [enter('b', 300 * kib), enter('c', 600 * kib)];
    first.allocation.keepOnly(300 * kib);
    await settled();
    clock.advance(1_500);
    await settled();
    // In these 1.5 s half of what it needs became free.
    expect([second.value, third.error]).toEqual(['later', expect.objectContaining({ retryAfterSeconds: 3 })]);
    for (const { memory } of [first, second]) memory.end();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('is refused a second and a half after its head arrived, however late its key was found', async () => {
    const { clock, budget, enter } = openBudget();
    const first = enter('a', 600 * kib);
    const [early, late, fitting] = [budget.open(), budget.open(), budget.open()];
    clock.advance(1_000);
    const [ofEarlierHead, ofBody] = [enter('b', 100 * kib, { isOfHead: true }, early), enter('b', 100 * kib)];
    clock.advance(499);
    await settled();
    expect([ofEarlierHead.value, ofBody.value]).toEqual(['waits', 'waits']);
    clock.advance(1);
    await settled();
    expect([ofEarlierHead.value, ofBody.value]).toEqual(['RATE_LIMITER_UNAVAILABLE', 'waits']);
    // No time is left for this call, which does not fit.
    const refusal = enter('b', 100 * kib, { isOfHead: true }, late);
    await settled();
    expect([refusal.value, ofBody.value]).toEqual(['RATE_LIMITER_UNAVAILABLE', 'waits']);
    clock.advance(1_000);
    await settled();
    expect(ofBody.value).toBe('RATE_LIMITER_UNAVAILABLE');
    first.memory.end();
    expect(enter('b', 100 * kib, { isOfHead: true }, fitting).value).toBe('at once');
  });

  it('ends its wait with its client, and with its call', async () => {
    const { budget, enter } = openBudget();
    const first = enter('a', 600 * kib);
    const departure = new AbortController();
    const [departing, ended] = [enter('b', 100 * kib, { gone: departure.signal }), enter('c', 100 * kib)];
    departure.abort();
    ended.memory.end();
    first.memory.end();
    await settled();
    expect([departing.value, ended.value, budget.bytesInUse()]).toEqual(['invalid_request', 'invalid_request', 0]);
  });

  it('waits in a line that is bounded for each workspace', async () => {
    const { enter } = openBudget();
    enter('a', largeMaxBytes);
    const waiting = Array.from({ length: 1_025 }, () => enter('b', 65 * kib));
    const other = enter('c', 65 * kib);
    await settled();
    expect(waiting.map(({ value }) => value)).toEqual([...new Array(1_024).fill('waits'), 'RATE_LIMITER_UNAVAILABLE']);
    expect(other.value).toBe('waits');
  });

  it('of a small call waits for no large one, however many are there or wait', () => {
    const { enter } = openBudget();
    for (let call = 0; call < 100; call += 1) enter(`workspace ${call}`, 300 * kib);
    const small = Array.from({ length: 3 }, () => enter('workspace 1', 64 * kib));
    expect(small.map(({ value }) => value)).toEqual(new Array(3).fill('at once'));
  });

  it('that is more than all of it counts as all of it: it is served alone', async () => {
    const { budget, enter } = openBudget();
    const first = enter('a', 5_000 * kib);
    const other = enter('b', 100 * kib);
    expect([first.value, other.value, budget.bytesInUse()]).toEqual(['at once', 'waits', largeMaxBytes]);
    first.memory.end();
    await settled();
    expect([other.value, budget.bytesInUse()]).toEqual(['later', 100 * kib]);
    const heavy = enter('c', 5_000 * kib);
    expect(heavy.value).toBe('waits');
    other.memory.end();
    await settled();
    expect(heavy.value).toBe('later');
  });

  it('that grows beyond a small one waits for the difference, and gives its small memory back', async () => {
    const { budget, enter } = openBudget();
    const first = enter('a', 580 * kib);
    const growing = enter('b', 50 * kib);
    const waits = growing.allocation.take({ workspace: 'b', bytes: 100 * kib, isLarge: true });
    expect([waits === undefined, budget.bytesInUse()]).toEqual([false, 630 * kib]);
    first.memory.end();
    await waits;
    expect(budget.bytesInUse()).toBe(100 * kib);
  });
});

describe('calls that turn out to need more than their heads let expect', () => {
  it('do not block each other: one at a time goes beyond the bound, and the next once it has given memory back', async () => {
    const { clock, budget, enter } = openBudget();
    const entries = ['a', 'b', 'c'].map((workspace) => ({ workspace, ...enter(workspace, 190 * kib) }));
    const calls = entries.map(({ workspace, memory, allocation }) => {
      const take = () => allocation.take({ workspace, bytes: 300 * kib, isLarge: true });
      const call = { memory, allocation, take, value: 'waits' };
      void take()?.then(() => {
        call.value = 'later';
      });
      return call;
    });
    const values = () => calls.map(({ value }) => value);
    clock.advance(500);
    await settled();
    expect([values(), budget.bytesInUse()]).toEqual([['later', 'waits', 'waits'], 570 * kib]);
    // The call has everything that it asked for, even for another attempt.
    expect(calls[0]?.take()).toBeUndefined();
    clock.advance(500);
    await settled();
    expect(values()).toEqual(['later', 'waits', 'waits']);
    calls[0]?.allocation.keepOnly(150 * kib);
    await settled();
    expect([values(), budget.bytesInUse()]).toEqual([['later', 'later', 'waits'], 530 * kib]);
    calls[1]?.memory.end();
    await settled();
    expect([values(), budget.bytesInUse()]).toEqual([['later', 'later', 'later'], 450 * kib]);
    for (const { memory } of calls) memory.end();
    expect(budget.bytesInUse()).toBe(0);
  });
});

describe('workspaces that wait', () => {
  it('take turns, the one that was let in longest ago first, its oldest call first', async () => {
    const { enter, order } = openBudget();
    const holders = [enter('a', 600 * kib)];
    for (const workspace of ['a', 'a', 'a', 'b', 'b', 'c']) holders.push(enter(workspace, 600 * kib));
    for (let ended = 0; ended < holders.length; ended += 1) {
      const holder = holders.find(({ value }) => value === 'at once' || value === 'later');
      if (holder === undefined) break;
      holder.value = 'ended';
      holder.memory.end();
      await settled();
    }
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
  });

  it('let a newcomer in before those that were there just now', async () => {
    const { enter, order } = openBudget();
    const holders = [enter('a', 600 * kib), enter('b', 600 * kib), enter('a', 600 * kib)];
    holders[0]?.memory.end();
    await settled();
    const waiting = enter('b', 600 * kib);
    enter('new', 600 * kib);
    holders[1]?.memory.end();
    await settled();
    expect(order).toEqual(['a', 'b', 'new']);
    expect(waiting.value).toBe('waits');
  });

  it('are served before one that has half; alone it may have all', async () => {
    const { enter } = openBudget();
    const entries = [enter('a', 200 * kib), enter('a', 100 * kib), enter('a', 150 * kib), enter('b', 150 * kib)];
    expect(entries.map(({ value }) => value)).toEqual(new Array(4).fill('at once'));
    const [more, others] = [enter('a', 150 * kib), [enter('b', 100 * kib), enter('c', 100 * kib)]];
    entries[2]?.memory.end();
    await settled();
    expect([more.value, others.map(({ value }) => value)]).toEqual(['waits', ['waits', 'later']]);
  });

  it('that have nothing take one call of any weight in their turn', async () => {
    const { enter } = openBudget();
    const first = enter('a', 200 * kib);
    enter('b', 200 * kib);
    const [heavy] = [enter('c', 400 * kib), enter('b', 200 * kib)];
    first.memory.end();
    await settled();
    expect(heavy.value).toBe('later');
  });
});

describe('a line', () => {
  /** Returns the steps over lists, sets and maps until all waiting calls are served one by one, or have left. */
  async function stepsToServe(calls: number, workspaces: number): Promise<number> {
    const { enter } = openBudget();
    const first = enter('first', largeMaxBytes);
    const waiting = Array.from({ length: calls }, (_none, at) => enter(`workspace ${at % workspaces}`, largeMaxBytes));
    const steps = countIteratorSteps();
    first.memory.end();
    for (const { memory } of waiting) {
      await settled();
      memory.end();
    }
    const turnCount = steps.end();
    expect(waiting.map(({ value }) => value)).toEqual(new Array(calls).fill('later'));
    return turnCount;
  }

  it.each([
    ['one workspace', () => 1],
    ['a workspace for each call', (calls: number) => calls],
  ])('lets in %s with work that grows with the calls that wait, not with their square', async (_name, workspacesOf) => {
    const [few, many] = [await stepsToServe(100, workspacesOf(100)), await stepsToServe(1_000, workspacesOf(1_000))];
    expect(few).toBeGreaterThan(100);
    expect(many).toBeLessThan(11 * few);
  });

  it('of one workspace goes on after a call that finds no memory in its turn', async () => {
    const { clock, enter } = openBudget();
    enter('a', 500 * kib);
    const [heavy, light] = [enter('a', 200 * kib), enter('a', 100 * kib)];
    clock.advance(500);
    await settled();
    expect([heavy.value, light.value]).toEqual(['waits', 'later']);
  });
});

describe('an upload', () => {
  function openUploads() {
    const openedBudget = openBudget();
    const uploads: { readonly name: string; came: number; ended: unknown }[] = [];
    const upload = (name: string, lengthBytes: number, bytes = 300 * kib) => {
      const one = { name, came: 0, ended: undefined as unknown };
      uploads.push(one);
      const giveUp = (error: unknown) => {
        one.ended = error;
      };
      const entry = openedBudget.enter(name, bytes, { upload: { lengthBytes, cameBytes: () => one.came, giveUp } });
      return { ...entry, one };
    };
    const pass = async (bytesEach: number, seconds = 1) => {
      for (let second = 0; second < seconds; second += 1) {
        for (const one of uploads) one.came += bytesEach;
        openedBudget.clock.advance(1_000);
        await settled();
      }
    };
    return { ...openedBudget, upload, pass };
  }

  it('that is slow gives its memory up once others wait, and one of the length in 30 seconds does not', async () => {
    const { enter, upload, pass } = openUploads();
    const [slow, steady] = [upload('a', 3_000), upload('b', 2_999)];
    await pass(99, 20);
    expect([slow.one.ended, steady.one.ended]).toEqual([undefined, undefined]);
    // A body that was fast before is judged by the bytes of each new second.
    steady.one.came += 1;
    const waiting = enter('c', 100 * kib);
    slow.one.came -= 1;
    steady.one.came += 1;
    await pass(99);
    expect(slow.one.ended).toMatchObject({ code: 'RATE_LIMITER_UNAVAILABLE', retryAfterSeconds: 1 });
    expect([waiting.value, steady.one.ended]).toEqual(['later', undefined]);
  });

  it('that has come whole is judged no more, nor one that has just begun, nor while no call waits', async () => {
    const { enter, upload, pass } = openUploads();
    const whole = upload('a', 3_000);
    whole.allocation.keepOnly(299 * kib);
    await pass(0);
    enter('b', 400 * kib);
    const smallUpload = upload('c', 3_000, 65 * kib);
    await pass(0);
    expect([whole.one.ended, smallUpload.one.ended]).toEqual([undefined, undefined]);
  });

  it('of two workspaces, again and again, keeps no third one out', async () => {
    const { enter, upload, pass } = openUploads();
    for (let call = 0; call < 5; call += 1) for (const name of ['a', 'b']) upload(name, 21_000_000, largeMaxBytes);
    await pass(10);
    const third = enter('c', 100 * kib);
    await pass(10);
    expect(third.value).toBe('later');
  });
});

it('the memory is all released in the end and never exceeded, and each wait has an end, whatever calls do', async () => {
  const step = fc.record({
    call: fc.nat({ max: 9 }),
    kind: fc.constantFrom('take' as const, 'take' as const, 'keep' as const, 'end' as const, 'pass' as const),
    bytes: fc.oneof(fc.nat({ max: 60 * kib }), fc.nat({ max: 700 * kib })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, budget, enter } = openBudget();
      const calls: ReturnType<typeof enter>[] = [];
      for (const { call, kind, bytes } of steps) {
        const chosen = calls[calls.length - 1 - call];
        if (kind === 'take') calls.push(enter(`workspace ${call % 4}`, bytes));
        else if (kind === 'keep') chosen?.allocation.keepOnly(bytes);
        else if (kind === 'end') chosen?.memory.end();
        else clock.advance(bytes / 100);
        await settled();
        expect(budget.bytesInUse()).toBeGreaterThanOrEqual(0);
        expect(budget.bytesInUse()).toBeLessThanOrEqual(requestMaxBytes);
      }
      clock.advance(2_000);
      await settled();
      expect(calls.filter(({ value }) => value === 'waits')).toEqual([]);
      for (const { memory } of calls) memory.end();
      expect(budget.bytesInUse()).toBe(0);
      expect(enter('another', requestMaxBytes, { isLarge: false }).value).toBe('at once');
    }),
    { numRuns: 50 },
  );
});

it('the budget lets every workspace in that waits, whatever the others send', async () => {
  const sizes = fc.array(fc.integer({ min: 65, max: 700 }), { minLength: 5, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const { enter } = openBudget();
      const holders = all.map((size) => enter('many', size * kib));
      const few = enter('few', 300 * kib);
      // When a call of `many` ends, at most one more of `many` enters before `few` has its turn.
      for (let ended = 0; few.value === 'waits'; ended += 1) {
        const holder = holders.find(({ value }) => value === 'at once' || value === 'later');
        expect(ended).toBeLessThan(15);
        if (holder === undefined) break;
        holder.value = 'ended';
        holder.memory.end();
        await settled();
      }
      expect(few.value).not.toBe('waits');
    }),
    { numRuns: 30 },
  );
});

describe('what large calls let go', () => {
  const mib = 1024 * kib;
  it('is collected even if an answer was unread after the end of its call, and once', () => {
    let collections = 0;
    const budget = createMemoryBudget(manualClock(), { collect: () => (collections += 1) });
    const memory = budget.open();
    void memory.openAnswer().take(40 * mib, { mayWait: true });
    // A reader that takes the answer piece by piece releases nothing while the call keeps the answer.
    for (let pieces = 0; pieces < 10; pieces += 1) {
      memory.standStill(60 * mib, () => {});
      memory.moveOn();
    }
    memory.standStill(64 * mib, () => {});
    memory.end();
    expect(collections).toBe(0);
    memory.endReading();
    expect([collections, budget.bytesInUse()]).toEqual([1, 0]);
  });

  it('is collected when clients leave whose streams go on, each of which has little', () => {
    let collections = 0;
    const budget = createMemoryBudget(manualClock(), { collect: () => (collections += 1) });
    const streams = Array.from({ length: 1_200 }, () => budget.open());
    for (const memory of streams) memory.standStill(130 * kib, () => {});
    for (const memory of streams) memory.endReading();
    // The last 32 MiB in use are few enough for the runtime.
    expect([collections, budget.bytesInUse()]).toEqual([Math.floor((1_200 * 130 * kib) / (32 * mib)) - 1, 0]);
  });

  it('is counted once for each long event of a stream, in however many pieces its client reads the event', () => {
    let collections = 0;
    const budget = createMemoryBudget(manualClock(), { collect: () => (collections += 1) });
    const memory = budget.open();
    const readEvent = (bytes: number) => {
      for (let leftBytes = bytes; leftBytes > 0; leftBytes -= 16 * kib) {
        memory.standStill(leftBytes, () => {});
        memory.moveOn();
      }
    };
    for (let events = 1; events <= 4; events += 1) readEvent(7 * mib);
    expect(collections).toBe(0);
    readEvent(7 * mib);
    expect(collections).toBe(1);
    readEvent(20 * mib);
    expect(collections).toBe(1);
    memory.standStill(20 * mib, () => {});
    memory.moveOn();
    memory.end();
    expect([collections, budget.bytesInUse()]).toEqual([2, 0]);
  });

  it('is collected even if many small connections were closed', () => {
    let collections = 0;
    const budget = createMemoryBudget(manualClock(), { collect: () => (collections += 1) });
    for (let closed = 0; closed < 1_365; closed += 1) budget.released(24 * kib);
    expect(collections).toBe(0);
    budget.released(24 * kib);
    expect([collections, budget.bytesInUse()]).toEqual([1, 0]);
  });

  it('sets no timer if nothing is to be collected, so that a process with nothing else to do ends', () => {
    const pendingWith = (options: Parameters<typeof createMemoryBudget>[1]) => {
      const clock = manualClock();
      const memory = createMemoryBudget(clock, options).open();
      void memory.openAnswer().take(40 * mib, { mayWait: true });
      memory.end();
      return clock.pending();
    };
    expect([pendingWith({}), pendingWith({ collect: () => {} })]).toEqual([0, 1]);
  });

  it('is collected once it is much, and twice once it is quiet; what many calls of a usual size let go is not, unless much is in use', async () => {
    const clock = manualClock();
    const collections: string[] = [];
    const collect = ({ returnsPages }: { returnsPages: boolean }) => collections.push(returnsPages ? 'pages' : 'heap');
    const budget = createMemoryBudget(clock, { collect });
    const use = async (bytes: number) => {
      const memory = budget.open();
      await memory.openRequest().take({ workspace: 'a', bytes, isLarge: bytes > 64 * kib });
      memory.end();
    };
    for (let calls = 0; calls < 2_000; calls += 1) await use(60 * kib);
    for (let calls = 0; calls < 2_000; calls += 1) await use(mib);
    clock.advance(60_000);
    expect(collections).toEqual([]);
    await use(30 * mib);
    expect(collections).toEqual([]);
    await use(2 * mib);
    expect(collections).toEqual(['heap']);
    clock.advance(4_999);
    expect(collections).toEqual(['heap']);
    clock.advance(1);
    expect(collections).toEqual(['heap', 'heap']);
    clock.advance(60_000);
    expect(collections).toEqual(['heap', 'heap', 'pages']);
    // Little was released since then: the runtime collects it in time, or a longer collection is not worth its time.
    await use(15 * mib);
    clock.advance(60_000);
    expect(collections).toEqual(['heap', 'heap', 'pages']);
    await use(mib);
    clock.advance(60_000);
    expect(collections).toEqual(['heap', 'heap', 'pages']);
    await use(2 * mib);
    clock.advance(60_000);
    expect(collections).toEqual(['heap', 'heap', 'pages', 'heap', 'heap']);
    const openMemory = budget.open();
    await openMemory.openRequest().take({ workspace: 'b', bytes: 40 * mib, isLarge: true });
    for (let calls = 0; calls < 1_000; calls += 1) await use(60 * kib);
    for (let calls = 0; calls < 32; calls += 1) await use(mib);
    expect(collections).toEqual(['heap', 'heap', 'pages', 'heap', 'heap', 'heap']);
  });
});

it('copies without a waiting reader are kept if there is memory, in a quarter', () => {
  const { budget, enter } = openBudget();
  const copies = budget.openCopies();
  expect([copies.take(200 * kib), copies.take(101 * kib), copies.take(100 * kib)]).toEqual([true, false, true]);
  enter('a', 500 * kib);
  expect(budget.openCopies().take(1)).toBe(false);
  copies.end();
  copies.end();
  expect(budget.bytesInUse()).toBe(500 * kib);
  expect(budget.openCopies().take(301 * kib)).toBe(false);
});

describe('the table of weights', () => {
  const isTranslated = (id: InterfaceId) => servingApis[id].throughHub.length > 0 || 'apisByKind' in servingApis[id];
  const text = { textBytes: 1_000_000, tableBytes: 100_000, formBytes: 0 };
  const form = { textBytes: 20_000, tableBytes: 0, formBytes: 1_000_000 };

  it.each(interfaceIds)('takes for %s at its head what any of its paths keeps, and no more than the heaviest', (id) => {
    const paths: RequestPath[] = ['read', 'relayed', 'guarded', ...(isTranslated(id) ? (['translated'] as const) : [])];
    expect(Math.round(headWeight(id, false) * 1_000_000)).toBe(requestBytes(paths, text));
    expect(Math.round(headWeight(id, true) * 1_000_000)).toBe(requestBytes(paths, form));
  });

  it('keeps less of a request once it is sent, and of a form no copy', () => {
    for (const size of [text, form]) {
      expect(requestBytes(['relayedSent'], size)).toBeLessThan(requestBytes(['relayed'], size));
      expect(requestBytes(['translatedSent'], size)).toBeLessThan(requestBytes(['translated'], size));
    }
    expect(headWeight('image-edits', true)).toBeLessThan(2);
    expect(headWeight('transcriptions', true)).toBeLessThan(2);
  });
});
