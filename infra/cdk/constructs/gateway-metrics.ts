// The numbers an operator looks at, by name: those that the gateway writes into its log lines, and what CloudWatch
// knows of the services below. Dashboard and alarms take them from here, so that both mean the same.
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { brand, physicalTableName, type TableName, tableNames } from '../../../shared/foundation/constants/index.ts';

export const period = Duration.minutes(5);
/** As shared/foundation/log writes it. */
const namespace = brand;
const serverErrors = 'ServerErrors';

/** Names in the embedded metrics of a request's log line. */
export type RequestMetricName =
  | 'Requests'
  | 'Errors'
  | 'TotalTime'
  | 'GatewayTime'
  | 'TimeToFirstOutput'
  | 'Fallbacks'
  | 'InputTokens'
  | 'OutputTokens'
  | 'CostMicroUsd';

/** `statistic`: "Sum", "p99" and so on. `outcome`: that of the request's line, all of them when left out. */
export const requestMetric = (
  stage: string,
  metricName: RequestMetricName | typeof serverErrors,
  statistic: string,
  { outcome, label }: { readonly outcome?: string; readonly label?: string } = {},
): Metric =>
  new Metric({
    namespace,
    metricName,
    dimensionsMap: { stage, ...(outcome === undefined ? {} : { outcome }) },
    statistic,
    period,
    ...(label === undefined ? {} : { label }),
  });

/** One line per value of a dimension that nobody knows beforehand. For graphs: alarms cannot search. */
export const requestMetricBy = (
  dimension: 'provider' | 'outcome',
  stage: string,
  metricName: RequestMetricName,
  statistic: string,
): MathExpression =>
  new MathExpression({
    expression: `SEARCH('{${namespace},stage,${dimension}} MetricName="${metricName}" stage="${stage}"', '${statistic}', ${period.toSeconds()})`,
    label: '',
    period,
  });

/** Answers that blame the gateway or what is behind it: a status from 500, or a stream that was cut. */
export function countServerErrors(scope: Construct, id: string, logGroup: LogGroup): void {
  new MetricFilter(scope, id, {
    logGroup,
    metricNamespace: namespace,
    metricName: serverErrors,
    filterPattern: FilterPattern.literal('{ $.event = "request" && ($.status >= 500 || $.outcome = "cut") }'),
    dimensions: { stage: '$.stage' },
  });
}

export const serverErrorMetric = (stage: string, label?: string): Metric =>
  requestMetric(stage, serverErrors, 'Sum', label === undefined ? {} : { label });

export const serverErrorPercent = (stage: string): MathExpression =>
  new MathExpression({
    expression: '100 * FILL(failed, 0) / all',
    usingMetrics: { failed: serverErrorMetric(stage), all: requestMetric(stage, 'Requests', 'Sum') },
    label: 'failed answers in percent',
    period,
  });

export const tableMetric = (stage: string, table: TableName, metricName: string, operation?: string): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: {
      TableName: physicalTableName(stage, table),
      ...(operation === undefined ? {} : { Operation: operation }),
    },
    statistic: 'Sum',
    period,
  });

/** Of all tables of a stage together, one line per table. */
export const tableMetricByTable = (stage: string, metricName: string): MathExpression => {
  const names = tableNames.map((table) => `"${physicalTableName(stage, table)}"`).join(' OR ');
  return new MathExpression({
    expression: `SEARCH('{AWS/DynamoDB,TableName} MetricName="${metricName}" TableName=(${names})', 'Sum', ${period.toSeconds()})`,
    label: '',
    period,
  });
};

/** CloudFront writes its metrics in us-east-1, wherever the stage is. */
export const distributionErrorRate = (distributionId: string): Metric =>
  new Metric({
    namespace: 'AWS/CloudFront',
    metricName: '5xxErrorRate',
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: 'Average',
    period,
    region: 'us-east-1',
    label: '5xx of the distribution in percent',
  });
