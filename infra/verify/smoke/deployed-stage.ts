// Checks a deployed stage in AWS: whether its metrics arrive, and whether its alarms reach the topic.
import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  GetMetricStatisticsCommand,
  type MetricAlarm,
  paginateDescribeAlarms,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { brand } from '../../../shared/foundation/constants/index.ts';
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import type { AccountOptions } from '../../cdk/aws-account.ts';
import { apiStackName, computeOutput } from '../../cdk/resource-names.ts';
import type { DeployedStage } from './checks.ts';

/** Maximum wait for metrics: CloudWatch reads them from log lines, most within a minute or two. */
const metricsWaitMs = 300_000;
const metricsEveryMs = 10_000;
const metricPeriodSeconds = 60;
const alarmWaitMs = 60_000;
const alarmEveryMs = 2_000;

interface StageToTest {
  readonly stage: string;
  /** Outputs of the api stack. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly shell: AccountOptions;
  readonly clock: Clock;
  /** Asks the operator. Undefined without a terminal to ask on, unless a confirmation was given beforehand. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

export function openDeployedStage({ stage, outputs, shell, clock, confirm }: StageToTest): DeployedStage {
  const { profile, region } = shell;
  const options = { ...(profile === undefined ? {} : { profile }), ...(region === undefined ? {} : { region }) };
  const cloudWatch = new CloudWatchClient(options);
  const { DirectUrl: url, OriginSecretArn: secretArn, AlarmTopicArn: topicArn } = outputs;
  const watched = { cloudWatch, clock, stage };

  return {
    directUrl: url === undefined ? undefined : `${url.replace(/\/$/, '')}/v1`,
    hasTasks: outputs[computeOutput] === 'container',
    async readOriginSecret() {
      const { SecretString: secret = '' } = await new SecretsManagerClient(options).send(
        new GetSecretValueCommand({ SecretId: secretArn }),
      );
      return secret;
    },
    async awaitMetrics(requests, sinceMs) {
      const startedAtMs = clock.nowMs();
      let counted = await countRequests(watched, sinceMs);
      while (counted < requests) {
        if (clock.nowMs() - startedAtMs >= metricsWaitMs) {
          throw new Error(`after ${metricsWaitMs / 1_000} s CloudWatch has counted ${counted} of ${requests} requests`);
        }
        await sleep(clock, metricsEveryMs);
        counted = await countRequests(watched, sinceMs);
      }
      return `${counted} requests are counted`;
    },
    async tryAlarm() {
      if (topicArn === undefined) return 'left out: this stage has no alarms';
      if (confirm === undefined) return 'left out: an alarm has to ring for it; --yes agrees to that';
      const alarm = await findAlarm(watched, topicArn);
      const question = `Let ${alarm} ring, so that all subscribers of the topic get a message?`;
      if (!(await confirm(question))) return 'left out: declined';
      const sinceMs = clock.nowMs();
      const set = (StateValue: 'ALARM' | 'OK') =>
        cloudWatch.send(
          new SetAlarmStateCommand({ AlarmName: alarm, StateValue, StateReason: 'npm run smoke: a test of the topic' }),
        );
      await set('ALARM');
      try {
        return await awaitAction(watched, { alarm, topic: topicArn, sinceMs });
      } finally {
        await set('OK');
      }
    },
  };
}

interface Watched extends Pick<StageToTest, 'clock' | 'stage'> {
  readonly cloudWatch: CloudWatchClient;
}

interface RungAlarm {
  readonly alarm: string;
  readonly topic: string;
  readonly sinceMs: number;
}

async function countRequests({ cloudWatch, clock, stage }: Watched, sinceMs: number): Promise<number> {
  const { Datapoints: points = [] } = await cloudWatch.send(
    new GetMetricStatisticsCommand({
      Namespace: brand,
      MetricName: 'Requests',
      Dimensions: [{ Name: 'stage', Value: stage }],
      // Whole minutes, to include the minutes of the first and of the last request.
      StartTime: new Date(sinceMs - (sinceMs % (metricPeriodSeconds * 1_000))),
      EndTime: new Date(clock.nowMs() + metricPeriodSeconds * 1_000),
      Period: metricPeriodSeconds,
      Statistics: ['Sum'],
    }),
  );
  return points.reduce((total, { Sum = 0 }) => total + Sum, 0);
}

/** Finds an alarm that notifies the topic, preferably an alarm that is not in alarm now. */
async function findAlarm({ cloudWatch, stage }: Watched, topic: string): Promise<string> {
  const found: MetricAlarm[] = [];
  const query = { AlarmNamePrefix: apiStackName(stage) };
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client: cloudWatch }, query)) {
    found.push(...MetricAlarms.filter(({ AlarmActions = [] }) => AlarmActions.includes(topic)));
  }
  const name = found.find(({ StateValue }) => StateValue !== 'ALARM')?.AlarmName;
  if (name === undefined) {
    throw new Error(found.length === 0 ? `no alarm notifies ${topic}` : 'every alarm of the stage rings already');
  }
  return name;
}

async function awaitAction({ cloudWatch, clock }: Watched, { alarm, topic, sinceMs }: RungAlarm): Promise<string> {
  for (const untilMs = sinceMs + alarmWaitMs; clock.nowMs() < untilMs; await sleep(clock, alarmEveryMs)) {
    const { AlarmHistoryItems: items = [] } = await cloudWatch.send(
      new DescribeAlarmHistoryCommand({
        AlarmName: alarm,
        HistoryItemType: 'Action',
        StartDate: new Date(sinceMs),
        EndDate: new Date(untilMs),
      }),
    );
    const action = items.find(({ HistorySummary: summary = '' }) => summary.includes(topic));
    if (action === undefined) continue;
    if (!/^success/i.test(action.HistorySummary ?? '')) throw new Error(`${alarm}: ${action.HistorySummary}`);
    return `${alarm} notified ${topic.split(':').at(-1)}`;
  }
  throw new Error(`${alarm} rang, and after ${alarmWaitMs / 1_000} s its history shows no message to ${topic}`);
}
