import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { callTimes, requestBudgetMs, streamBudget } from '../../../shared/foundation/constants/index.ts';
import { hasAwsCredentials, readEnvironment, readRegion } from '../../../shared/foundation/environment/index.ts';
import { systemRandomness, uuidv7 } from '../../../shared/foundation/ids/index.ts';
import { compareLines } from '../../../shared/foundation/lines/index.ts';
import {
  createLineBatches,
  createLog,
  type LogFields,
  maskKeys,
  maskSecrets,
  redact,
} from '../../../shared/foundation/log/index.ts';
import {
  formatUsd,
  parsePricePerMillion,
  parseUsd,
  priceOf,
  toUsdNumber,
} from '../../../shared/foundation/money/index.ts';
import {
  type Clock,
  createIdleTimer,
  nextTurn,
  startTimeBudget,
  waitAtMost,
} from '../../../shared/foundation/time/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

const zeros = { uuid: () => '00000000-0000-4000-8000-000000000000' };
const ones = { uuid: () => 'ffffffff-ffff-4fff-bfff-ffffffffffff' };
const timeMs = fc.nat({ max: 2 ** 48 - 1 });

describe('a UUID of version 7', () => {
  it('is the time, the version, the variant and otherwise random', () => {
    // This is the time of the example in RFC 9562, appendix A.6.
    expect(uuidv7(zeros, 0x017f22e279b0)).toBe('017f22e2-79b0-7000-8000-000000000000');
    expect(uuidv7(ones, 0x017f22e279b0)).toBe('017f22e2-79b0-7fff-bfff-ffffffffffff');
  });

  it('has the form of a UUID at any time, and never twice the same', () => {
    fc.assert(
      fc.property(timeMs, (nowMs) => {
        const [first, second] = [uuidv7(systemRandomness, nowMs), uuidv7(systemRandomness, nowMs)];
        expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(second).not.toBe(first);
      }),
    );
  });

  it('sorts after every one that was made a millisecond or more before', () => {
    fc.assert(
      fc.property(timeMs, timeMs, (a, b) => {
        fc.pre(a !== b);
        expect(uuidv7(systemRandomness, a) < uuidv7(systemRandomness, b)).toBe(a < b);
      }),
    );
  });
});

describe('an amount of money', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000_000_000n],
    ['25.00', 25_000_000_000_000n],
    ['0.000000000001', 1n],
    ['00.10', 100_000_000_000n],
    ['999999999999999.999999999999', 999_999_999_999_999_999_999_999_999n],
  ])('is read exactly: %s', (text, amount) => {
    expect(parseUsd(text)).toBe(amount);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '1.',
    '.5',
    '1e3',
    '0x10',
    '1,000',
    '1.0000000000001',
    '1_000',
    'NaN',
    '١',
    '1\n',
  ])('is nothing else: %j', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  it('is written without trailing zeros, and never with an exponent', () => {
    expect([0n, 1n, 10n ** 12n, 1_500_000_000_000n, -25n * 10n ** 11n].map(formatUsd)).toEqual([
      '0',
      '0.000000000001',
      '1',
      '1.5',
      '-2.5',
    ]);
  });

  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 26n }), (amount) => {
        expect(parseUsd(formatUsd(amount))).toBe(amount);
        expect(toUsdNumber(amount)).toBe(Number(formatUsd(amount)));
      }),
    );
  });
});

describe('a price per million tokens', () => {
  it('is a whole number of pico-USD per token with up to six decimals, and refused with more', () => {
    expect(parsePricePerMillion('2.50')).toBe(2_500_000n);
    expect(parsePricePerMillion('0.000001')).toBe(1n);
    expect(parsePricePerMillion('0')).toBe(0n);
    expect(parsePricePerMillion('0.0000001')).toBeUndefined();
    expect(parsePricePerMillion('-1')).toBeUndefined();
  });

  it('costs exactly a million times itself for a million tokens', () => {
    const micro = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(micro, (price) => {
        const text = `${price / 1_000_000n}.${String(price % 1_000_000n).padStart(6, '0')}`;
        const perToken = parsePricePerMillion(text);
        expect(perToken).toBe(price);
        expect(priceOf(1_000_000, perToken ?? -1n)).toBe(parseUsd(text));
      }),
    );
  });
});

/** The longest time for which Lambda runs a function. */
const lambdaMaxSeconds = 900;

describe('the time limits of a call', () => {
  it('are in their order for every budget that a stage may have, and calls without a stream keep their own', () => {
    for (let seconds = streamBudget.minSeconds; seconds <= streamBudget.maxSeconds; seconds += 1) {
      const times = callTimes(seconds);
      const functionTimeoutMs = times.functionTimeoutSeconds * 1_000;
      const order = [seconds * 1_000, times.deliveryMs.stream, functionTimeoutMs, times.holdLifeMs];
      expect(times.streamBudgetMs).toBe(seconds * 1_000);
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
      expect(times.functionTimeoutSeconds).toBeLessThanOrEqual(lambdaMaxSeconds);
      expect(times.completionTimeoutSeconds).toBeGreaterThan(times.functionTimeoutSeconds);
      expect(times.deliveryMs.text).toBe(requestBudgetMs + 5_000);
    }
  });

  it('are longer for images, speech and transcriptions if they may take longer, and for those alone', () => {
    const { slow, holdLifeMs, deliveryMs, functionTimeoutSeconds, completionTimeoutSeconds } = callTimes(55, 110);
    expect(slow).toEqual({ requestBudgetMs: 110_000, streamBudgetMs: 110_000, holdLifeMs: 125_000 });
    expect([functionTimeoutSeconds, completionTimeoutSeconds]).toEqual([120, 130]);
    expect([holdLifeMs, deliveryMs.text]).toEqual([70_000, 60_000]);
    expect(callTimes(300, 110).slow).toEqual({
      requestBudgetMs: 110_000,
      streamBudgetMs: 300_000,
      holdLifeMs: 315_000,
    });
    expect(callTimes(300).slow.requestBudgetMs).toBe(300_000);
    expect(() => callTimes(55, 841)).toThrow(RangeError);
  });

  it.each([54, 841, 60.5, Number.NaN])('are refused for a budget that no stage may have: %p', (seconds) => {
    expect(() => callTimes(seconds)).toThrow(RangeError);
  });
});

/** Returns a clock whose timers fire in their order, each this much too late, as in a busy process. */
function busyClock(lateMs: number) {
  const clock = manualClock();
  const late: Clock = { nowMs: clock.nowMs, after: (delayMs, callback) => clock.after(delayMs + lateMs, callback) };
  return { ...late, advance: clock.advance };
}

const timeoutError = () => new Error('took too long');
const never = new Promise<never>(() => {});

/** Returns whether a promise has settled by now. */
async function hasEnded(promise: Promise<unknown>): Promise<boolean> {
  const isSettled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([isSettled, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

describe('a timer of silence', () => {
  const start = () => {
    const clock = manualClock();
    const started: number[] = [];
    const after: Clock['after'] = (delayMs, callback) => {
      started.push(delayMs);
      return clock.after(delayMs, callback);
    };
    const ends: number[] = [];
    const timer = createIdleTimer({ ...clock, after }, () => ends.push(clock.nowMs()));
    return { clock, timer, ends, started, startedAtMs: clock.nowMs() };
  };

  it('ends once, its time after the last start, and takes two timers of the clock for a hundred starts', () => {
    const { clock, timer, ends, started, startedAtMs } = start();
    for (let sign = 0; sign < 100; sign += 1) {
      timer.start(1_000);
      clock.advance(10);
    }
    clock.advance(989);
    expect(ends).toEqual([]);
    clock.advance(1);
    expect(ends).toEqual([startedAtMs + 1_990]);
    clock.advance(10_000);
    expect(ends).toHaveLength(1);
    expect(started).toHaveLength(2);
  });

  it('ends earlier if it is started with less, and not while it is paused or stopped', () => {
    const { clock, timer, ends, startedAtMs } = start();
    timer.start(1_000);
    timer.start(100);
    clock.advance(100);
    expect(ends).toEqual([startedAtMs + 100]);
    for (const end of [timer.pause, timer.stop]) {
      timer.start(50);
      end();
      clock.advance(1_000);
    }
    expect(ends).toHaveLength(1);
    timer.start(50);
    clock.advance(50);
    expect(ends).toHaveLength(2);
  });
});

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
    const failure = waitAtMost(clock, 50, work.promise, () => {
      throw timeoutError();
    });
    clock.advance(49);
    expect(await hasEnded(returned)).toBe(false);
    clock.advance(1);
    expect(await returned).toBe('late');
    await expect(failure).rejects.toThrow('took too long');
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
    // The wait has four slices, each of which ends 400 ms late.
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
    // The second wait begins in the turn in which the first has its answer.
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

describe('the secret with the accepted origins', () => {
  const read = (text: string | undefined) => readEnvironment({ GW_STAGE: 'dev', GW_ORIGIN_SECRET: text });

  it('has the name that its variable gives, and is absent if the variable is not set', () => {
    expect(read(undefined).originSecret).toBeUndefined();
    for (const name of ['gw/dev/origin', 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:gw/dev/origin-a1b2c3'])
      expect(read(name).originSecret).toBe(name);
  });

  it.each(['', ' ', 'gw/dev/origin,', 'a name', 'x'.repeat(513)])(
    'stops the start if its variable is set but names none: %p',
    (text) => expect(() => read(text)).toThrow('GW_ORIGIN_SECRET must be the name or the ARN of a secret'),
  );
});

describe('the stream budget', () => {
  const read = (text?: string) =>
    readEnvironment({ GW_STAGE: 'dev', GW_STREAM_BUDGET_SECONDS: text }).streamBudgetSeconds;

  it.each(['', '54', '841', '60.5', 'long', '-1'])(
    'stops the start if its variable says what no stage may have: %p',
    (text) => {
      expect(() => read(text)).toThrow('GW_STREAM_BUDGET_SECONDS must be a whole number from 55 to 840');
    },
  );
});

const stage = { GW_STAGE: 'dev' };

describe('what a process may keep', () => {
  const read = (text?: string) => readEnvironment({ ...stage, GW_KEPT_BYTES_MAX: text }).bytesInUseMax;

  it('is what its variable says, at least the largest body in its forms', () => {
    expect([read(), read('33554432')]).toEqual([undefined, 33_554_432]);
    for (const text of ['', '33554431', '1e400', '64 MiB', '-1'])
      expect(() => read(text)).toThrow('GW_KEPT_BYTES_MAX must be a whole number of at least 33554432');
  });
});

describe('the environment of a function', () => {
  it('names nothing of AWS if no variable does, whatever the region', () => {
    expect(readEnvironment({ ...stage, AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: '' }).aws).toBeUndefined();
  });

  it.each([
    ['GW_SPILL_BUCKET', 'spillBucket', 'gw-dev-spill'],
    ['GW_BYOK_KEY_ID', 'byokKeyId', 'alias/gw-dev'],
    ['GW_PROVIDER_SECRET', 'providerSecret', 'gw/dev/providers'],
  ] as const)('names with %s what it names, and nothing else', (variable, member, value) => {
    const others = { spillBucket: undefined, byokKeyId: undefined, providerSecret: undefined };
    expect(readEnvironment({ ...stage, AWS_REGION: 'eu-west-1', [variable]: value }).aws).toEqual({
      region: 'eu-west-1',
      isBucketInPath: false,
      ...others,
      [member]: value,
    });
  });

  it.each([
    ['AWS_REGION', {}],
    ['AWS_REGION', { AWS_REGION: 'evil.example/' }],
    ['GW_SPILL_BUCKET', { AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: 'a.b.example' }],
  ])('stops the start over a bad %s, by its name and without its value', (variable, variables) => {
    const read = () => readEnvironment({ ...stage, GW_PROVIDER_SECRET: 'gw/dev/providers', ...variables });
    expect(read).toThrow(variable);
    expect(read).not.toThrow(/evil|example|etc/);
  });
});

describe('the bucket', () => {
  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'])('is in the path if %s names a server', (variable) => {
    const variables = { ...stage, AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: 'gw-dev-spill', [variable]: 'http://s3' };
    expect(readEnvironment(variables).aws).toMatchObject({ isBucketInPath: true });
  });
});

describe('the URL that clients call', () => {
  const read = (text?: string) => readEnvironment({ GW_STAGE: 'dev', GW_GATEWAY_URL: text }).gatewayUrl;

  it('is reported if the console has another one, and is nothing that could end a header', () => {
    expect([read(), read('https://abc.on.aws/')]).toEqual([undefined, 'https://abc.on.aws/']);
    for (const text of ['', 'abc.on.aws', 'http://abc.on.aws/', "javascript:alert('x')"]) {
      expect(() => read(text)).toThrow('GW_GATEWAY_URL must be a URL that begins with https://');
    }
  });
});

describe('the region of the process', () => {
  it('is that of AWS_REGION', () => {
    expect(readRegion({ AWS_REGION: 'us-gov-west-1' })).toBe('us-gov-west-1');
  });

  it.each([{}, { AWS_REGION: 'evil.example/' }])(
    'is missed by name in %j, and its value is not repeated',
    (variables) => {
      expect(() => readRegion(variables)).toThrow('AWS_REGION');
      expect(() => readRegion(variables)).not.toThrow(/evil/);
    },
  );
});

describe('the credentials of the process', () => {
  it.each([
    { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
    { AWS_PROFILE: 'operator' },
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' },
    { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials' },
    { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/gw' },
  ])('are named by %j', (variables: Record<string, string>) => {
    expect(hasAwsCredentials(variables)).toBe(true);
  });

  it.each([{}, { AWS_ACCESS_KEY_ID: 'id' }, { AWS_ROLE_ARN: 'arn' }, { AWS_PROFILE: '' }])(
    'are not named by %j',
    (variables: Record<string, string>) => {
      expect(hasAwsCredentials(variables)).toBe(false);
    },
  );
});

const clock = { nowMs: () => 1_800_000_000_000, after: () => () => {} };

function logInto(level: Parameters<typeof createLog>[0]['level'] = 'info') {
  const lines: string[] = [];
  return { log: createLog({ clock, level, write: (line) => lines.push(line) }), lines };
}

describe('a log line', () => {
  it('is one line of JSON with time and level', () => {
    const { log, lines } = logInto();
    log.info({ event: 'request_done', message: 'two\nlines', cost_usd: '0.1', total_ms: 5, attempts: 2n });
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(lines[0]?.trimEnd().includes('\n')).toBe(false);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '2027-01-15T08:00:00.000Z',
      level: 'info',
      event: 'request_done',
      message: 'two\nlines',
      cost_usd: '0.1',
      total_ms: 5,
      attempts: '2',
    });
  });

  it('holds no field that is not on the list and nothing that is no scalar', () => {
    const { log, lines } = logInto();
    log.info({ event: { deep: 'secret' }, headers: { authorization: 'secret' }, body: 'secret' } as never as LogFields);
    expect(lines[0]).not.toContain('secret');
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual(['time', 'level']);
  });

  it('holds of an error its name, frames and the names of its causes, and no secret that its texts quote', () => {
    const { log, lines } = logInto();
    const key = `sk-gw-${'a1B2'.repeat(8)}`;
    const root = Object.assign(new Error(`prompt text and ${key}`), { code: 'ECONNRESET' });
    const parse = new SyntaxError('Unexpected token, "my prompt" is not valid JSON', { cause: root });
    const top = new TypeError(`Cannot use Bearer abc.def nor ${key}`, { cause: parse });
    log.error({ event: 'request_failed' }, top);
    log.error({ event: 'request_failed' }, parse);
    for (const secret of [key, 'abc.def', 'my prompt', 'prompt text']) expect(lines.join('')).not.toContain(secret);
    const { error } = JSON.parse(lines[0] ?? '');
    expect(error).toMatchObject({ name: 'TypeError', causes: 'SyntaxError < Error ECONNRESET' });
    expect(error.message).toBe('Cannot use … nor …');
    expect(error.stack).toContain('foundation.test');
  });

  it('is written for anything thrown, and never throws itself', () => {
    const { log, lines } = logInto();
    const circular: { message: string; cause?: unknown } = { message: 'odd' };
    circular.cause = circular;
    for (const fault of ['text', 7, null, {}, circular]) log.error({ event: 'odd' }, fault);
    expect(lines).toHaveLength(5);
    const brokenLog = createLog({
      clock,
      write: () => {
        throw new Error('EPIPE');
      },
    });
    expect(() => brokenLog.error({ event: 'lost' }, new Error('x'))).not.toThrow();
  });

  it('escapes what steers a terminal, in fields and errors alike, and every character comes back', () => {
    const controls = '\u0000\u001b]0;\u007f\u0080\u009b1m\u061c\u200e\u200f\u202a\u202e\u2066\u2069';
    const { log, lines } = logInto();
    log.error({ event: 'failed', message: controls, model: 'ü🙂\u202e' }, new Error(controls));
    const line = lines[0] ?? '';
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(line).toContain('"model":"ü🙂\\u202e"');
    const { message, error } = JSON.parse(line);
    expect([message, error.message]).toEqual([controls, controls]);
  });

  it.each([
    ['info', 2],
    ['error', 1],
    ['silent', 0],
  ] as const)('at level %s is written %i times of two', (level, expected) => {
    const { log, lines } = logInto(level);
    log.info({ event: 'a' });
    log.error({ event: 'b' });
    expect(lines).toHaveLength(expected);
  });
});

describe('a text of others in the log', () => {
  it.each([
    ['Incorrect API key provided: sk-proj-abc', 'sk-proj-abc'],
    ['Incorrect API key provided: sk-proj-****************abcd.', 'abcd'],
    ['invalid x-api-key: short', 'short'],
    ['{"password":"hunter2"}', 'hunter2'],
    ['Authorization: Bearer abc.def', 'abc.def'],
    ['got Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
    ['GET https://user:secret1@host/path failed', 'secret1'],
    ['POST https://host/v1beta/models?key=AbCdEf&alt=sse', 'AbCdEf'],
    ['API key AIzaSyA-1234567 not valid', 'SyA-1234567'],
    ['AKIAIOSFODNN7EXAMPLE is not authorized', 'IOSFODNN7'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x', 'eyJ'],
    ['signature abcdefghijklmnopqrstuvwxyzABCDEFGH', 'abcdefghijkl'],
  ])('%s keeps nothing of %s', (text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('…');
  });

  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    'max_tokens is too large: 99999. This model supports at most 4096.',
    'Requested tokens: 9001',
    'context_length_exceeded: messages[0].content is too long',
    'The model `gpt-4o` does not exist',
  ])('%s stays as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('keeps nothing of a known secret, however plain it looks', () => {
    expect(maskSecrets('the key open sesame is wrong', ['open sesame', ''])).toBe('the key … is wrong');
  });

  it('has its API keys masked alone if it is a name', () => {
    expect(maskKeys('bedrock/claude-3-5-sonnet-20241022-v2')).toBe('bedrock/claude-3-5-sonnet-20241022-v2');
    expect(maskKeys('sk-gw-0123456789abcdef')).toBe('sk-…');
  });
});

describe('a step that gives others a turn', () => {
  it('goes on in a turn of its own, however many wait for one, in the order in which they came', async () => {
    let turn = 0;
    const count = () => {
      turn += 1;
      if (turn < 20) setImmediate(count);
    };
    setImmediate(count);
    const goneOn: (readonly [step: number, turn: number])[] = [];
    const steps = Array.from({ length: 8 }, async (_, step) => {
      await nextTurn();
      goneOn.push([step, turn]);
    });
    await Promise.all(steps);
    expect(goneOn.map(([step]) => step)).toEqual([...steps.keys()]);
    expect(new Set(goneOn.map(([, at]) => at)).size).toBe(steps.length);
  });
});

const differenceOf = (left: readonly string[], right: readonly string[]) =>
  compareLines(left, right).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

describe('two texts', () => {
  it('are compared by their longest common part, in the order of both', () => {
    expect(differenceOf(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e'])).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(differenceOf([], ['a'])).toEqual(['+a']);
  });

  it('are both there, whatever they hold', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const compared = compareLines(left, right);
        const without = (kind: string) => compared.filter((line) => line.kind !== kind).map(({ text }) => text);
        expect([without('added'), without('removed')]).toEqual([left, right]);
      }),
    );
  });

  it('of more lines than are compared come one after the other', () => {
    const long = new Array<string>(2_001).fill('a');
    expect(differenceOf(long, ['a'])).toEqual([...long.map(() => '-a'), '+a']);
  });
});

describe('log lines in batches', () => {
  it('are one write a tenth of a second after the first, in their order, and none if none came', () => {
    const clock = manualClock();
    const writtenLines: string[] = [];
    const lines = createLineBatches(clock, (text) => void writtenLines.push(text));
    lines.add('one\n');
    lines.add('two\n');
    clock.advance(99);
    expect(writtenLines).toEqual([]);
    clock.advance(1);
    expect(writtenLines).toEqual(['one\ntwo\n']);
    lines.flush();
    clock.advance(1_000);
    expect(writtenLines).toHaveLength(1);
  });

  it('are written at once when 64 KiB wait, so that no more is kept', () => {
    const writtenLines: string[] = [];
    const lines = createLineBatches(manualClock(), (text) => void writtenLines.push(text));
    const line = `${'x'.repeat(1_023)}\n`;
    for (let count = 0; count < 64; count += 1) lines.add(line);
    expect(writtenLines).toEqual([line.repeat(64)]);
  });
});
