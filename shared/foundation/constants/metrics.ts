// The CloudWatch metrics of a request, written by shared/protocol/router and read by dashboard and alarms, and those of a
// provider call that failed.

/**
 * Which metrics of a request's log line are summed up by which dimensions. CloudWatch bills each combination of metric and
 * dimension values by the month, so a line declares 12 at most. `GatewayTime` is missing where the call waited for the
 * start of its process.
 */
export const requestMetricSeries = [
  {
    dimensions: ['stage'],
    metrics: [
      'Requests',
      'Errors',
      'TotalTime',
      'GatewayTime',
      'TimeToFirstOutput',
      'InputTokens',
      'OutputTokens',
      'CostMicroUsd',
    ],
  },
  { dimensions: ['stage', 'provider'], metrics: ['Requests', 'CostMicroUsd'] },
  { dimensions: ['stage', 'outcome_class'], metrics: ['Requests'] },
] as const;

/**
 * What a stage can have too little of. A refusal names it in its log line; all of them count in one metric, whose alarm says
 * what to raise.
 */
export const stageResources = [
  'service_concurrency',
  'service_function_concurrency',
  'process_memory',
  'schema_workers',
  'write_queue',
] as const;
export type StageResource = (typeof stageResources)[number];

/** Of the line of an attempt: a request's line names only the provider that answered, not those that it was rescued from. */
export const attemptMetricSeries = [{ dimensions: ['stage', 'provider'], metrics: ['FailedAttempts'] }] as const;

/** Of a process that serves many calls at once. Its average is that of one process, however many there are. */
export const processMetricSeries = [{ dimensions: ['stage'], metrics: ['CallsInFlight'] }] as const;

export type ProcessMetricName = (typeof processMetricSeries)[0]['metrics'][number];

export type AttemptMetricName = (typeof attemptMetricSeries)[0]['metrics'][number];

export type RequestMetricName = (typeof requestMetricSeries)[0]['metrics'][number];
