// CloudWatch's embedded metric format: a log line declares which of its numbers are metrics, without a call to any
// service.
import { brand } from '../constants/index.ts';

export interface Metrics {
  /** Values of dimensions besides the stage, by name. A series is dropped when one of its dimensions has no value. */
  readonly dimensions: Readonly<Record<string, string | undefined>>;
  /** Metrics and the dimensions that sum them up. Each value of a dimension is billed per metric. */
  readonly series: readonly { readonly dimensions: readonly string[]; readonly metrics: readonly string[] }[];
  readonly values: Readonly<
    Record<string, { readonly unit: 'Count' | 'Milliseconds' | 'None'; readonly value: number }>
  >;
}

export function embedMetrics({ dimensions, series, values }: Metrics, nowMs: number): Record<string, unknown> {
  const named = Object.entries(dimensions).filter(([, value]) => value !== undefined);
  const known = new Set(['stage', ...named.map(([name]) => name)]);
  return {
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: series
        .filter((one) => one.dimensions.every((name) => known.has(name)))
        .map((one) => ({
          Namespace: brand,
          Dimensions: [one.dimensions],
          // CloudWatch refuses a line that declares a metric without a value.
          Metrics: one.metrics.flatMap((Name) =>
            values[Name] === undefined ? [] : [{ Name, Unit: values[Name].unit }],
          ),
        })),
    },
    ...Object.fromEntries(named),
    ...Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value])),
  };
}
