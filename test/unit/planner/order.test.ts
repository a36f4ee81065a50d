import { describe, expect, it } from '#jest';
import type { CandidateStats, PlanFacts } from '../../../shared/routing/planner/index.ts';
import { makePlan } from '../../../shared/routing/planner/index.ts';
import { entryOf, isOneOf, planFactsOf, planned, priced, requestOf } from '../../support/planning.ts';

const sorted = (facts: PlanFacts, provider: Record<string, unknown> = {}) => planned({ provider }, facts);

const statsFrom =
  (table: Record<string, CandidateStats>): PlanFacts['statsOf'] =>
  ({ provider }) =>
    table[provider.id];

describe('the order of trying', () => {
  it('ends with the first candidate where the request refers to what one provider keeps', () => {
    const facts = planFactsOf([entryOf('dear', priced('3', '6')), entryOf('cheap', priced('1', '2'))]);
    expect(makePlan(requestOf(), facts)).toHaveLength(2);
    expect(makePlan({ ...requestOf(), firstCandidateOnly: true }, facts)).toMatchObject([
      { provider: { id: 'cheap' } },
    ]);
  });

  const defaultFacts = planFactsOf([
    entryOf('dear', priced('3', '6')),
    entryOf('cheap', priced('1', '2')),
    entryOf('also-cheap', priced('2', '1')),
    entryOf('free', priced('0')),
  ]);

  it('is input plus output price without preferences, catalogue order on ties', () => {
    expect(sorted(defaultFacts)).toEqual(['free', 'cheap', 'also-cheap', 'dear']);
    expect(sorted(defaultFacts, { sort: 'price' })).toEqual(['free', 'cheap', 'also-cheap', 'dear']);
    expect(sorted(defaultFacts, { sort: null })).toEqual(['free', 'cheap', 'also-cheap', 'dear']);
  });

  it('puts cooling providers last in their usual order, and never leaves them out', () => {
    const cooling = { ...defaultFacts, isCooling: isOneOf('free', 'also-cheap') };
    expect(sorted(cooling)).toEqual(['cheap', 'dear', 'free', 'also-cheap']);
    expect(sorted({ ...defaultFacts, isCooling: () => true })).toEqual(['free', 'cheap', 'also-cheap', 'dear']);
    expect(sorted(cooling, { only: 'free' })).toEqual(['free']);
  });

  it('puts cooling providers last under sort too', () => {
    const statsOf = statsFrom({ dear: speed(1, 99), cheap: speed(2, 9) });
    const cooling = { ...defaultFacts, isCooling: isOneOf('free', 'dear'), statsOf };
    expect(sorted(cooling, { sort: 'price' })).toEqual(['cheap', 'also-cheap', 'free', 'dear']);
    expect(sorted(cooling, { sort: 'latency' })).toEqual(['cheap', 'also-cheap', 'dear', 'free']);
    expect(sorted(cooling, { sort: 'throughput' })).toEqual(['cheap', 'also-cheap', 'dear', 'free']);
  });

  it('is the one that the request names, cooling or not', () => {
    const facts = { ...defaultFacts, isCooling: isOneOf('dear'), statsOf: statsFrom({ dear: speed(1, 99) }) };
    expect(sorted(facts, { order: ['dear', 'cheap'] })).toEqual(['dear', 'cheap', 'free', 'also-cheap']);
    expect(sorted(facts, { order: ['dear'], sort: 'latency' })[0]).toBe('dear');
  });
});

const speed = (medianLatencyMs: number | undefined, throughputRpm: number): CandidateStats => ({
  medianLatencyMs,
  throughputRpm,
});

describe('provider.sort', () => {
  const defaultFacts: PlanFacts = {
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
    expect(sorted(defaultFacts, { sort: 'latency' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('by throughput tries the highest first; who had no success counts as unmeasured', () => {
    expect(sorted(defaultFacts, { sort: 'throughput' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('without any measurement falls back to price', () => {
    const unmeasured = { ...defaultFacts, statsOf: () => undefined };
    const byPrice = ['unmeasured', 'slow', 'failing', 'twin', 'fast'];
    expect(sorted(unmeasured, { sort: 'latency' })).toEqual(byPrice);
    expect(sorted(unmeasured, { sort: 'throughput' })).toEqual(byPrice);
  });

  it('ranks those whom order does not name', () => {
    expect(sorted(defaultFacts, { sort: 'latency', order: ['twin'] })).toEqual([
      'twin',
      'fast',
      'slow',
      'unmeasured',
      'failing',
    ]);
  });

  it('decides who is alone without fallbacks', () => {
    expect(sorted(defaultFacts, { sort: 'latency', allow_fallbacks: false })).toEqual(['fast']);
  });
});

describe('a prompt that most likely exceeds a context', () => {
  const defaultFacts = planFactsOf([
    entryOf('small', { ...priced('1'), context_length: 10 }),
    entryOf('large', { ...priced('5'), context_length: 10_000 }),
  ]);
  const long = { messages: [{ role: 'user', content: 'x'.repeat(1_000) }] };
  const longParts = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(1_000) }] }] };

  it('is tried with the small context last, and never refused: only the tokenizer knows', () => {
    expect(planned(long, defaultFacts)).toEqual(['large', 'small']);
    expect(planned(longParts, defaultFacts)).toEqual(['large', 'small']);
    expect(planned({ ...long, provider: { only: 'small' } }, defaultFacts)).toEqual(['small']);
    expect(planned({ ...long, provider: { max_price: 2 } }, defaultFacts)).toEqual(['small']);
    expect(planned({ ...long, provider: { allow_fallbacks: false } }, defaultFacts)).toEqual(['large']);
  });

  it('still goes before those who cool', () => {
    expect(planned(long, { ...defaultFacts, isCooling: isOneOf('large') })).toEqual(['small', 'large']);
  });

  it('is measured in bytes of UTF-8, as tokenizers read', () => {
    expect(planned({ messages: [{ role: 'user', content: '界'.repeat(20) }] }, defaultFacts)).toEqual([
      'large',
      'small',
    ]);
    expect(planned({ messages: [{ role: 'user', content: 'x'.repeat(50) }] }, defaultFacts)).toEqual([
      'small',
      'large',
    ]);
  });

  it('is measured by its text alone: the bytes of images and sounds say nothing', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1_000)}` } };
    expect(planned({ messages: [{ role: 'user', content: [image] }] }, defaultFacts)).toEqual(['small', 'large']);
  });
});
