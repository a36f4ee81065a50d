// CloudWatch's embedded metric format: numbers in a log line, and beside them what they are. No call to any service.

export interface Metrics {
  /** Name → value. Few names: each costs money per combination of its dimensions. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** Which dimensions the values are summed up by, one list per view. */
  readonly views: readonly (readonly string[])[];
  readonly values: Readonly<
    Record<string, { readonly unit: 'Count' | 'Milliseconds' | 'None'; readonly value: number }>
  >;
}

const namespace = 'gw';

export function embedMetrics({ dimensions, views, values }: Metrics, nowMs: number): Record<string, unknown> {
  const names = Object.entries(values);
  return {
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [
        { Namespace: namespace, Dimensions: views, Metrics: names.map(([Name, { unit }]) => ({ Name, Unit: unit })) },
      ],
    },
    ...dimensions,
    ...Object.fromEntries(names.map(([name, { value }]) => [name, value])),
  };
}
