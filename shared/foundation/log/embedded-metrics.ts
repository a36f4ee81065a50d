// Writes CloudWatch's embedded metric format: a log line declares which of its numbers are metrics, without a call to
// any service.
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
  const CloudWatchMetrics: Record<string, unknown>[] = [];
  const embedded: Record<string, unknown> = { _aws: { Timestamp: nowMs, CloudWatchMetrics } };
  for (const one of series) {
    if (!one.dimensions.every((name) => name === 'stage' || dimensions[name] !== undefined)) continue;
    const Metrics: { readonly Name: string; readonly Unit: string }[] = [];
    // CloudWatch refuses a line that declares a metric without a value.
    for (const Name of one.metrics) if (values[Name] !== undefined) Metrics.push({ Name, Unit: values[Name].unit });
    CloudWatchMetrics.push({ Namespace: brand, Dimensions: [one.dimensions], Metrics });
  }
  for (const name of Object.keys(dimensions)) if (dimensions[name] !== undefined) embedded[name] = dimensions[name];
  for (const name of Object.keys(values)) embedded[name] = values[name]?.value;
  return embedded;
}
