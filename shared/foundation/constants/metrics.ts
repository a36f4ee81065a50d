// The CloudWatch metrics of a request, written by shared/protocol/router and read by dashboard and alarms.

/**
 * Which metrics of a request's log line are summed up by which dimensions. CloudWatch bills each combination of metric and
 * dimension values by the month, so a line declares 12 at most (contract 12).
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
  { dimensions: ['stage', 'provider'], metrics: ['Requests', 'Errors', 'CostMicroUsd'] },
  { dimensions: ['stage', 'outcome_class'], metrics: ['Requests'] },
] as const;

export type RequestMetricName = (typeof requestMetricSeries)[0]['metrics'][number];
