import { describe, expect, it } from '@jest/globals';
import { type CallKind, callWithAttempts, maySendAgain } from '../../../shared/store/attempts.ts';
import type { Clock } from '../../../shared/time/index.ts';

/** Timers are kept and fired by hand; backoffs are over at once. */
function manualClock() {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    after(delayMs, callback) {
      if (delayMs < 100) queueMicrotask(callback);
      else timers.push(callback);
      return () => {
        const index = timers.indexOf(callback);
        if (index >= 0) timers.splice(index, 1);
      };
    },
  };
  return { clock, timers };
}

const randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0.5 };
const throttled = () => Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
const broken = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const refusedConnection = () => Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' });
const failed = (httpStatusCode: number) => Object.assign(new Error(), { $metadata: { httpStatusCode } });

function harness(kind: CallKind, outcomes: (() => unknown)[], callerSignal?: AbortSignal) {
  const { clock, timers } = manualClock();
  let calls = 0;
  const result = callWithAttempts({ clock, randomness }, kind, callerSignal, async () => {
    const outcome = outcomes[calls]?.();
    calls += 1;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { result, timers, calls: () => calls };
}

describe('the attempts of a store call', () => {
  it('end with the first answer, and no timer is left', async () => {
    const { result, calls, timers } = harness('repeatable', [throttled, () => 'answer', () => 'never']);
    await expect(result).resolves.toBe('answer');
    expect(calls()).toBe(2);
    expect(timers).toEqual([]);
  });

  it('are three at most', async () => {
    for (const kind of ['repeatable', 'once'] as const) {
      const { result, calls } = harness(kind, [throttled, throttled, throttled, () => 'never']);
      await expect(result).rejects.toThrow('slow down');
      expect(calls()).toBe(3);
    }
  });

  it('are one for a write whose answer was lost', async () => {
    const { result, calls } = harness('once', [broken, () => 'never']);
    await expect(result).rejects.toThrow('socket hang up');
    expect(calls()).toBe(1);
  });

  it('end when the time of the whole call is up, even if the call itself never ends', async () => {
    const { clock, timers } = manualClock();
    const result = callWithAttempts({ clock, randomness }, 'repeatable', undefined, () => new Promise(() => {}));
    timers[0]?.();
    await expect(result).rejects.toThrow('no answer within 800 ms');
  });

  it('end with the signal of the caller, and an aborted signal lets no call out', async () => {
    const caller = new AbortController();
    const running = harness('repeatable', [() => new Promise(() => {})], caller.signal);
    caller.abort(new Error('over'));
    await expect(running.result).rejects.toThrow('over');
    const late = harness('repeatable', [() => 'never'], caller.signal);
    await expect(late.result).rejects.toThrow('over');
    expect(late.calls()).toBe(0);
    expect(late.timers).toEqual([]);
  });
});

describe('another attempt', () => {
  const connectionTimeout = Object.assign(
    new Error('the request socket did not establish a connection with the server within the configured timeout'),
    { name: 'TimeoutError' },
  );
  const bothAddresses = new AggregateError([refusedConnection(), refusedConnection()]);
  const oneAddress = new AggregateError([refusedConnection(), broken()]);

  it.each([
    ['a throttle', throttled()],
    ['a refused connection', refusedConnection()],
    ['connections refused on both address families', bothAddresses],
    ['an unknown host', Object.assign(new Error(), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
    ['a connection timeout', connectionTimeout],
  ])('follows %s even for a write, because nothing was executed', (_case, error) => {
    expect(maySendAgain(error, 'once')).toBe(true);
  });

  it.each([
    ['a reset connection', broken()],
    ['a broken pipe', Object.assign(new Error(), { code: 'EPIPE', syscall: 'write' })],
    ['one address that was reset', oneAddress],
    ['a timeout of another kind', Object.assign(new Error('socket timed out'), { name: 'TimeoutError' })],
    ['a 500', failed(500)],
    ['a 503', failed(503)],
  ])('never follows %s for a write, because it may have been executed', (_case, error) => {
    expect(maySendAgain(error, 'once')).toBe(false);
  });

  it.each([
    ['a reset connection', broken()],
    ['a 500', failed(500)],
  ])('follows %s for a read', (_case, error) => {
    expect(maySendAgain(error, 'repeatable')).toBe(true);
  });

  it.each([
    ['a refused condition', Object.assign(failed(400), { name: 'ConditionalCheckFailedException' })],
    ['an invalid expression', Object.assign(failed(400), { name: 'ValidationException' })],
    ['a mistake of ours', new TypeError('x is undefined')],
    ['something that is no error', undefined],
  ])('never follows %s', (_case, error) => {
    expect(maySendAgain(error, 'repeatable')).toBe(false);
  });
});
