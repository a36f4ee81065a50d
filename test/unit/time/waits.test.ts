// Waits that end by the clock, and time that another party has to answer, of which what this process was too busy to
// hear does not count.
import { describe, expect, it } from '#jest';
import { type Clock, startTimeBudget, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** Timers fire in their order, each so much later than it should: the event loop was busy. */
function busyClock(lateMs: number) {
  const clock = manualClock();
  const late: Clock = { nowMs: clock.nowMs, after: (delayMs, callback) => clock.after(delayMs + lateMs, callback) };
  return { ...late, advance: clock.advance };
}

const timeoutError = () => new Error('took too long');
const never = new Promise<never>(() => {});

/** Whether a promise has settled by now. */
async function hasEnded(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

describe('a wait by the clock', () => {
  it('brings what the promise brings, and stops its timer before the caller goes on', async () => {
    const stopped: number[] = [];
    const clock: Clock = { nowMs: () => 0, after: (delayMs) => () => void stopped.push(delayMs) };
    expect(await waitAtMost(clock, 50, Promise.resolve('answer'), () => 'late')).toBe('answer');
    expect(stopped).toEqual([50]);
    await expect(waitAtMost(clock, 60, Promise.reject(new Error('its own')), () => 'late')).rejects.toThrow('its own');
    expect(stopped).toEqual([50, 60]);
  });

  it('ends at its limit with what the caller returns or throws, and drops what comes later, a failure too', async () => {
    const clock = manualClock();
    const work = Promise.withResolvers<string>();
    const returned = waitAtMost(clock, 50, work.promise, () => 'late');
    const thrown = waitAtMost(clock, 50, work.promise, () => {
      throw timeoutError();
    });
    clock.advance(49);
    expect(await hasEnded(returned)).toBe(false);
    clock.advance(1);
    expect(await returned).toBe('late');
    await expect(thrown).rejects.toThrow('took too long');
    work.reject(new Error('dropped'));
    expect(await hasEnded(work.promise)).toBe(true);
  });
});

describe('a time budget', () => {
  it('ends after its limit in a process that is idle', async () => {
    const clock = manualClock();
    const wait = startTimeBudget(clock, 250, timeoutError).wait(never);
    clock.advance(249);
    expect(await hasEnded(wait)).toBe(false);
    clock.advance(1);
    await expect(wait).rejects.toThrow('took too long');
  });

  it('does not count what the event loop was blocked for', async () => {
    const clock = busyClock(400);
    // Four slices, each of which ends 400 ms late.
    const wait = startTimeBudget(clock, 400, timeoutError).wait(never);
    clock.advance(1_999);
    expect(await hasEnded(wait)).toBe(false);
    clock.advance(1);
    await expect(wait).rejects.toThrow('took too long');
  });

  it('ends after ten seconds by the clock however busy the process is', async () => {
    const clock = busyClock(3_000);
    const wait = startTimeBudget(clock, 1_900, timeoutError).wait(never);
    clock.advance(9_999);
    expect(await hasEnded(wait)).toBe(false);
    clock.advance(3_000);
    await expect(wait).rejects.toThrow('took too long');
  });

  it('is shared by waits that follow each other, at once or later', async () => {
    const clock = manualClock();
    const budget = startTimeBudget(clock, 1_000, timeoutError);
    const first = Promise.withResolvers<string>();
    // The next begins in the very turn in which the first has its answer.
    const second = budget.wait(first.promise).then(() => budget.wait(never));
    clock.advance(330);
    first.resolve('answer');
    expect(await hasEnded(second)).toBe(false);
    clock.advance(669);
    expect(await hasEnded(second)).toBe(false);
    clock.advance(1);
    await expect(second).rejects.toThrow('took too long');
    await expect(budget.wait(never)).rejects.toThrow('took too long');
  });

  it('does not count the time between two waits, nor a failure of the work as its end', async () => {
    const clock = manualClock();
    const budget = startTimeBudget(clock, 1_000, timeoutError);
    await expect(budget.wait(Promise.reject(new Error('its own')))).rejects.toThrow('its own');
    clock.advance(60_000);
    const wait = budget.wait(never);
    clock.advance(999);
    expect(await hasEnded(wait)).toBe(false);
    clock.advance(1);
    await expect(wait).rejects.toThrow('took too long');
  });
});
