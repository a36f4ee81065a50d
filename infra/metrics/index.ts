import type { CallMetrics } from './call-metrics.ts';
import type { MetricValues } from './prometheus.ts';
import type { ReadMetrics } from './serve-metrics.ts';

export { type CallMetrics, createCallMetrics } from './call-metrics.ts';
export { createMetricsGateway, metricsAlone, type ReadMetrics } from './serve-metrics.ts';
export type { MetricValues };

/** Writes the metrics of several processes as one sum. */
export function createMetricsText(): (processes: readonly MetricValues[]) => Promise<string> {
  let loading: Promise<(processes: readonly MetricValues[]) => Promise<string>> | undefined;
  return async (processes) => {
    loading ??= import('./prometheus.ts').then((loaded) => loaded.createMetricsText());
    return (await loading)(processes);
  };
}

/** Reads the metrics of a process that serves alone. */
export function readAlone(metrics: CallMetrics): ReadMetrics {
  const textOf = createMetricsText();
  return async () => textOf([await metrics.read()]);
}

/** Sums the counters of processes that have ended, because a counter must never fall. */
export const sumOfCounts = async (processes: readonly MetricValues[]): Promise<MetricValues> =>
  (await import('./prometheus.ts')).sumOfCounts(processes);
