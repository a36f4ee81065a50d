import { describe, expect, it } from '#jest';
import { createLog, type LogFields, type LogLevel } from '../../../shared/foundation/log/index.ts';

const clock = { nowMs: () => 1_800_000_000_000, after: () => () => {} };

function logInto(level: LogLevel = 'info') {
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
    expect(error.stack).toContain('log.test');
  });

  it('is written for anything thrown, and never throws itself', () => {
    const { log, lines } = logInto();
    const circular: { message: string; cause?: unknown } = { message: 'odd' };
    circular.cause = circular;
    for (const thrown of ['text', 7, null, {}, circular]) log.error({ event: 'odd' }, thrown);
    expect(lines).toHaveLength(5);
    const broken = createLog({
      clock,
      write: () => {
        throw new Error('EPIPE');
      },
    });
    expect(() => broken.error({ event: 'lost' }, new Error('x'))).not.toThrow();
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
