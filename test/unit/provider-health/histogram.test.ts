import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  addCount,
  addHistogram,
  bucketOf,
  type Histogram,
  lastBucket,
  medianOf,
  totalOf,
} from '../../../shared/accounting/provider-health/histogram.ts';

const histogramOf = (durations: readonly number[]): Histogram => {
  const histogram: Histogram = new Map();
  for (const duration of durations) addCount(histogram, bucketOf(duration), 1);
  return histogram;
};

const mergeOf = (histograms: readonly Histogram[]): Histogram => {
  const merged: Histogram = new Map();
  for (const histogram of histograms) addHistogram(merged, histogram);
  return merged;
};

const sorted = (histogram: Histogram) => [...histogram].sort(([a], [b]) => a - b);
/** Of one bucket, from its middle to its edge, with room for the rounding of the logarithm. */
const resolution = Math.sqrt(1.12) * 1.000001;
const duration = fc.double({ min: 1, max: 70_000, noNaN: true });

describe('a histogram', () => {
  it('is the same whatever order its parts are merged in, and loses no count', () => {
    fc.assert(
      fc.property(fc.array(fc.array(duration)), fc.func(fc.integer()), (parts, rank) => {
        const shuffled = parts.toSorted((a, b) => rank(a) - rank(b));
        const merged = mergeOf(parts.map(histogramOf));
        expect(sorted(mergeOf(shuffled.map(histogramOf)))).toEqual(sorted(merged));
        expect(sorted(histogramOf(parts.flat()))).toEqual(sorted(merged));
        expect(totalOf(merged)).toBe(parts.flat().length);
      }),
    );
  });

  it('has a median within six percent of the true one, so between the smallest and the largest duration', () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1 }), (durations) => {
        const median = medianOf(histogramOf(durations)) ?? Number.NaN;
        const inOrder = durations.toSorted((a, b) => a - b);
        const exact = inOrder[Math.ceil(inOrder.length / 2) - 1] ?? Number.NaN;
        expect(median).toBeGreaterThanOrEqual(exact / resolution);
        expect(median).toBeLessThanOrEqual(exact * resolution);
        expect(median).toBeGreaterThanOrEqual(Math.min(...durations) / resolution);
        expect(median).toBeLessThanOrEqual(Math.max(...durations) * resolution);
      }),
    );
  });

  it('has no median without counts', () => {
    expect(medianOf(new Map())).toBeUndefined();
  });

  it.each([
    [Number.NaN, 0],
    [-5, 0],
    [0, 0],
    [Number.POSITIVE_INFINITY, lastBucket],
    [1e12, lastBucket],
  ])('puts %p into bucket %p: no duration makes a bucket of its own', (durationMs, bucket) => {
    expect(bucketOf(durationMs)).toBe(bucket);
  });
});
