// Writes CloudWatch's embedded metric format, in which a log line declares which of its numbers are metrics, without a
// call to any service.
import { brand } from '../constants/index.ts';

export interface Metrics {
  /**
   * Values of the dimensions other than the stage, by name. A series is dropped when one of its dimensions has no
   * value.
   */
  readonly dimensions: Readonly<Record<string, string | undefined>>;
  /** Metrics and the dimensions that sum them up. Each value of a dimension is billed per metric. */
  readonly series: readonly { readonly dimensions: readonly string[]; readonly metrics: readonly string[] }[];
  readonly values: Readonly<
    Record<string, { readonly unit: 'Count' | 'Milliseconds' | 'None'; readonly value: number }>
  >;
}

export function embedMetrics({ dimensions, series, values }: Metrics, nowMs: number): Record<string, unknown> {
  const CloudWatchMetrics: Declaration[] = [];
  const embedded: Record<string, unknown> = { _aws: { Timestamp: nowMs, CloudWatchMetrics } };
  for (const one of series) {
    if (one.dimensions.every((name) => name === 'stage' || dimensions[name] !== undefined))
      CloudWatchMetrics.push(declarationOf(one, values));
  }
  for (const name in dimensions) if (dimensions[name] !== undefined) embedded[name] = dimensions[name];
  for (const name in values) embedded[name] = values[name]?.value;
  return embedded;
}

type OneSeries = Metrics['series'][number];

interface Declaration {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
}

/** The last declaration of each series, because calls of one kind have the same values. */
const lastDeclarations = new WeakMap<OneSeries, Declaration>();

function declarationOf(one: OneSeries, values: Metrics['values']): Declaration {
  // CloudWatch refuses a line that declares a metric without a value.
  let count = 0;
  for (const name of one.metrics) if (values[name] !== undefined) count += 1;
  const last = lastDeclarations.get(one);
  const isSame = ({ Name, Unit }: Declaration['Metrics'][number]) => values[Name]?.unit === Unit;
  if (last !== undefined && last.Metrics.length === count && last.Metrics.every(isSame)) return last;
  const metricNames = one.metrics.filter((name) => values[name] !== undefined);
  const Metrics = metricNames.map((Name) => ({ Name, Unit: String(values[Name]?.unit) }));
  const declaration = { Namespace: brand, Dimensions: [one.dimensions], Metrics };
  lastDeclarations.set(one, declaration);
  return declaration;
}
