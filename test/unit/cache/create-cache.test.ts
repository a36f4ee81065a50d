import { expect, it } from '#jest';
import { createCache } from '../../../shared/foundation/cache/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

it('an entry is there for as long as it is fresh, counted from the last time it was set', () => {
  const clock = manualClock();
  const cache = createCache<true>({ sizeMax: 10, age: { freshMs: 1_000, clock } });
  expect(cache.has('a')).toBe(false);
  cache.set('a', true);
  clock.advance(600);
  cache.set('a', true);
  clock.advance(999);
  expect(cache.has('a')).toBe(true);
  clock.advance(1);
  expect(cache.has('a')).toBe(false);
});

it('an entry without an age stays, whatever time passes', () => {
  const cache = createCache<true>({ sizeMax: 10 });
  cache.set('a', true);
  expect(cache.getRemainingTTL('a')).toBe(Number.POSITIVE_INFINITY);
  expect(cache.has('a')).toBe(true);
});

it('more than the cache holds displaces the entry that was used longest ago, and says so', () => {
  const dropped: string[] = [];
  const cache = createCache<string>({ sizeMax: 2, onDrop: (value) => dropped.push(value) });
  for (const name of ['a', 'b', 'a', 'c']) if (cache.get(name) === undefined) cache.set(name, name);
  expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([true, false, true]);
  expect(dropped).toEqual(['b']);
});
