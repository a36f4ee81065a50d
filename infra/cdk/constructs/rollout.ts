// Replaces a version by a new one. Some calls go to the new version first, and all calls return to the former version
// when the new version fails. A function is called through an alias, which CodeDeploy moves; tasks are replaced by ECS,
// which watches the same alarm.
import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  TrafficRouting,
} from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import { canaryOf, type StageSettings } from '../settings-schema.ts';
import { countVersionLines, differenceOf } from './gateway-metrics.ts';
import type { NodeFunction } from './node-function.ts';

/**
 * Failures of a new version within a minute. This number is too high for chance, and few clients are affected by then.
 */
const failuresMin = 3;
const minute = Duration.minutes(1);
const aliasName = 'live';

interface CodeVersion {
  readonly stage: string;
  /** The name of the function, or of the tasks. */
  readonly code: string;
  /** The version as its log lines name it. */
  readonly version: string;
  readonly logGroup: LogGroup;
}

/**
 * Creates an alarm that is raised within a minute when one version of the code fails, or cannot be loaded. The alarm
 * notifies no person, because it rolls the deployment back. The alarm reads one metric, because an expression over
 * metrics without a value has no value either.
 */
export const versionAlarm = (scope: Construct, { logGroup, ...code }: CodeVersion): Alarm =>
  rollbackAlarm(scope, 'NewVersionFails', code.stage, countVersionLines(logGroup, 'VersionFailures', code));

/** Creates the same alarm for failures that write no line, such as a crash of the process or a time-out. */
function crashAlarm(target: NodeFunction, { logGroup, ...code }: CodeVersion): Alarm {
  const { functionName } = target.function;
  const errors = new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Errors',
    dimensionsMap: {
      FunctionName: functionName,
      Resource: `${functionName}:${aliasName}`,
      ExecutedVersion: code.version,
    },
    statistic: 'Sum',
    period: minute,
  });
  const brokenAnswers = countVersionLines(logGroup, 'BrokenAnswers', code);
  return rollbackAlarm(target, 'NewVersionCrashes', code.stage, differenceOf(errors, brokenAnswers, minute));
}

const rollbackAlarm = (scope: Construct, id: string, stage: string, metric: IMetric): Alarm =>
  new Alarm(scope, id, {
    metric,
    alarmDescription: `${brand} ${stage}: a new version fails; a deployment that is under way goes back to the former one`,
    threshold: failuresMin,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });

/** CodeDeploy's own configurations with a tenth of the calls, by the number of minutes. */
const canariesOfTenth: Readonly<Record<number, ILambdaDeploymentConfig>> = {
  5: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
};

function canaryConfig(target: Construct, { percent, minutes }: Canary): ILambdaDeploymentConfig {
  const known = percent === 10 ? canariesOfTenth[minutes] : undefined;
  if (known !== undefined) return known;
  const trafficRouting = TrafficRouting.timeBasedCanary({ interval: Duration.minutes(minutes), percentage: percent });
  return new LambdaDeploymentConfig(target, 'Canary', { trafficRouting });
}

type Canary = NonNullable<ReturnType<typeof canaryOf>>;

/**
 * Returns the alias by which a function is called, from its first deployment on. Each deployment that changes the
 * function has a version.
 */
export type Rollout = (target: NodeFunction) => Alias;

/**
 * Returns the rollout of a stage. `isAtOnce` is set if both versions must agree on a changed value, so that they never
 * serve side by side.
 */
export function rolloutOf(
  stack: Construct,
  {
    stage,
    settings,
    isAtOnce,
  }: { readonly stage: string; readonly settings: StageSettings; readonly isAtOnce: boolean },
): Rollout {
  const canary = canaryOf(settings);
  let application: LambdaApplication | undefined;
  return (target) => {
    const version = target.function.currentVersion;
    // The types of the CDK are stricter for arguments than for results.
    const alias = new Alias(target, 'Live', { aliasName, version: version as IVersion });
    if (canary === null) return alias;
    const code = { stage, code: target.node.id, version: version.version, logGroup: target.logGroup };
    const alarms = [versionAlarm(target, code), crashAlarm(target, code)];
    application ??= new LambdaApplication(stack, 'Rollouts');
    const group = new LambdaDeploymentGroup(target, 'Rollout', {
      application,
      alias,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      deploymentConfig: isAtOnce ? LambdaDeploymentConfig.ALL_AT_ONCE : canaryConfig(target, canary),
    });
    Validations.of(group).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'The policy that AWS keeps for CodeDeploy and Lambda: it moves aliases and reads alarms.',
    });
    return alias;
  };
}
