// What wakes an operator: answers that failed, a gateway that is slow by itself, calls that were turned away, a store
// that cannot keep up. All of them go to one address.
import { Aws, CfnCondition, Fn } from 'aws-cdk-lib';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import { distributionErrorRate, period, requestMetric, serverErrorPercent, tableMetric } from './gateway-metrics.ts';
import { chatTableActions, type TableAction, tableActionsOf } from './table-actions.ts';

/** Of all answers. Providers fail too; beyond this their fallbacks did not help. */
const failedPercentMax = 5;
/** The slowest hundredth, without the time providers took: an order above what a warm instance needs. */
const gatewayTimeMaxMs = 500;
/** Two of three periods: a single failed call in a quiet hour is no outage. */
const sustained = { evaluationPeriods: 3, datapointsToAlarm: 2 };

export interface AlarmsProps {
  readonly stage: string;
  readonly email: string;
  /** By the name an operator knows them by. */
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly distributionId?: string | undefined;
}

interface Rule {
  readonly metric: IMetric;
  readonly description: string;
  /** The highest value that is still all right. Default: 0. */
  readonly threshold?: number;
  readonly isSustained?: boolean;
}

export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly #action: SnsAction;
  readonly #prefix: string;

  constructor(scope: Construct, id: string, { stage, email, functions, distributionId }: AlarmsProps) {
    super(scope, id);
    this.#prefix = `${brand} ${stage}: `;
    const topic = new Topic(this, 'Topic', { displayName: `${brand} ${stage}`, enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    this.#action = new SnsAction(topic);
    this.#answers(stage);
    for (const [name, target] of Object.entries(functions)) this.#platform(name, target);
    this.#tables(stage);
    if (distributionId !== undefined) this.#distribution(distributionId);
  }

  #answers(stage: string): void {
    this.#alarm('FailedAnswers', {
      metric: serverErrorPercent(stage),
      threshold: failedPercentMax,
      isSustained: true,
      description: `more than ${failedPercentMax} % of all answers had a status from 500 or were cut`,
    });
    this.#alarm('GatewayTime', {
      metric: requestMetric(stage, 'GatewayTime', 'p99'),
      threshold: gatewayTimeMaxMs,
      isSustained: true,
      description: `one call in a hundred waited more than ${gatewayTimeMaxMs} ms for the gateway itself`,
    });
    this.#alarm('StoreUnavailable', {
      metric: requestMetric(stage, 'Requests', 'Sum', { outcome: 'RATE_LIMITER_UNAVAILABLE' }),
      description: 'calls were refused as DynamoDB did not answer in time',
    });
  }

  #platform(name: string, target: LambdaFunction): void {
    this.#alarm(`${name}-errors`, {
      metric: target.metricErrors({ period, statistic: 'Sum' }),
      description: `${name} crashed or ran into its time limit; its callers got no answer of ours`,
    });
    this.#alarm(`${name}-throttles`, {
      metric: target.metricThrottles({ period, statistic: 'Sum' }),
      description: `${name} turned calls away; raise its reserved concurrency or the account's quota`,
    });
  }

  /** Each is one sum over tables: CloudWatch adds up ten metrics in an alarm at most. */
  #tables(stage: string): void {
    const tables = tableActionsOf(chatTableActions);
    const sumOf = (metricName: string, action: TableAction | 'writes') =>
      tables
        .filter(({ actions }) => actions.some((known) => (known === 'GetItem') === (action === 'GetItem')))
        .map(({ table }) => tableMetric(stage, table, metricName));
    const throttled = 'calls were refused or slowed as a table had reached its throughput';
    this.#sum('ReadThrottles', sumOf('ReadThrottleEvents', 'GetItem'), throttled);
    this.#sum('WriteThrottles', sumOf('WriteThrottleEvents', 'writes'), throttled);
    const admission = [
      tableMetric(stage, 'config', 'SystemErrors', 'GetItem'),
      ...(['keys', 'ledger', 'limits'] as const).map((t) => tableMetric(stage, t, 'SystemErrors', 'UpdateItem')),
      ...(['idempotency', 'spans'] as const).map((t) => tableMetric(stage, t, 'SystemErrors', 'PutItem')),
    ];
    this.#sum('StoreErrors', admission, 'DynamoDB failed on a table that calls are admitted by');
  }

  #sum(name: string, metrics: readonly IMetric[], description: string): void {
    const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
    const expression = Object.keys(usingMetrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(' + ');
    this.#alarm(name, { metric: new MathExpression({ expression, usingMetrics, period }), description });
  }

  /** CloudFront's numbers are in us-east-1, and an alarm sees those of its own region only. */
  #distribution(distributionId: string): void {
    const alarm = this.#alarm('DistributionErrors', {
      metric: distributionErrorRate(distributionId),
      threshold: failedPercentMax,
      isSustained: true,
      description: `the distribution answered more than ${failedPercentMax} % with a status from 500`,
    });
    const isBeside = new CfnCondition(this, 'BesideItsMetrics', {
      expression: Fn.conditionEquals(Aws.REGION, 'us-east-1'),
    });
    (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = isBeside;
  }

  #alarm(name: string, { metric, description, threshold = 0, isSustained = false }: Rule): Alarm {
    const alarm = new Alarm(this, name, {
      metric,
      alarmDescription: `${this.#prefix}${description}`,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...(isSustained ? sustained : { evaluationPeriods: 1 }),
    });
    alarm.addAlarmAction(this.#action);
    this.all.push(alarm);
    return alarm;
  }
}
