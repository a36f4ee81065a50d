import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { createReadCache } from '../../../shared/foundation/cache/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

const freshMs = 1_000;

function instance(sizeMax: number, sizeOf?: (value: string | undefined) => number) {
  const clock = manualClock();
  const options = sizeOf === undefined ? {} : { sizeOf };
  const cache = createReadCache<string | undefined>({ sizeMax, ...options, freshMs, clock });
  const reads: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      reads.push(key);
      return key;
    });
  return { clock, cache, reads, get };
}

describe('a read cache', () => {
  it('drops what was used longest ago, and nothing before it is full', async () => {
    const { reads, get } = instance(2);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(reads).toEqual(['a', 'b', 'c', 'b']);
  });

  it('of values that have size one keeps exactly the last ones used, in whatever order they are asked for', async () => {
    const histories = fc.array(fc.constantFrom(...'abcdef'), { maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), histories, async (sizeMax, keys) => {
        const { reads, get } = instance(sizeMax);
        for (const [at, key] of keys.entries()) {
          const lastUsed = [...new Set(keys.slice(0, at).toReversed())].slice(0, sizeMax);
          reads.length = 0;
          await get(key);
          expect(reads).toEqual(lastUsed.includes(key) ? [] : [key]);
        }
      }),
    );
  });

  it('drops as many small values as a large one needs, and keeps none that is larger than the whole cache', async () => {
    const { reads, get } = instance(4, (value) => value?.length ?? 0);
    for (const key of ['a', 'b', 'c', 'ddd', 'c', 'ddd']) await get(key);
    expect(reads).toEqual(['a', 'b', 'c', 'ddd']);
    for (const key of ['fives', 'fives']) await get(key);
    expect(reads.slice(4)).toEqual(['fives', 'fives']);
  });

  it('loses nothing to reads that fail or find nothing, however many', async () => {
    const { cache, reads, get } = instance(2);
    for (const key of ['a', 'b']) await get(key);
    const fruitless = (key: string) =>
      cache.get(key, async () => (key < 'n' ? Promise.reject(new Error()) : undefined));
    await Promise.allSettled([...'cdmnop'].map(fruitless));
    for (const key of ['a', 'b']) await get(key);
    expect(reads).toEqual(['a', 'b']);
  });

  it('has its whole room again when a value grew old, also one whose answer came too late to be kept', async () => {
    const { clock, cache, reads, get } = instance(2);
    const late = Promise.withResolvers<string>();
    const waiting = cache.get('a', () => late.promise);
    for (let round = 0; round < 3; round += 1) {
      clock.advance(freshMs);
      await get('a');
    }
    late.resolve('late');
    expect(await waiting).toBe('late');
    await get('b');
    reads.length = 0;
    expect(await Promise.all([get('a'), get('b')])).toEqual(['a', 'b']);
    expect(reads).toEqual([]);
  });

  it('takes the age from before the question, whatever the read does first', async () => {
    const { clock, cache, reads, get } = instance(1);
    await cache.get('a', async () => {
      clock.advance(freshMs);
      return 'old by now';
    });
    expect(await get('a')).toBe('a');
    expect(reads).toEqual(['a']);
  });

  it('caches no read that threw at once', async () => {
    const { cache, get } = instance(1);
    const broken = () => {
      throw new Error('broken');
    };
    await expect(cache.get('a', broken)).rejects.toThrow('broken');
    expect(await get('a')).toBe('a');
  });

  it('has forgotten a failure by the time its caller hears of it', async () => {
    const { cache, get } = instance(1);
    const failed = cache.get('a', async () => Promise.reject(new Error('down')));
    expect(await failed.catch(() => get('a'))).toBe('a');
  });
});
