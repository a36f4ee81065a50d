import { expect, it } from '@jest/globals';
import { createRecentNames } from '../../../shared/foundation/cache/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

it('a name is noted for as long as it was said, counted from its last note', () => {
  const clock = manualClock();
  const names = createRecentNames({ clock, namesMax: 10, keptMs: 1_000 });
  expect(names.isNoted('a')).toBe(false);
  names.note('a');
  clock.advance(600);
  names.note('a');
  clock.advance(999);
  expect(names.isNoted('a')).toBe(true);
  clock.advance(1);
  expect(names.isNoted('a')).toBe(false);
});

it('more names than are kept displace the one that was noted longest ago', () => {
  const names = createRecentNames({ clock: manualClock(), namesMax: 2, keptMs: 1_000 });
  for (const name of ['a', 'b', 'a', 'c']) names.note(name);
  expect(['a', 'b', 'c'].map(names.isNoted)).toEqual([true, false, true]);
});
