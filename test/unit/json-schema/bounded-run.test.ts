import { describe, expect, it } from '#jest';
import { runBounded } from '../../../shared/protocol/json-schema/bounded-run.ts';

const maxMs = 50;

describe('a bounded run', () => {
  it('hands back what the work returns', () => {
    const value = { a: 1 };
    expect(runBounded(() => value, maxMs)).toEqual({ kind: 'done', value });
    expect(runBounded(() => undefined, maxMs)).toEqual({ kind: 'done', value: undefined });
  });

  it('throws what the work throws', () => {
    const cause = new Error('mine');
    const work = () => {
      throw cause;
    };
    expect(() => runBounded(work, maxMs)).toThrow(cause);
  });

  it.each<[string, () => unknown]>([
    [
      'a loop that catches everything',
      () => {
        for (;;) {
          try {
            for (;;);
          } catch {}
        }
      },
    ],
    ['a regular expression', () => /^(a+)+$/u.test(`${'a'.repeat(60)}!`)],
    [
      'calls that double',
      () => {
        const double = (depth: number): number => (depth === 0 ? 1 : double(depth - 1) + double(depth - 1));
        return double(60);
      },
    ],
  ])('ends %s', (_name, work) => {
    expect(runBounded(work, maxMs)).toEqual({ kind: 'time_over' });
    expect(runBounded(() => 'next', maxMs)).toEqual({ kind: 'done', value: 'next' });
  });

  it('says so when the work exhausts the stack', () => {
    const recurse = (): number => recurse() + 1;
    expect(runBounded(recurse, 5_000)).toEqual({ kind: 'too_deep' });
  });
});
