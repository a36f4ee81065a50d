// Computes the figures that users and the planner see from counts.

import { candidateNameOf, modelNameOf } from './layout.ts';

// Stores durations as counts per bucket. Sums of histograms are histograms, so any number of writers can add to a
// histogram without reading it. Each bucket is 12 % wider than the bucket below, so a median is right to about 6 %.

/** Counts per bucket number; buckets without a count are absent. */
type Histogram = Map<number, number>;

const growth = 1.12;
/** Number of the last bucket, which starts at 1.12^99 = 74.6 seconds, after every deadline, and has two digits. */
const lastBucket = 99;

/**
 * Returns the bucket of a duration. Number n covers 1.12^n up to 1.12^(n+1) milliseconds, and the first and last bucket
 * also cover everything beyond.
 */
export const bucketOf = (durationMs: number): number =>
  durationMs >= 1 ? Math.min(lastBucket, Math.floor(Math.log(durationMs) / Math.log(growth))) : 0;

export const addCount = (histogram: Histogram, bucket: number, count: number): void => {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
};

export function addHistogram(target: Histogram, source: Histogram): void {
  for (const [bucket, count] of source) addCount(target, bucket, count);
}

const totalOf = (histogram: Histogram): number => histogram.values().reduce((sum, count) => sum + count, 0);

/** Returns the geometric middle of the bucket of the (lower) median, in milliseconds; undefined without counts. */
function medianOf(histogram: Histogram): number | undefined {
  const rank = Math.ceil(totalOf(histogram) / 2);
  let seen = 0;
  for (const [bucket, count] of [...histogram].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return growth ** (bucket + 0.5);
  }
  return undefined;
}

export interface HealthFigures {
  /**
   * Median time of successful calls to the last byte, in whole milliseconds; undefined when none succeeded recently.
   */
  readonly medianLatencyMs: number | undefined;
  /** Median time to the first token of streams, in whole milliseconds. */
  readonly medianFirstTokenMs: number | undefined;
  /** Successful calls per minute, with at most two decimals, so that String() gives a plain decimal. */
  readonly throughputRpm: number;
  /** The successful share of the successful and the failed calls, rounded down to four decimals: 1 means no failure. */
  readonly uptime: number;
  readonly unsuccessful: UnsuccessfulCalls;
}

/** Calls without an answer, by the kind of their failure. */
interface UnsuccessfulCalls {
  /** Failed calls, refused ones included. */
  readonly failed: number;
  /** Refusals of the gateway's credential, or because its account has no quota left. */
  readonly refused: number;
  readonly rateLimited: number;
}

/** Figures with a measured latency. */
interface MeasuredFigures extends HealthFigures {
  readonly medianLatencyMs: number;
}

/** Statistics of the last 15 to 30 minutes. */
export interface Statistics {
  /** Time at which the counts were read; undefined when there are none. */
  readonly measuredAtMs: number | undefined;
  /**
   * Returns undefined when no call succeeded recently, so that a provider that only fails is never taken for a fast
   * one.
   */
  measuredFigures(model: string, provider: string): MeasuredFigures | undefined;
  /**
   * Returns the figures also for a provider that only fails or limits; undefined when there was no call of any kind
   * recently.
   */
  candidateFigures(model: string, provider: string): HealthFigures | undefined;
  /** Returns the figures over all providers of the model; undefined when no call succeeded or failed recently. */
  modelFigures(model: string): HealthFigures | undefined;
}

export interface Counts {
  readonly latency: Histogram;
  readonly firstToken: Histogram;
  failed: number;
  refused: number;
  rateLimited: number;
}

export function figuresOf(counts: Counts, minutes: number): HealthFigures {
  const { latency, firstToken, failed, refused, rateLimited } = counts;
  const succeeded = totalOf(latency);
  return {
    medianLatencyMs: wholeMs(medianOf(latency)),
    medianFirstTokenMs: wholeMs(medianOf(firstToken)),
    throughputRpm: Math.round((succeeded * 100) / minutes) / 100,
    uptime: succeeded + failed === 0 ? 1 : Math.floor((succeeded * 10_000) / (succeeded + failed)) / 10_000,
    unsuccessful: { failed, refused, rateLimited },
  };
}

const wholeMs = (durationMs: number | undefined): number | undefined =>
  durationMs === undefined ? undefined : Math.round(durationMs);

/** Figures by short name (layout.ts), as they are stored. */
export interface FigureTables {
  readonly models: Readonly<Record<string, HealthFigures>>;
  readonly candidates: Readonly<Record<string, HealthFigures>>;
}

export function createStatistics(measuredAtMs: number, tables: FigureTables): Statistics {
  const models = new Map(Object.entries(tables.models));
  const candidates = new Map(Object.entries(tables.candidates));
  return {
    measuredAtMs,
    measuredFigures(model, provider) {
      const figures = candidates.get(candidateNameOf(model, provider));
      return figures !== undefined && isMeasured(figures) ? figures : undefined;
    },
    candidateFigures: (model, provider) => candidates.get(candidateNameOf(model, provider)),
    modelFigures: (model) => models.get(modelNameOf(model)),
  };
}

const isMeasured = (figures: HealthFigures): figures is MeasuredFigures => figures.medianLatencyMs !== undefined;

export const noStatistics: Statistics = {
  measuredAtMs: undefined,
  measuredFigures: () => undefined,
  candidateFigures: () => undefined,
  modelFigures: () => undefined,
};
