import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { freeBytes, gatherBytes } from '../../../shared/foundation/heap/index.ts';

describe('gathered bytes', () => {
  it('are those that came, however many were announced', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, fc.nat({ max: 50_000 }), (parts, expectedBytes) => {
        const gathered = gatherBytes(expectedBytes);
        for (const part of parts) gathered.add(part);
        const whole = Buffer.concat(parts);
        expect(gathered.length).toBe(whole.length);
        const bytes = gathered.take();
        expect(bytes.equals(whole)).toBe(true);
        // The buffer has no unused memory, and dropping the rest does not change it.
        expect(bytes.buffer.byteLength).toBe(whole.length);
        gathered.drop();
        expect(bytes.equals(whole)).toBe(true);
      }),
    );
  });

  it('take no more memory than twice what has come, whatever was announced', () => {
    const gathered = gatherBytes(4_000_000);
    gathered.add(Buffer.alloc(100_000));
    const before = process.memoryUsage().arrayBuffers;
    gathered.add(Buffer.alloc(1));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000);
  });
});

describe('bytes that are freed', () => {
  it('are gone at once, unless they share their memory', () => {
    const bytes = Buffer.from(new ArrayBuffer(1_000_000));
    const before = process.memoryUsage().arrayBuffers;
    freeBytes(bytes);
    expect(bytes.length).toBe(0);
    expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(900_000);
    const shared = Buffer.from('a text in the pool');
    freeBytes(shared);
    expect(shared.toString()).toBe('a text in the pool');
  });
});
