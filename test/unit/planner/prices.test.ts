import { describe, expect, it } from '@jest/globals';
import { entryOf, planned, priced, worldOf } from './planning.ts';

const capped = (max_price: unknown, ...entries: readonly ReturnType<typeof entryOf>[]) =>
  planned({ provider: { max_price } }, worldOf([...entries]));

describe('provider.max_price', () => {
  const world = [
    entryOf('even', priced('2.50', '2.50')),
    entryOf('talker', priced('1', '10')),
    entryOf('reader', priced('10', '1')),
  ];

  it('as a number or a decimal string caps both prices', () => {
    expect(capped(2.5, ...world)).toEqual(['even']);
    expect(capped('2.50', ...world)).toEqual(['even']);
    expect(capped(10, ...world)).toEqual(['even', 'talker', 'reader']);
  });

  it('per side caps that side only', () => {
    expect(capped({ prompt: 2.5 }, ...world)).toEqual(['even', 'talker']);
    expect(capped({ completion: '2.5' }, ...world)).toEqual(['even', 'reader']);
    expect(capped({ prompt: 1, completion: 1 }, ...world)).toBe('price_cap_exceeded');
    expect(capped({}, ...world)).toHaveLength(3);
    expect(capped({ prompt: null }, ...world)).toHaveLength(3);
  });

  it('is exact to the last decimal of a price', () => {
    const entry = entryOf('p', priced('0.000002'));
    expect(capped('0.000002', entry)).toEqual(['p']);
    expect(capped(0.000002, entry)).toEqual(['p']);
    expect(capped('0.000001999999', entry)).toBe('price_cap_exceeded');
    expect(capped(0.1, entryOf('p', priced('0.1')))).toEqual(['p']);
    expect(capped(1e300, entry)).toEqual(['p']);
  });

  it('of zero leaves the free providers', () => {
    expect(capped(0, entryOf('free', priced('0')), ...world)).toEqual(['free']);
    expect(capped(0, ...world)).toBe('price_cap_exceeded');
    expect(capped('0', entryOf('half', priced('0', '0.000001')))).toBe('price_cap_exceeded');
  });
});

describe('an entry without prices', () => {
  it.each([
    ['neither price', priced(null)],
    ['no input price', priced(null, '1')],
    ['no output price', priced('1', null)],
  ])('cannot be billed and is never planned for credit: %s', (_, prices) => {
    const world = worldOf([entryOf('unpriced', prices), entryOf('q', priced('9'))]);
    expect(planned({}, world)).toEqual(['q']);
    expect(planned({ provider: { only: 'unpriced' } }, world)).toBe('model_not_routable');
  });

  it('is another thing than a free one, which is served', () => {
    expect(planned({}, worldOf([entryOf('free', priced('0'))]))).toEqual(['free']);
  });
});
