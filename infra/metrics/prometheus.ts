// The series in prom-client, and their text. Loaded where metrics are served, in a file of its own of the container's bundle.
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** From an answer out of the cache to a stream of an hour. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
const firstOutputBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60];
const gatewayBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

export function createSeries() {
  const registry = new Registry();
  const registers = [registry];
  const served = ['provider', 'model'] as const;
  const perModel = { labelNames: served, registers };
  return {
    read: () => registry.getMetricsAsJSON(),
    calls: new Counter({
      ...{ name: 'gw_calls_total', help: 'Calls of clients that ended, by outcome and error code' },
      ...{ labelNames: ['outcome', 'code', ...served] as const, registers },
    }),
    tokens: new Counter({
      ...{ name: 'gw_tokens_total', help: 'Tokens; cached_input is a part of input, reasoning a part of output' },
      ...{ labelNames: ['kind', ...served] as const, registers },
    }),
    cost: new Counter({
      ...{ name: 'gw_cost_usd_total', help: 'Cost in USD; payer client: by a key of the client at its provider' },
      ...{ labelNames: ['payer', ...served] as const, registers },
    }),
    failures: new Counter({
      ...{ name: 'gw_provider_failures_total', help: 'Attempts at a provider that failed, by cause' },
      ...{ labelNames: ['cause', ...served] as const, registers },
    }),
    failedControls: new Counter({
      ...{ name: 'gw_failed_controls_total', help: 'Controls that failed while their call went on' },
      ...{ labelNames: ['control'] as const, registers },
    }),
    duration: new Histogram({
      ...{ name: 'gw_call_duration_seconds', help: 'From the arrival of a call to its last byte and its charge' },
      ...{ buckets: durationBuckets, ...perModel },
    }),
    firstOutput: new Histogram({
      ...{ name: 'gw_first_output_seconds', help: 'From the arrival of a streamed call to its first output' },
      ...{ buckets: firstOutputBuckets, ...perModel },
    }),
    gatewayTime: new Histogram({
      ...{ name: 'gw_gateway_seconds', help: 'Of that, what no provider took' },
      ...{ buckets: gatewayBuckets, registers },
    }),
    inFlight: new Gauge({ name: 'gw_calls_in_flight', help: 'Admitted calls that have not ended', registers }),
    keptBytes: new Gauge({ name: 'gw_kept_bytes', help: 'Memory kept for requests and answers', registers }),
    cooling: new Gauge({
      ...{
        name: 'gw_provider_cooling',
        help: 'Providers of a model that are asked last now, for all or some workspaces',
      },
      // Every process knows of all.
      ...{ labelNames: ['scope', ...served] as const, registers, aggregator: 'max' as const },
    }),
  };
}

export type Series = ReturnType<typeof createSeries>;

export const metricsText = (processes: readonly MetricValues[]): Promise<string> => sumOf(processes).metrics();

/** Sums what only rises: the counts of a process that has ended. */
export async function sumOfCounts(processes: readonly MetricValues[]): Promise<MetricValues> {
  const counts = processes.map((values) => values.filter(({ type }) => String(type) !== 'gauge'));
  return sumOf(counts).getMetricsAsJSON();
}

const sumOf = (processes: readonly MetricValues[]) => AggregatorRegistry.aggregate([...processes]);
