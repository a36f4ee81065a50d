import { describe, expect, it } from '#jest';
import { GatewayError } from '../../../shared/errors/index.ts';
import { type CandidateStats, makePlan, type PlanInput } from '../../../shared/routing/planner/index.ts';
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

const sorted = (input: PlanInput, provider: Record<string, unknown> = {}) => planned({ provider }, input);

const statsFrom =
  (table: Record<string, CandidateStats>): PlanInput['statsOf'] =>
  ({ provider }) =>
    table[provider.id];

describe('the order of trying', () => {
  it('ends with the first candidate where the request refers to what one provider keeps', () => {
    const input = planFactsOf([entryOf('dear', priced('3', '6')), entryOf('cheap', priced('1', '2'))]);
    expect(makePlan(requestOf(), input)).toHaveLength(2);
    expect(makePlan({ ...requestOf(), keptIds: [] }, input)).toMatchObject([{ provider: { id: 'cheap' } }]);
  });
});

const speed = (medianLatencyMs: number | undefined, throughputRpm: number): CandidateStats => ({
  medianLatencyMs,
  throughputRpm,
});

describe('provider.sort', () => {
  const defaultInput: PlanInput = {
    ...planFactsOf([
      entryOf('unmeasured', priced('1')),
      entryOf('slow', priced('2')),
      entryOf('fast', priced('9')),
      entryOf('failing', priced('3')),
      entryOf('twin', priced('4')),
    ]),
    statsOf: statsFrom({
      slow: speed(900, 5),
      fast: speed(100, 60),
      failing: speed(undefined, 0),
      twin: speed(900, 5),
    }),
  };

  it('by latency tries the shortest first; ties go to the cheaper, the unmeasured come last, the cheaper first', () => {
    expect(sorted(defaultInput, { sort: 'latency' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('by throughput tries the highest first; who had no success counts as unmeasured', () => {
    expect(sorted(defaultInput, { sort: 'throughput' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('without any measurement falls back to price', () => {
    const unmeasured = { ...defaultInput, statsOf: () => undefined };
    const byPrice = ['unmeasured', 'slow', 'failing', 'twin', 'fast'];
    expect(sorted(unmeasured, { sort: 'latency' })).toEqual(byPrice);
    expect(sorted(unmeasured, { sort: 'throughput' })).toEqual(byPrice);
  });

  it('ranks those whom order does not name', () => {
    expect(sorted(defaultInput, { sort: 'latency', order: ['twin'] })).toEqual([
      'twin',
      'fast',
      'slow',
      'unmeasured',
      'failing',
    ]);
  });

  it('decides who is alone without fallbacks', () => {
    expect(sorted(defaultInput, { sort: 'latency', allow_fallbacks: false })).toEqual(['fast']);
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
