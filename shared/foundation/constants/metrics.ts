// Names the CloudWatch metrics of requests and of failed provider calls.

/**
 * Metrics of a request's log line and the dimensions that sum them up. CloudWatch bills each combination of metric and
 * dimension values by the month, so a line declares 12 at most. `GatewayTime` is absent if the call waited for the
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
 * Resources that may be too small for a stage. A refusal names the resource in its log line. All refusals count in one
 * metric, and its alarm says which resource to raise.
 */
export const stageResources = [
  'service_concurrency',
  'service_function_concurrency',
  'process_memory',
  'schema_workers',
  'write_queue',
] as const;
export type StageResource = (typeof stageResources)[number];

/**
 * Controls that failed while their call went on, so that no client notices: a guardrail that passes on failure, bodies
 * and results that were not stored, alerts that were not sent. A log line names the control in `failed_control`. All
 * these lines count in one metric with an alarm.
 */
const failingControls = ['guardrail', 'content', 'result', 'alert'] as const;
export type FailingControl = (typeof failingControls)[number];

/**
 * Metrics of an attempt's log line, because a request's line names only the provider that answered, not the providers
 * that failed before.
 */
export const attemptMetricSeries = [{ dimensions: ['stage', 'provider'], metrics: ['FailedAttempts'] }] as const;

/** Metrics of a process that serves many calls at once. The average is for one process, however many processes run. */
export const processMetricSeries = [{ dimensions: ['stage'], metrics: ['CallsInFlight'] }] as const;

export type ProcessMetricName = (typeof processMetricSeries)[0]['metrics'][number];

export type AttemptMetricName = (typeof attemptMetricSeries)[0]['metrics'][number];

export type RequestMetricName = (typeof requestMetricSeries)[0]['metrics'][number];

// Events in log lines that metric filters of a deployed stage count.

/** A request carried an origin secret that is not accepted. */
export const originRefused = 'origin_refused';
/**
 * The connection of an answer of bytes was closed early, because the provider broke off. The client then does not treat
 * the answer as complete.
 */
export const answerBroken = 'answer_broken';
/** The code of a function failed while it was loaded. */
export const loadFailed = 'load_failed';
