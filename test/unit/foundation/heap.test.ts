import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { collectGarbage, textOfBytes } from '../../../shared/foundation/heap/index.ts';

describe('the text of bytes', () => {
  it('is the same in pieces as at once, wherever a character is cut', () => {
    const filler = fc.integer({ min: 256 * 1024 - 8, max: 256 * 1024 + 8 });
    const characters = fc.constantFrom('é', '€', '😀', '\ud800', 'a');
    fc.assert(
      fc.property(filler, fc.array(characters, { maxLength: 8 }), filler, (before, some, behind) => {
        const bytes = Buffer.from('a'.repeat(before) + some.join('') + 'b'.repeat(behind) + some.join(''));
        expect(textOfBytes(bytes)).toBe(bytes.toString('utf8'));
      }),
      { numRuns: 30 },
    );
  });
});

const megabyte = 1024 * 1024;

it('the pages of collected objects are returned to the system if that is wanted', () => {
  const fill = () => Array.from({ length: 3_000 }, (_none, at) => JSON.parse(JSON.stringify([at, 'a'.repeat(60_000)])));
  expect(fill().length).toBe(3_000);
  collectGarbage();
  const { rss: before } = process.memoryUsage();
  collectGarbage({ returnsPages: true });
  expect(before - process.memoryUsage().rss).toBeGreaterThan(100 * megabyte);
});
