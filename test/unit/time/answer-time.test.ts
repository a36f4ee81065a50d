// The time that another party has to answer: what this process was too busy to hear does not count.
import { describe, expect, it } from '#jest';
import { type Clock, countAnswerTime, startAnswerTime } from '../../../shared/foundation/time/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** Timers fire in their order, each so much later than it should: the event loop was busy. */
function busyClock(lateMs: number) {
  const clock = manualClock();
  const late: Clock = { nowMs: clock.nowMs, after: (delayMs, callback) => clock.after(delayMs + lateMs, callback) };
  return { ...late, advance: clock.advance };
}

const timeoutError = () => new Error('took too long');

describe('the time to answer', () => {
  it('ends after its limit in a process that is idle', () => {
    const clock = manualClock();
    let ended = 0;
    countAnswerTime(clock, 250, () => (ended += 1));
    clock.advance(249);
    expect(ended).toBe(0);
    clock.advance(1);
    expect(ended).toBe(1);
    clock.advance(60_000);
    expect(ended).toBe(1);
  });

  it('does not count what the event loop was blocked for', () => {
    const clock = busyClock(400);
    let ended = 0;
    // Four slices, each of which ends 400 ms late.
    countAnswerTime(clock, 400, () => (ended += 1));
    clock.advance(1_999);
    expect(ended).toBe(0);
    clock.advance(1);
    expect(ended).toBe(1);
  });

  it('ends after ten seconds by the clock however busy the process is', () => {
    const clock = busyClock(3_000);
    let ended = 0;
    countAnswerTime(clock, 1_900, () => (ended += 1));
    clock.advance(9_999);
    expect(ended).toBe(0);
    clock.advance(3_000);
    expect(ended).toBe(1);
  });

  it('that is stopped never ends, and tells what is left', () => {
    const clock = manualClock();
    const stop = countAnswerTime(clock, 1_000, () => {
      throw new Error('it was stopped');
    });
    clock.advance(330);
    expect(stop()).toBe(670);
    clock.advance(60_000);
  });
});

describe('a budget of answer time', () => {
  it('is shared by waits that follow each other', async () => {
    const clock = manualClock();
    const budget = startAnswerTime(clock, 1_000);
    const first = Promise.withResolvers<string>();
    const answered = budget.wait(first.promise, timeoutError);
    clock.advance(700);
    first.resolve('answer');
    expect(await answered).toBe('answer');
    // Between two waits nothing is asked for.
    clock.advance(5_000);
    const second = budget.wait(new Promise(() => {}), timeoutError);
    clock.advance(299);
    const third = Promise.race([second.catch(() => 'ended'), Promise.resolve('waiting')]);
    expect(await third).toBe('waiting');
    clock.advance(1);
    await expect(second).rejects.toThrow('took too long');
    await expect(budget.wait(new Promise(() => {}), timeoutError)).rejects.toThrow('took too long');
  });

  it('leaves an error of the work as it is', async () => {
    const failing = Promise.reject(new Error('its own'));
    await expect(startAnswerTime(manualClock(), 10).wait(failing, timeoutError)).rejects.toThrow('its own');
  });
});
