import type { MetricValues } from './prometheus.ts';

export { type CallMetrics, createCallMetrics } from './call-metrics.ts';
export { createMetricsGateway, metricsAlone, type ReadMetrics } from './serve-metrics.ts';
export type { MetricValues };

/** Of several processes, as one sum. */
export const metricsText = async (processes: readonly MetricValues[]): Promise<string> =>
  (await import('./prometheus.ts')).metricsText(processes);

/** Of what only rises: the counts of processes that have ended. */
export const sumOfCounts = async (processes: readonly MetricValues[]): Promise<MetricValues> =>
  (await import('./prometheus.ts')).sumOfCounts(processes);
