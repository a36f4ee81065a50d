// CloudWatch metrics by name: those of the gateway's log lines, and those of AWS services. Dashboard and alarms use the
// same definitions.
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import {
  type AttemptMetricName,
  type NameTable,
  brand as namespace,
  type ProcessMetricName,
  type RequestMetricName,
  type TableName,
  tableNames,
} from '../../../shared/foundation/constants/index.ts';

export const period = Duration.minutes(5);
export const metricNamespace = namespace;
/** In percent; 0 where there were few answers. */
export const distributionFailures = 'DistributionErrors';

/** Metrics counted from log lines that declare none, by name. */
const countedLines = {
  /** Failures of the gateway: a status from 500, or a stream that ended early. A pause is intended by operators. */
  ServerErrors: '{ $.event = "request" && (($.status >= 500 && $.paused NOT EXISTS) || $.outcome = "cut") }',
  /**
   * Settlements that failed, did not end in time, or came after their reservation had expired: the cost of such a call
   * is counted wrongly or not at all.
   */
  FailedSettlements: `{ ${[
    '($.event = "settlement_failed" && $.settlement_step = "money")',
    ...['settlement_late', 'finish_over_time', 'finish_failed'].map((event) => `$.event = "${event}"`),
  ].join(' || ')} }`,
  /** Refusals because the stage is too small; `exhausted` names the resource, one of `stageResources`. */
  RefusedAtMaximum: '{ $.event = "request" && $.exhausted = "*" }',
  /** Controls that failed while their call went on; `failed_control` names the control, one of `failingControls`. */
  FailedControls: '{ $.failed_control = "*" }',
  /** Failures of the code itself, whatever providers and clients do. By version: two run at once during a deployment. */
  VersionFailures: '{ $.event = "request" && ($.outcome = "internal_error" || $.unanswered IS TRUE) }',
  /** Refused because DynamoDB, KMS, S3 or Secrets Manager did not answer: for no limit of the stage or of a key, and no pause. */
  StoreUnavailable: '{ $.event = "request" && $.unanswered IS TRUE }',
};
type CountedName = keyof typeof countedLines;

export function countLines(logGroup: LogGroup, metricName: CountedName, byVersion = false): void {
  new MetricFilter(logGroup, metricName, {
    logGroup,
    metricNamespace: namespace,
    metricName,
    filterPattern: FilterPattern.literal(countedLines[metricName]),
    dimensions: { stage: '$.stage', ...(byVersion ? { version: '$.version' } : {}) },
  });
}

/** `statistic`: "Sum", "p99" and so on. `outcomeClass`: of these requests only. */
export const stageMetric = (
  stage: string,
  metricName: RequestMetricName | ProcessMetricName | CountedName | typeof distributionFailures,
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

/** Concurrency of account and region: at its quota Lambda refuses calls of every function. */
export const accountConcurrency = (): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', statistic: 'Maximum', period });

/** Failed and all answers, for an expression. */
export const failedAndAll = (stage: string) => ({
  failed: stageMetric(stage, 'ServerErrors', 'Sum'),
  all: stageMetric(stage, 'Requests', 'Sum'),
});

export const serverErrorPercent = (stage: string): MathExpression =>
  new MathExpression({
    expression: '100 * FILL(failed, 0) / all',
    usingMetrics: failedAndAll(stage),
    label: 'failed answers in percent',
    period,
  });

export const tableMetric = (nameOf: NameTable, table: TableName, metricName: string, operation?: string): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: {
      TableName: nameOf(table),
      ...(operation === undefined ? {} : { Operation: operation }),
    },
    statistic: 'Sum',
    period,
  });

/** All tables of a stage together, one line per table. */
export const tableMetricByTable = (nameOf: NameTable, metricName: string): MathExpression => {
  const names = tableNames.map((table) => `"${nameOf(table)}"`).join(' OR ');
  return new MathExpression({
    expression: `SEARCH('{AWS/DynamoDB,TableName} MetricName="${metricName}" TableName=(${names})', 'Sum', ${period.toSeconds()})`,
    label: '',
    period,
  });
};

/** Answers of a function's URL with a status from 400, by whomever they were made. */
export const functionUrlErrors = (target: LambdaFunction): Metric[] =>
  ['Url4xxCount', 'Url5xxCount'].map((name) => target.metric(name, { period, statistic: 'Sum' }));

/** CloudFront writes its metrics there, wherever the stage is. */
export const distributionRegion = 'us-east-1';

const distributionMetric = (distributionId: string, metricName: string, more: MetricProps): Metric =>
  new Metric({
    ...{ namespace: 'AWS/CloudFront', metricName, period },
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    ...more,
  });
type MetricProps = Partial<ConstructorParameters<typeof Metric>[0]>;

export const distributionErrorRate = (distributionId: string): Metric =>
  distributionMetric(distributionId, '5xxErrorRate', {
    ...{ statistic: 'Average', label: '5xx of the distribution in percent', region: distributionRegion },
  });

/** In percent; 0 where there were few. For alarms of the region in which CloudFront writes. */
export const distributionErrors = (distributionId: string, fewMax: number): MathExpression =>
  new MathExpression({
    expression: `IF(percent * requests / 100 > ${fewMax}, percent, 0)`,
    usingMetrics: {
      percent: distributionMetric(distributionId, '5xxErrorRate', { statistic: 'Average' }),
      requests: distributionMetric(distributionId, 'Requests', { statistic: 'Sum' }),
    },
    period,
  });
