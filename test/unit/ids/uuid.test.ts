import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { systemRandomness, uuidv7 } from '../../../shared/foundation/ids/index.ts';

const zeros = { uuid: () => '00000000-0000-4000-8000-000000000000' };
const ones = { uuid: () => 'ffffffff-ffff-4fff-bfff-ffffffffffff' };
const timeMs = fc.nat({ max: 2 ** 48 - 1 });

describe('a UUID of version 7', () => {
  it('is the time, the version, the variant and otherwise random', () => {
    // The time of the example in RFC 9562, appendix A.6.
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

  it('sorts behind every one that was made a millisecond or more before', () => {
    fc.assert(
      fc.property(timeMs, timeMs, (a, b) => {
        fc.pre(a !== b);
        expect(uuidv7(systemRandomness, a) < uuidv7(systemRandomness, b)).toBe(a < b);
      }),
    );
  });
});
