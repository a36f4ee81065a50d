// CloudWatch metrics by name: those of the gateway's log lines, and those of the services below. Dashboard and alarms use
// the same definitions.
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  type AttemptMetricName,
  brand as namespace,
  type ProcessMetricName,
  physicalTableName,
  type RequestMetricName,
  type TableName,
  tableNames,
} from '../../../shared/foundation/constants/index.ts';

export const period = Duration.minutes(5);
export const metricNamespace = namespace;
const serverErrors = 'ServerErrors';
const failedSettlements = 'FailedSettlements';
const refusedAtMaximum = 'RefusedAtMaximum';
/** In percent; 0 where they were few. */
export const distributionFailures = 'DistributionErrors';

/** `statistic`: "Sum", "p99" and so on. `outcomeClass`: of these requests only. */
export const requestMetric = (
  stage: string,
  metricName:
    | RequestMetricName
    | typeof serverErrors
    | typeof failedSettlements
    | typeof refusedAtMaximum
    | typeof distributionFailures,
  statistic: string,
  { outcomeClass, label }: { readonly outcomeClass?: string; readonly label?: string } = {},
): Metric =>
  new Metric({
    namespace,
    metricName,
    dimensionsMap: { stage, ...(outcomeClass === undefined ? {} : { outcome_class: outcomeClass }) },
    statistic,
    period,
    ...(label === undefined ? {} : { label }),
  });

/** Of processes with many calls at once. */
export const processMetric = (
  stage: string,
  metricName: ProcessMetricName,
  statistic: string,
  label?: string,
): Metric =>
  new Metric({
    namespace,
    metricName,
    dimensionsMap: { stage },
    statistic,
    period,
    ...(label === undefined ? {} : { label }),
  });

/** One line per value of a dimension whose values are not known here. For graphs: alarms cannot search. */
export const requestMetricBy = (
  dimension: 'provider' | 'outcome_class',
  stage: string,
  metricName: RequestMetricName | AttemptMetricName,
): MathExpression =>
  new MathExpression({
    expression: `SEARCH('{${namespace},stage,${dimension}} MetricName="${metricName}" stage="${stage}"', 'Sum', ${period.toSeconds()})`,
    label: '',
    period,
  });

/** Counts answers that failed on our side: a status from 500, or a stream that ended early. */
export function countServerErrors(scope: Construct, id: string, logGroup: LogGroup): void {
  new MetricFilter(scope, id, {
    logGroup,
    metricNamespace: namespace,
    metricName: serverErrors,
    filterPattern: FilterPattern.literal('{ $.event = "request" && ($.status >= 500 || $.outcome = "cut") }'),
    dimensions: { stage: '$.stage' },
  });
}

/**
 * Counts settlements that failed, did not end in their time, or came after the lease of their hold: what such a call cost
 * is counted wrongly or not at all.
 */
export function countFailedSettlements(scope: Construct, id: string, logGroup: LogGroup): void {
  const failed = '($.event = "settlement_failed" && $.settlement_step = "money")';
  const others = ['settlement_late', 'finish_over_time', 'finish_failed'].map((event) => `$.event = "${event}"`);
  new MetricFilter(scope, id, {
    logGroup,
    metricNamespace: namespace,
    metricName: failedSettlements,
    filterPattern: FilterPattern.literal(`{ ${[failed, ...others].join(' || ')} }`),
    dimensions: { stage: '$.stage' },
  });
}

/** Counts calls that were refused because the service has as many in flight as its tasks take. */
export function countRefusedAtMaximum(scope: Construct, id: string, logGroup: LogGroup): void {
  new MetricFilter(scope, id, {
    logGroup,
    metricNamespace: namespace,
    metricName: refusedAtMaximum,
    filterPattern: FilterPattern.literal('{ $.event = "request" && $.reason = "service_concurrency" }'),
    dimensions: { stage: '$.stage' },
  });
}

export const refusedAtMaximumMetric = (stage: string): Metric => requestMetric(stage, refusedAtMaximum, 'Sum');

export const failedSettlementMetric = (stage: string): Metric => requestMetric(stage, failedSettlements, 'Sum');

/** Of the account and region: Lambda refuses calls of every function at its quota. */
export const accountConcurrency = (): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', statistic: 'Maximum', period });

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

/** Answers of a function's URL with a status from 400, by whomever they were made. */
export const functionUrlErrors = (target: LambdaFunction): Metric[] =>
  ['Url4xxCount', 'Url5xxCount'].map((name) => target.metric(name, { period, statistic: 'Sum' }));

/** CloudFront writes its metrics in us-east-1, wherever the stage is. */
const distributionMetric = (
  distributionId: string,
  metricName: string,
  options: Pick<MetricOptions, 'statistic' | 'label'>,
) =>
  new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    period,
    region: 'us-east-1',
    ...options,
  });

export const distributionErrorRate = (distributionId: string): Metric =>
  distributionMetric(distributionId, '5xxErrorRate', {
    statistic: 'Average',
    label: '5xx of the distribution in percent',
  });

/** The same in the region of the stage, as distribution-watch.ts writes it: for alarms. */
export const distributionFailureMetric = (stage: string): Metric =>
  requestMetric(stage, distributionFailures, 'Maximum');
