import { describe, expect, it } from '#jest';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import {
  type CallKind,
  callWithAttempts,
  ItemsUnprocessed,
  maySendAgain,
} from '../../../shared/storage/store/attempts.ts';

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
const limitMs = 800;
/** As the SDK throws them. */
const refused = (status: number, name: string) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status } });
const throttled = () => refused(400, 'ThrottlingException');
const broken = () => Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
const failedTo = (syscall: string, code: string) => Object.assign(new Error(`${syscall} ${code}`), { syscall, code });
const neverConnected = () => failedTo('connect', 'ECONNREFUSED');

function harness(kind: CallKind, outcomes: (() => unknown)[], callerSignal?: AbortSignal) {
  const { clock, timers } = manualClock();
  let calls = 0;
  const result = callWithAttempts({ clock, randomness, limitMs, kind, callerSignal }, async () => {
    const outcome = outcomes[calls]?.();
    calls += 1;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { result, timers, calls: () => calls };
}

describe('the attempts of a call', () => {
  it('end with the first answer, and no timer is left', async () => {
    const { result, calls, timers } = harness('repeatable', [throttled, () => 'answer', () => 'never']);
    await expect(result).resolves.toBe('answer');
    expect(calls()).toBe(2);
    expect(timers).toEqual([]);
  });

  it('are three at most', async () => {
    for (const kind of ['repeatable', 'once'] as const) {
      const { result, calls } = harness(kind, [throttled, throttled, throttled, () => 'never']);
      await expect(result).rejects.toThrow('ThrottlingException');
      expect(calls()).toBe(3);
    }
  });

  it('are one for a write whose answer was lost', async () => {
    const { result, calls } = harness('once', [broken, () => 'never']);
    await expect(result).rejects.toThrow('the connection broke');
    expect(calls()).toBe(1);
  });

  it('end without the text of an answer that is no JSON: it may hold a secret', async () => {
    const { result } = harness('repeatable', [() => new SyntaxError('Unexpected token, "hunter2" is not valid JSON')]);
    const error: Error = await result.then(() => new Error('no error')).catch((thrown) => thrown);
    expect(error.message).toBe('the answer is not the JSON that was expected');
    expect(`${error.stack} ${error.cause}`).not.toContain('hunter2');
  });

  it('end when the time of the whole call is up, even if the call itself never ends', async () => {
    const { clock, timers } = manualClock();
    const options = { clock, randomness, limitMs, kind: 'repeatable', callerSignal: undefined } as const;
    const result = callWithAttempts(options, () => new Promise(() => {}));
    while (timers.length > 0) timers.shift()?.();
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
  it.each([
    ['a throttle', throttled()],
    ['a throttle of a hot partition', refused(400, 'ProvisionedThroughputExceededException')],
    ['a 429 without a code', refused(429, 'Unknown')],
    ['a batch that was written in part', new ItemsUnprocessed()],
    ['a connection that never was', neverConnected()],
    ['a host whose addresses all refuse', new AggregateError([neverConnected(), neverConnected()])],
    ['a host without an address', failedTo('getaddrinfo', 'ENOTFOUND')],
  ])('follows %s even for a write, because nothing was executed', (_case, error) => {
    expect(maySendAgain(error, 'once')).toBe(true);
  });

  it.each([
    ['a broken connection', broken()],
    ['a connection that broke while it was read', failedTo('read', 'ECONNRESET')],
    ['a 500', refused(500, 'InternalServerError')],
    ['a 503', refused(503, 'Unknown')],
  ])('follows %s for a read and never for a write, because it may have been executed', (_case, error) => {
    expect(maySendAgain(error, 'repeatable')).toBe(true);
    expect(maySendAgain(error, 'once')).toBe(false);
  });

  it.each([
    ['an invalid expression', refused(400, 'ValidationException')],
    ['a missing right', refused(400, 'AccessDeniedException')],
    ['a mistake of ours', new TypeError('x is undefined')],
    ['something that is no error', undefined],
  ])('never follows %s', (_case, error) => {
    expect(maySendAgain(error, 'repeatable')).toBe(false);
  });
});
