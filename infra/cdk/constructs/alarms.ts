// Defines the alarms of a stage: failed answers, time spent in the gateway itself, errors of the URLs, refused
// invocations, and a store that is too slow. All alarms notify one topic. Neither a few calls nor the start of an
// instance raises an alarm.
import { ArnFormat, Aws, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { HttpCodeElb } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import {
  brand,
  type NameTable,
  type StageResource,
  type TableName,
} from '../../../shared/foundation/constants/index.ts';
import type { Tasks } from './compute.ts';
import {
  accountConcurrency,
  differenceOf,
  distributionErrors,
  distributionFailures,
  failedAndAll,
  functionCrashes,
  period,
  stageMetric,
  sumOf,
  tableMetric,
} from './gateway-metrics.ts';
import { gatewayTableActions, type TableAction, tableActionsOf } from './table-actions.ts';

/** Maximum share of failed answers. Providers fail too; above this share their fallbacks did not help. */
const failedPercentMax = 5;
/** Number of errors per period that one client, one deployment or one bad connection may cause. */
const fewCallsMax = 5;
/**
 * Maximum time for the slowest tenth, without the time of providers. The maximum is about ten times the time of a warm
 * instance.
 */
const gatewayTimeMaxMs = 500;
/** Minimum number of timed calls: of fewer calls, a tenth would be only a few. */
const timedCallsMin = 10 * (fewCallsMax + 1);
/** Two of three periods must exceed the limit, because a fault that ends within minutes needs no operator. */
const sustained = { evaluationPeriods: 3, datapointsToAlarm: 2 };

/** Share of the answers of an hour, for a stage that is called too rarely for the alarm of five minutes. */
const hourly = { period: Duration.hours(1), failedMin: 3, failedShareMax: 50 } as const;
/** Share of the account's quota that raises an alarm before Lambda refuses calls. */
const quotaPercentMax = 80;

/** Tables on which a throttled write is lost without any call noticing. */
const mayBeLost: ReadonlySet<TableName> = new Set(['statistics', 'cache']);

interface AlarmsProps {
  readonly stage: string;
  readonly nameOf: NameTable;
  /** E-mail address to notify; null for no subscription. */
  readonly email: string | null;
  /** Functions by the name that an operator knows. */
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Counts of the URLs' answers with a status from 400, including the gateway's own. */
  readonly urlErrors: readonly IMetric[];
  /**
   * Function that reads the errors of the distribution, if the stage is in another region than CloudFront's metrics.
   */
  readonly distributionWatch: LambdaFunction | undefined;
  /** Set if alarms of this region can read the metrics of the distribution themselves. */
  readonly distributionId: string | undefined;
  readonly tasks?: Tasks | undefined;
  /** Whether a distribution sends a secret to the functions or tasks. */
  readonly hasOriginSecret: boolean;
  /** Lambda's quota of the account and region. */
  readonly accountConcurrency: number;
}

interface Rule {
  readonly metric: IMetric;
  readonly description: string;
  /** The highest value without an alarm. Default: a few calls. */
  readonly threshold?: number;
  /** Lower limit in place of a threshold: a lower value, or no value, raises the alarm. */
  readonly atLeast?: number;
  readonly isSustained?: boolean;
}

export class Alarms extends Construct {
  /** All alarms, for a dashboard. */
  readonly all: Alarm[] = [];
  readonly #action: SnsAction;
  readonly #prefix: string;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { stage, email, functions, urlErrors } = props;
    this.#prefix = `${brand} ${stage}: `;
    const topic = alarmTopic(this, stage, email);
    new CfnOutput(scope, 'AlarmTopicArn', { value: topic.topicArn });
    this.#action = new SnsAction(topic);
    this.#addAnswerAlarms(stage);
    for (const [name, target] of Object.entries(functions)) this.#addFunctionAlarms(stage, name, target);
    if (props.hasOriginSecret) this.#addOriginAlarm(stage);
    if (urlErrors.length > 0) this.#addUrlAlarm(stage, urlErrors);
    this.#addTableAlarms(props.nameOf);
    if (props.tasks === undefined) this.#addConcurrencyAlarm(props.accountConcurrency);
    else this.#addTaskAlarms(props.tasks);
    if (props.distributionWatch !== undefined) this.#addWatchAlarm(props.distributionWatch);
    const { distributionId } = props;
    if (distributionId !== undefined) this.#addDistributionAlarm(distributionErrors(distributionId, fewCallsMax));
    else if (props.distributionWatch !== undefined) {
      this.#addDistributionAlarm(stageMetric(stage, distributionFailures, 'Maximum'));
    }
  }

  #addAnswerAlarms(stage: string): void {
    this.#add('FailedAnswers', {
      metric: new MathExpression({
        expression: `IF(FILL(failed, 0) > ${fewCallsMax}, 100 * failed / all, 0)`,
        usingMetrics: failedAndAll(stage),
        period,
      }),
      threshold: failedPercentMax,
      isSustained: true,
      description: `more than ${failedPercentMax} % of all answers had a status from 500 or ended early`,
    });
    this.#add('FewCallsFail', {
      metric: new MathExpression({
        expression: `IF(FILL(failed, 0) >= ${hourly.failedMin}, 100 * failed / all, 0)`,
        usingMetrics: failedAndAll(stage),
        period: hourly.period,
      }),
      threshold: hourly.failedShareMax,
      description: `more than half of the answers of an hour, ${hourly.failedMin} at least, had a status from 500 or ended early`,
    });
    this.#add('FailedSettlements', {
      metric: stageMetric(stage, 'FailedSettlements', 'Sum'),
      // Each of these failures is money that is counted wrongly.
      threshold: 0,
      description:
        'what a call cost was not written, or after its hold had ended: look for settlement_failed, settlement_late and finish_… in the log',
    });
    this.#add('FailedControls', {
      metric: stageMetric(stage, 'FailedControls', 'Sum'),
      // No client notices any of these failures.
      threshold: 0,
      description:
        'a guardrail let a call pass because it failed, or bodies, a result or an alert were lost: look for failed_control in the log',
    });
    this.#add('GatewayTime', {
      metric: new MathExpression({
        expression: `IF(timed >= ${timedCallsMin}, slowest, 0)`,
        usingMetrics: {
          timed: stageMetric(stage, 'GatewayTime', 'SampleCount'),
          slowest: stageMetric(stage, 'GatewayTime', 'p90'),
        },
        period,
      }),
      threshold: gatewayTimeMaxMs,
      isSustained: true,
      description: `one call in ten spent more than ${gatewayTimeMaxMs} ms in the gateway itself`,
    });
    this.#add('StoreUnavailable', {
      metric: stageMetric(stage, 'StoreUnavailable', 'Sum'),
      description: 'calls were refused because DynamoDB, KMS, S3 or Secrets Manager did not answer in time',
    });
    this.#add('RefusedAtMaximum', {
      metric: stageMetric(stage, 'RefusedAtMaximum', 'Sum'),
      description: `calls were refused because the stage is too small. The log says of what, in \`exhausted\`: ${refusalAdvice}`,
    });
  }

  #addFunctionAlarms(stage: string, name: string, target: LambdaFunction): void {
    this.#add(`${name}-errors`, {
      metric: functionCrashes(stage, name, target),
      description: `${name} crashed or reached its time limit; its callers got Lambda's own error`,
    });
    this.#add(`${name}-throttles`, {
      metric: target.metricThrottles({ period, statistic: 'Sum' }),
      description: `${name} refused invocations; raise its reserved concurrency or the account's quota`,
    });
  }

  /**
   * Adds an alarm on errors of the URLs that the gateway did not report, such as callers without permission or Lambda's
   * own failures, because no log line shows such errors. The metrics exist in every region.
   */
  #addUrlAlarm(stage: string, urlErrors: readonly IMetric[]): void {
    this.#add('UrlErrors', {
      metric: differenceOf(sumOf(urlErrors, 'url'), stageMetric(stage, 'Errors', 'Sum')),
      // A call may be counted in one period and its log line in the next.
      isSustained: true,
      description: 'callers got errors of the function URLs themselves, before or in place of answers of the gateway',
    });
  }

  #addTableAlarms(nameOf: NameTable): void {
    const tables = tableActionsOf(gatewayTableActions);
    const metricsOf = (
      metricName: string,
      uses: (action: TableAction) => boolean,
      without: ReadonlySet<TableName> = new Set(),
    ) =>
      tables
        .filter(({ table, actions }) => actions.some(uses) && !without.has(table))
        .map(({ table }) => tableMetric(nameOf, table, metricName));
    const throttled = 'calls were refused or delayed because a table had reached its throughput';
    const isRead = (action: TableAction) => action === 'GetItem';
    this.#addSum('ReadThrottles', metricsOf('ReadThrottleEvents', isRead), throttled);
    this.#addSum(
      'WriteThrottles',
      metricsOf('WriteThrottleEvents', (action) => !isRead(action), mayBeLost),
      throttled,
    );
    const admission = [
      tableMetric(nameOf, 'config', 'SystemErrors', 'GetItem'),
      ...(['keys', 'ledger', 'limits'] as const).map((t) => tableMetric(nameOf, t, 'SystemErrors', 'UpdateItem')),
      ...(['idempotency', 'spans'] as const).map((t) => tableMetric(nameOf, t, 'SystemErrors', 'PutItem')),
    ];
    this.#addSum('StoreErrors', admission, 'DynamoDB failed on a table that is needed to admit a call');
  }

  /** Adds an alarm on a sum. A single alarm takes at most ten metrics. */
  #addSum(name: string, metrics: readonly IMetric[], description: string): void {
    this.#add(name, { metric: sumOf(metrics), description });
  }

  #addOriginAlarm(stage: string): void {
    this.#add('RefusedOrigins', {
      metric: stageMetric(stage, 'RefusedOrigins', 'Sum'),
      description:
        'requests carried an origin secret that is not accepted, and were answered 404: the distribution and the functions do not agree on it',
    });
  }

  #addWatchAlarm(watch: LambdaFunction): void {
    this.#add('DistributionWatch', {
      metric: watch.metricErrors({ period, statistic: 'Sum' }),
      threshold: 0,
      isSustained: true,
      description: 'the errors of the distribution could not be read, so that no alarm tells of them',
    });
  }

  /** Adds an alarm on CloudFront's own errors, which no function sees. */
  #addDistributionAlarm(metric: IMetric): void {
    this.#add('DistributionErrors', {
      metric,
      threshold: failedPercentMax,
      isSustained: true,
      description: `the distribution answered more than ${failedPercentMax} % with a status from 500`,
    });
  }

  #addTaskAlarms({ targets, balancer, min }: Tasks): void {
    this.#add('UnhealthyTasks', {
      metric: targets.metrics.unhealthyHostCount({ period, statistic: 'Minimum' }),
      threshold: 0,
      isSustained: true,
      description: 'a task did not answer its health check in a whole period',
    });
    this.#add('MissingTasks', {
      metric: targets.metrics.healthyHostCount({ period, statistic: 'Maximum' }),
      atLeast: min,
      isSustained: true,
      description: `fewer than ${min} tasks serve, the least that the settings name`,
    });
    this.#add('BalancerErrors', {
      metric: balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period, statistic: 'Sum' }),
      description: 'the load balancer answered with a status from 500 in place of a task',
    });
  }

  #addConcurrencyAlarm(quota: number): void {
    this.#add('AccountConcurrency', {
      metric: accountConcurrency(),
      threshold: (quota * quotaPercentMax) / 100,
      description: `more than ${quotaPercentMax} % of the ${quota} executions that run at once in this account and region`,
    });
  }

  #add(name: string, rule: Rule): void {
    const { metric, description, threshold = fewCallsMax, atLeast, isSustained = false } = rule;
    const alarm = new Alarm(this, name, {
      metric,
      alarmDescription: `${this.#prefix}${description}`,
      ...(atLeast === undefined ? rises(threshold) : falls(atLeast)),
      ...(isSustained ? sustained : { evaluationPeriods: 1 }),
    });
    alarm.addAlarmAction(this.#action);
    this.all.push(alarm);
  }
}

const rises = (threshold: number) => ({
  threshold,
  comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
  treatMissingData: TreatMissingData.NOT_BREACHING,
});

/** A missing value counts as too low, because a service without any task has no value. */
const falls = (threshold: number) => ({
  threshold,
  comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
  treatMissingData: TreatMissingData.BREACHING,
});

// Advice for a stage that refused calls because it is too small: the limit to raise.

/** Names of the limits by exhausted resource. */
const whatToRaise: Readonly<Record<StageResource, string>> = {
  service_concurrency: 'concurrency of the service, or gatewayReservedConcurrency and the quota, or max of tasks',
  service_function_concurrency: 'function_concurrency of the service',
  process_memory: 'max of tasks',
  schema_workers: 'max of tasks',
  write_queue: 'credit_shards of the workspace, or the number of keys that share its calls',
};
/** Text for an alarm. */
const refusalAdvice = Object.entries(whatToRaise)
  .map(([resource, text]) => `${resource}: raise ${text}`)
  .join('; ');

// Defines the topic of a stage's alarms, to which people and their tools subscribe.

/** Creates the topic. A null `email` means no subscription. */
function alarmTopic(scope: Construct, stage: string, email: string | null): Topic {
  const topic = new Topic(scope, 'Topic', { displayName: `${brand} ${stage}`, enforceSSL: true });
  allowAlarms(topic);
  if (email !== null) topic.addSubscription(new EmailSubscription(email));
  return topic;
}

/** Allows the account's alarms to publish, because a topic with a policy of its own loses SNS's default policy. */
function allowAlarms(topic: Topic): void {
  const alarms = Stack.of(topic).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsOfThisAccount',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID }, ArnLike: { 'aws:SourceArn': alarms } },
    }),
  );
}
