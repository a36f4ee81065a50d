// Timers of the system's clock: waits of a second and more that end at the same time share a timer.
import { mock } from 'node:test';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { dayMs, systemClock } from '../../../shared/foundation/time/index.ts';

/** No other suite has a wait that ends at this time, so no other wait shares these timers. */
const farMs = 20 * dayMs;

it('limits of a second and more keep the process only until they are cancelled', () => {
  const waiting = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = waiting();
  const [cancel, cancelOther] = [
    systemClock.after(farMs - dayMs, () => {}),
    systemClock.after(farMs + dayMs, () => {}),
  ];
  expect(waiting()).toBe(before + 2);
  cancel();
  expect(waiting()).toBe(before + 1);
  cancelOther();
  expect(waiting()).toBe(before);
});

describe('limits of a second and more', () => {
  let timers = 0;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
    timers = 0;
    const { setTimeout: mocked } = globalThis;
    mock.method(globalThis, 'setTimeout', (...of: Parameters<typeof mocked>) => {
      timers += 1;
      return mocked(...of);
    });
  });
  afterEach(() => mock.reset());

  /** Begins waits, all within a step or two. */
  const begin = (calls: number[], count: number) =>
    Array.from({ length: count }, (_none, n) => systemClock.after(farMs, () => void calls.push(n)));

  it('share timers, and each is called once, not before its time', () => {
    const calls: number[] = [];
    begin(calls, 500);
    expect(timers).toBeLessThan(50);
    mock.timers.tick(farMs - 100);
    expect(calls).toEqual([]);
    mock.timers.tick(1_000);
    expect(calls.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 500 }, (_none, n) => n));
    mock.timers.tick(farMs);
    expect(calls).toHaveLength(500);
  });

  it('are not called once they are cancelled, by one of them too, nor cancel others', () => {
    const calls: string[] = [];
    const cancels = ['a', 'b', 'c', 'd'].map((name, n) =>
      systemClock.after(farMs, () => {
        calls.push(name);
        if (n === 0) cancels[3]?.();
      }),
    );
    cancels[1]?.();
    cancels[1]?.();
    mock.timers.tick(farMs + 1_000);
    expect(calls).toEqual(['a', 'c']);
  });

  it('are all called if one throws, and what it throws ends the process as from any timer', () => {
    const calls: string[] = [];
    systemClock.after(farMs, () => {
      throw new Error('a fault');
    });
    systemClock.after(farMs, () => void calls.push('the other'));
    expect(() => mock.timers.tick(farMs + 1_000)).toThrow('a fault');
    expect(calls).toEqual(['the other']);
  });
});
