import { describe, expect, it } from '#jest';
import { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan } from '../../../shared/routing/planner/index.ts';
import { entryOf, planFactsOf, planned, priced, providerOf, requestOf } from '../../support/planning.ts';

/** In catalogue order dear, cheap, middling; `idle` is known but serves nothing. */
const defaultInput = planFactsOf(
  [entryOf('dear', priced('9')), entryOf('cheap', priced('1')), entryOf('middling', priced('5'))],
  [providerOf('idle')],
);
const choosing = (provider: Record<string, unknown>, input = defaultInput) => planned({ provider }, input);

describe('provider.only', () => {
  it('repeats an unknown id shortened, so that an answer never grows with the request', () => {
    const error = makePlan(requestOf({ provider: { only: 'x'.repeat(100_000) } }), defaultInput);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).message.length).toBeLessThan(200);
  });
});

describe('the order of trying', () => {
  it('ends with the first candidate where the request refers to what one provider keeps', () => {
    const input = planFactsOf([entryOf('dear', priced('3', '6')), entryOf('cheap', priced('1', '2'))]);
    expect(makePlan(requestOf(), input)).toHaveLength(2);
    expect(makePlan({ ...requestOf(), keptIds: [] }, input)).toMatchObject([{ provider: { id: 'cheap' } }]);
  });
});

describe('a prompt that most likely exceeds a context', () => {
  const defaultInput = planFactsOf([
    entryOf('small', { ...priced('1'), context_length: 10 }),
    entryOf('large', { ...priced('5'), context_length: 10_000 }),
  ]);

  it('is measured in bytes of UTF-8, as tokenizers read', () => {
    expect(planned({ messages: [{ role: 'user', content: '界'.repeat(20) }] }, defaultInput)).toEqual([
      'large',
      'small',
    ]);
    expect(planned({ messages: [{ role: 'user', content: 'x'.repeat(50) }] }, defaultInput)).toEqual([
      'small',
      'large',
    ]);
  });

  it('is measured by its text alone: the bytes of images and sounds say nothing', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1_000)}` } };
    expect(planned({ messages: [{ role: 'user', content: [image] }] }, defaultInput)).toEqual(['small', 'large']);
  });
});

const capped = (max_price: unknown, ...entries: readonly ReturnType<typeof entryOf>[]) =>
  planned({ provider: { max_price } }, planFactsOf([...entries]));

describe('provider.max_price', () => {
  it('is exact to the last decimal of a price', () => {
    const entry = entryOf('p', priced('0.000002'));
    expect(capped('0.000002', entry)).toEqual(['p']);
    expect(capped(0.000002, entry)).toEqual(['p']);
    expect(capped('0.000001999999', entry)).toBe('price_cap_exceeded');
    expect(capped(0.1, entryOf('p', priced('0.1')))).toEqual(['p']);
    expect(capped(1e300, entry)).toEqual(['p']);
  });

  it('is exact to more decimals than any price has', () => {
    expect(choosing({ max_price: '0.0000000000001' })).toBe('price_cap_exceeded');
    const names = choosing({ max_price: '1000000.1234567890123' });
    expect(names).toEqual(choosing({}));
  });
});
