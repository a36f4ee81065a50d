// Defines the series in prom-client, and writes their text. Loaded if metrics are served, as a separate file of the
// container's bundle.
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** From an answer out of the cache to a stream of an hour, in seconds. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
const firstOutputBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60];
const gatewayBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/**
 * Maximum number of workspaces that one process counts separately, and that a sum shows, because a scraper stores a
 * series for each workspace.
 */
const countedWorkspacesMax = 2_000;
const shownWorkspacesMax = 200;

/** The label of all other workspaces together. No workspace can have this id. */
const otherWorkspaces = '(other)';

/**
 * Returns the label of a workspace. The first workspaces have their ids, and the others share a label, so that no
 * series ever falls.
 */
function nameFirst(namesMax: number) {
  const first = new Set<string>();
  return (workspace: string): string => {
    if (first.size < namesMax && workspace !== otherWorkspaces) first.add(workspace);
    return first.has(workspace) ? workspace : otherWorkspaces;
  };
}

export function createSeries() {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['provider', 'model'] as const;
  const perModel = { labelNames: labelNames, registers };
  return {
    read: () => registry.getMetricsAsJSON(),
    workspaceLabel: nameFirst(countedWorkspacesMax),
    calls: new Counter({
      ...{ name: 'gw_calls_total', help: 'Calls of clients that ended, by outcome and error code' },
      ...{ labelNames: ['outcome', 'code', ...labelNames] as const, registers },
    }),
    tokens: new Counter({
      ...{ name: 'gw_tokens_total', help: 'Tokens; cached_input is a part of input, reasoning a part of output' },
      ...{ labelNames: ['kind', ...labelNames] as const, registers },
    }),
    cost: new Counter({
      ...{ name: 'gw_cost_usd_total', help: 'Cost in USD; payer client: by a key of the client at its provider' },
      ...{ labelNames: ['payer', ...labelNames] as const, registers },
    }),
    workspaceCalls: new Counter({
      ...{ name: 'gw_workspace_calls_total', help: 'Calls of a workspace that ended, by outcome' },
      ...{ labelNames: ['outcome', 'workspace'] as const, registers },
    }),
    workspaceCost: new Counter({
      ...{ name: 'gw_workspace_cost_usd_total', help: 'Cost of a workspace in USD; payer as in gw_cost_usd_total' },
      ...{ labelNames: ['payer', 'workspace'] as const, registers },
    }),
    failures: new Counter({
      ...{ name: 'gw_provider_failures_total', help: 'Attempts at a provider that failed, by cause' },
      ...{ labelNames: ['cause', ...labelNames] as const, registers },
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
    bytesInUse: new Gauge({ name: 'gw_kept_bytes', help: 'Memory kept for requests and answers', registers }),
    cooling: new Gauge({
      ...{
        name: 'gw_provider_cooling',
        help: 'Providers of a model that are asked last now, for all or some workspaces',
      },
      // Every process reports all cooling providers, so a sum uses the maximum.
      ...{ labelNames: ['scope', ...labelNames] as const, registers, aggregator: 'max' as const },
    }),
  };
}

export type Series = ReturnType<typeof createSeries>;

/** Writes sums of processes, always with the same workspaces by their ids. */
export function createMetricsText(): (processes: readonly MetricValues[]) => Promise<string> {
  const labelOf = nameFirst(shownWorkspacesMax);
  const shown = ({ labels, ...value }: MetricValues[number]['values'][number]) =>
    labels.workspace === undefined
      ? { ...value, labels }
      : { ...value, labels: { ...labels, workspace: labelOf(String(labels.workspace)) } };
  return (processes) =>
    sumOf(
      processes.map((metrics) => metrics.map((metric) => ({ ...metric, values: metric.values.map(shown) }))),
    ).metrics();
}

/** Sums the counters of processes that have ended, because a counter must never fall. */
export async function sumOfCounts(processes: readonly MetricValues[]): Promise<MetricValues> {
  const counts = processes.map((values) => values.filter(({ type }) => String(type) !== 'gauge'));
  return sumOf(counts).getMetricsAsJSON();
}

const sumOf = (processes: readonly MetricValues[]) => AggregatorRegistry.aggregate([...processes]);
