// Durations as counts per bucket: sums of histograms are histograms, so any number of writers can add to one without
// reading it. Each bucket is 12 % wider than the one below, so a median is right to about 6 %.

/** Counts per bucket number; buckets without a count are left out. */
export type Histogram = Map<number, number>;

const growth = 1.12;
/** The last bucket starts at 1.12^99 = 74.6 seconds, past every deadline, and two digits name it. */
export const lastBucket = 99;

/** The bucket of a duration: number n holds 1.12^n up to 1.12^(n+1) milliseconds, the first and last what lies beyond. */
export const bucketOf = (durationMs: number): number =>
  durationMs >= 1 ? Math.min(lastBucket, Math.floor(Math.log(durationMs) / Math.log(growth))) : 0;

export const addCount = (histogram: Histogram, bucket: number, count: number): void => {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
};

export function addHistogram(target: Histogram, source: Histogram): void {
  for (const [bucket, count] of source) addCount(target, bucket, count);
}

export const totalOf = (histogram: Histogram): number => histogram.values().reduce((sum, count) => sum + count, 0);

/** The geometric middle of the bucket that holds the (lower) median, in milliseconds; undefined without counts. */
export function medianOf(histogram: Histogram): number | undefined {
  const rank = Math.ceil(totalOf(histogram) / 2);
  let seen = 0;
  for (const [bucket, count] of [...histogram].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return growth ** (bucket + 0.5);
  }
  return undefined;
}
