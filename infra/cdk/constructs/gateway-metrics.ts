// Defines CloudWatch metrics of the gateway's log lines and of AWS services, by name. Dashboard and alarms use the same
// definitions.
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import {
  type AttemptMetricName,
  answerBroken,
  loadFailed,
  type NameTable,
  brand as namespace,
  originRefused,
  type ProcessMetricName,
  type RequestMetricName,
  type TableName,
  tableNames,
} from '../../../shared/foundation/constants/index.ts';

export const period = Duration.minutes(5);
export const metricNamespace = namespace;
/** Metric in percent; 0 if there were few answers. */
export const distributionFailures = 'DistributionErrors';

/** Metrics, by name, that are counted from log lines without declared metrics. */
const countedLines = {
  /**
   * Failures of the gateway: a status from 500, or a stream that ended early. A pause is excluded, because operators
   * intend it.
   */
  ServerErrors: '{ $.event = "request" && (($.status >= 500 && $.paused NOT EXISTS) || $.outcome = "cut") }',
  /**
   * Settlements that failed, did not end in time, or came after their reservation had expired, so that the cost of a
   * call is counted wrongly or not at all.
   */
  FailedSettlements: `{ ${[
    '($.event = "settlement_failed" && $.settlement_step = "money")',
    ...['settlement_late', 'finish_over_time', 'finish_failed'].map((event) => `$.event = "${event}"`),
  ].join(' || ')} }`,
  /** Refusals because the stage is too small; `exhausted` names the resource, one of `stageResources`. */
  RefusedAtMaximum: '{ $.event = "request" && $.exhausted = "*" }',
  /** Controls that failed while their call continued; `failed_control` names the control, one of `failingControls`. */
  FailedControls: '{ $.failed_control = "*" }',
  /**
   * Failures of the code itself, independent of providers and clients. The failures are counted by version, because two
   * versions run at once during a deployment.
   */
  VersionFailures: `{ ($.event = "request" && ($.outcome = "internal_error" || $.unanswered IS TRUE)) || $.event = "${loadFailed}" }`,
  /** Answers that a function cut off because a provider broke. Lambda counts them as errors of the function. */
  BrokenAnswers: `{ $.event = "${answerBroken}" }`,
  /** Requests with an origin secret that is not accepted, because the distribution and the functions disagree. */
  RefusedOrigins: `{ $.event = "${originRefused}" }`,
  /**
   * Calls that were refused because DynamoDB, KMS, S3 or Secrets Manager did not answer, not because of a limit or a
   * pause.
   */
  StoreUnavailable: '{ $.event = "request" && $.unanswered IS TRUE }',
};
type CountedName = keyof typeof countedLines;

export function countLines(logGroup: LogGroup, metricName: CountedName): void {
  new MetricFilter(logGroup, metricName, {
    logGroup,
    metricNamespace: namespace,
    metricName,
    filterPattern: FilterPattern.literal(countedLines[metricName]),
    dimensions: { stage: '$.stage' },
  });
}

/**
 * Counts lines by the version that wrote them, and returns the metric of one version within a minute. `code` is the
 * name of the function, or of the tasks, because two functions may have the same version.
 */
export function countVersionLines(
  logGroup: LogGroup,
  name: CountedName,
  { code, stage, version }: { readonly code: string; readonly stage: string; readonly version: string },
): Metric {
  const metricName = `${code}${name}`;
  new MetricFilter(logGroup, `Version${name}`, {
    logGroup,
    metricNamespace: namespace,
    metricName,
    filterPattern: FilterPattern.literal(countedLines[name]),
    dimensions: { stage: '$.stage', version: '$.version' },
  });
  const dimensionsMap = { stage, version };
  return new Metric({ namespace, metricName, dimensionsMap, statistic: 'Sum', period: Duration.minutes(1) });
}

/**
 * Returns a sum in which a metric without any value counts as zero. `FILL` alone is not enough, because it fills
 * nothing if there was never a value, and `+` with a missing value returns no value.
 */
export function sumOf(metrics: readonly IMetric[], id = 'm', sumPeriod: Duration = period): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`${id}${index}`, metric]));
  const terms = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`);
  return new MathExpression({ expression: `SUM([${terms.join(', ')}])`, usingMetrics, period: sumPeriod });
}

/** Returns a difference. A metric without any value subtracts nothing. */
export function differenceOf(from: IMetric, subtracted: IMetric, within: Duration = period): MathExpression {
  return new MathExpression({
    expression: 'SUM([all, -1 * FILL(subtracted, 0)])',
    usingMetrics: { all: from, subtracted },
    period: within,
  });
}

/** Returns a metric of the stage. `statistic` is "Sum", "p99" and so on; `outcomeClass` selects requests. */
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

/**
 * Returns one line per value of a dimension whose values are not known to the template. Only for graphs, because alarms
 * cannot search.
 */
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

/** Returns the concurrency of account and region: at its quota Lambda refuses calls of every function. */
export const accountConcurrency = (): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', statistic: 'Maximum', period });

/** Returns the failed answers and all answers, for an expression. */
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

/** Returns all tables of a stage together, one line per table. */
export const tableMetricByTable = (nameOf: NameTable, metricName: string): MathExpression => {
  const names = tableNames.map((table) => `"${nameOf(table)}"`).join(' OR ');
  return new MathExpression({
    expression: `SEARCH('{AWS/DynamoDB,TableName} MetricName="${metricName}" TableName=(${names})', 'Sum', ${period.toSeconds()})`,
    label: '',
    period,
  });
};

/** The function that streams, by the name that an operator knows. */
const streamingFunction = 'chat';

/**
 * Returns the crashes and time-outs of a function: Lambda's errors without the answers that the function cut off on
 * purpose.
 */
export function functionCrashes(stage: string, name: string, target: LambdaFunction): Metric | MathExpression {
  const errors = target.metricErrors({ period, statistic: 'Sum' });
  return name === streamingFunction ? differenceOf(errors, stageMetric(stage, 'BrokenAnswers', 'Sum')) : errors;
}

/** Returns the answers of a function's URL with a status from 400, including Lambda's own. */
export const functionUrlErrors = (target: LambdaFunction): Metric[] =>
  ['Url4xxCount', 'Url5xxCount'].map((name) => target.metric(name, { period, statistic: 'Sum' }));

/** CloudFront writes its metrics in this region, wherever the stage is. */
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

/** Returns a metric in percent; 0 if there were few answers. For alarms of the region in which CloudFront writes. */
export const distributionErrors = (distributionId: string, fewMax: number): MathExpression =>
  new MathExpression({
    expression: `IF(percent * requests / 100 > ${fewMax}, percent, 0)`,
    usingMetrics: {
      percent: distributionMetric(distributionId, '5xxErrorRate', { statistic: 'Average' }),
      requests: distributionMetric(distributionId, 'Requests', { statistic: 'Sum' }),
    },
    period,
  });
