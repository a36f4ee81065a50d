// CloudWatch's embedded metric format: numbers in a log line, and beside them which of them are metrics. No call to any
// service.
import { brand } from '../constants/index.ts';

export interface Metrics {
  /** Values of dimensions besides the stage, by name. A series whose dimension has no value is left out. */
  readonly dimensions: Readonly<Record<string, string | undefined>>;
  /** Which metrics are summed up by which dimensions. Each value of a dimension is billed per metric. */
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
