import { describe, expect, it } from '#jest';
import { entryOf, planFactsOf, planned, priced } from '../../support/planning.ts';

const capped = (max_price: unknown, ...entries: readonly ReturnType<typeof entryOf>[]) =>
  planned({ provider: { max_price } }, planFactsOf([...entries]));

describe('provider.max_price', () => {
  const defaultFacts = [
    entryOf('even', priced('2.50', '2.50')),
    entryOf('talker', priced('1', '10')),
    entryOf('reader', priced('10', '1')),
  ];

  it('as a number or a decimal string caps both prices', () => {
    expect(capped(2.5, ...defaultFacts)).toEqual(['even']);
    expect(capped('2.50', ...defaultFacts)).toEqual(['even']);
    expect(capped(10, ...defaultFacts)).toEqual(['even', 'talker', 'reader']);
  });

  it('per side caps that side only', () => {
    expect(capped({ prompt: 2.5 }, ...defaultFacts)).toEqual(['even', 'talker']);
    expect(capped({ completion: '2.5' }, ...defaultFacts)).toEqual(['even', 'reader']);
    expect(capped({ prompt: 1, completion: 1 }, ...defaultFacts)).toBe('price_cap_exceeded');
    expect(capped({}, ...defaultFacts)).toHaveLength(3);
    expect(capped({ prompt: null }, ...defaultFacts)).toHaveLength(3);
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
    expect(capped(0, entryOf('free', priced('0')), ...defaultFacts)).toEqual(['free']);
    expect(capped(0, ...defaultFacts)).toBe('price_cap_exceeded');
    expect(capped('0', entryOf('half', priced('0', '0.000001')))).toBe('price_cap_exceeded');
  });
});

describe('an entry without prices', () => {
  it.each([
    ['neither price', priced(null)],
    ['no input price', priced(null, '1')],
    ['no output price', priced('1', null)],
  ])('cannot be billed and is never planned for credit: %s', (_, prices) => {
    const defaultFacts = planFactsOf([entryOf('unpriced', prices), entryOf('q', priced('9'))]);
    expect(planned({}, defaultFacts)).toEqual(['q']);
    expect(planned({ provider: { only: 'unpriced' } }, defaultFacts)).toBe('model_not_routable');
  });

  it('is another thing than a free one, which is served', () => {
    expect(planned({}, planFactsOf([entryOf('free', priced('0'))]))).toEqual(['free']);
  });
});
