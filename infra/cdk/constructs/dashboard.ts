// Defines one page per stage with one row per question: availability, latency, cost, providers, store.
import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { HttpCodeElb } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { brand, type NameTable, type RequestMetricName } from '../../../shared/foundation/constants/index.ts';
import type { Tasks } from './compute.ts';
import * as metrics from './gateway-metrics.ts';

/** CloudWatch's grid has 24 columns; three graphs fill a row. */
const third = { width: 8, height: 6 };

interface DashboardProps {
  readonly stage: string;
  readonly nameOf: NameTable;
  /** Log group with the lines of chat calls. */
  readonly logGroup: LogGroup;
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly tasks?: Tasks | undefined;
  readonly distributionId?: string | undefined;
  readonly alarms: readonly cloudwatch.Alarm[];
}

export class Dashboard extends Construct {
  readonly url: string;
  readonly #props: DashboardProps;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    this.#props = props;
    const { region } = Stack.of(this);
    // Names of dashboards are unique in an account, whatever the region.
    const dashboardName = `${brand}-${props.stage}-${region}`;
    this.url = `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${dashboardName}`;
    new cloudwatch.Dashboard(this, 'Page', {
      dashboardName,
      defaultInterval: Duration.hours(3),
      widgets: [
        [heading('Is it available?')],
        ...(props.alarms.length === 0 ? [] : [[this.#alarmStates()]]),
        this.#availability(),
        [
          heading(
            'How slow is it?',
            'Gateway time is what is left of a call without its providers. Calls that waited for the start of an instance have none.',
          ),
        ],
        this.#latency(),
        [heading('What does it cost?', 'In millionths of a US dollar.')],
        this.#cost(),
        [heading('Which provider fails?')],
        this.#providers(),
        [heading('Can the store keep up?')],
        this.#store(),
      ],
    });
  }

  #alarmStates(): cloudwatch.IWidget {
    return new cloudwatch.AlarmStatusWidget({ alarms: [...this.#props.alarms], width: 24, height: 3 });
  }

  #availability(): cloudwatch.IWidget[] {
    const { stage, functions, tasks, distributionId } = this.#props;
    const { period } = metrics;
    const platform = Object.entries(functions).flatMap(([name, target]) => [
      metrics.functionCrashes(stage, name, target).with({ label: `${name}: crashed` }),
      target.metricThrottles({ period, label: `${name}: throttled` }),
      target.metric('ConcurrentExecutions', { statistic: 'Maximum', period, label: `${name}: concurrent` }),
    ]);
    return [
      graph(
        'Requests and failed answers',
        [
          metrics.stageMetric(stage, 'Requests', 'Sum', { label: 'requests' }),
          metrics.stageMetric(stage, 'ServerErrors', 'Sum', { label: 'failed answers' }),
        ],
        [
          metrics.serverErrorPercent(stage),
          ...(distributionId === undefined ? [] : [metrics.distributionErrorRate(distributionId)]),
        ],
      ),
      graph('Requests by outcome', [metrics.requestMetricBy('outcome_class', stage, 'Requests')]),
      ...(tasks === undefined ? [graph('Lambda', platform)] : [taskGraph(stage, tasks)]),
    ];
  }

  #latency(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    const percentiles = (title: string, name: RequestMetricName) =>
      graph(
        title,
        ['p50', 'p90', 'p99'].map((statistic) => metrics.stageMetric(stage, name, statistic, { label: statistic })),
      );
    return [
      percentiles('Gateway time (ms)', 'GatewayTime'),
      percentiles('Time to first output (ms)', 'TimeToFirstOutput'),
      percentiles('Whole requests (ms)', 'TotalTime'),
    ];
  }

  #cost(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    return [
      this.#logTable('Workspaces by cost', [
        'stats sum(CostMicroUsd) as micro_usd, count(*) as calls, sum(InputTokens) as input, sum(OutputTokens) as output by workspace_id',
        'sort micro_usd desc',
      ]),
      graph('Cost by provider', [metrics.requestMetricBy('provider', stage, 'CostMicroUsd')]),
      graph('Tokens', [
        metrics.stageMetric(stage, 'InputTokens', 'Sum', { label: 'input' }),
        metrics.stageMetric(stage, 'OutputTokens', 'Sum', { label: 'output' }),
      ]),
    ];
  }

  #providers(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    return [
      this.#logTable('Calls by their path through providers', [
        'stats count(*) as calls by provider_path',
        'sort calls desc',
      ]),
      graph('Failed attempts by provider', [metrics.requestMetricBy('provider', stage, 'FailedAttempts')]),
      graph('Answers by provider', [metrics.requestMetricBy('provider', stage, 'Requests')]),
    ];
  }

  #store(): cloudwatch.IWidget[] {
    const { nameOf } = this.#props;
    return [
      graph('Throttled reads', [metrics.tableMetricByTable(nameOf, 'ReadThrottleEvents')]),
      graph('Throttled writes', [metrics.tableMetricByTable(nameOf, 'WriteThrottleEvents')]),
      graph('Written units', [metrics.tableMetricByTable(nameOf, 'ConsumedWriteCapacityUnits')]),
    ];
  }

  /**
   * Adds a query over log lines, for values that would be too many metrics. Each execution of a query is billed by the
   * bytes that it reads.
   */
  #logTable(title: string, queryLines: string[]): cloudwatch.IWidget {
    return new cloudwatch.LogQueryWidget({
      title,
      logGroupNames: [this.#props.logGroup.logGroupName],
      view: cloudwatch.LogQueryVisualizationType.TABLE,
      queryLines: ['filter event = "request" and ispresent(workspace_id)', ...queryLines, 'limit 20'],
      ...third,
    });
  }
}

const taskGraph = (stage: string, { service, targets, balancer }: Tasks): cloudwatch.IWidget => {
  const { period } = metrics;
  return graph(
    'Tasks',
    [
      metrics.stageMetric(stage, 'CallsInFlight', 'Maximum', { label: 'calls in flight of the fullest task' }),
      targets.metrics.healthyHostCount({ period, statistic: 'Average', label: 'tasks that serve' }),
      balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period, label: '5xx of the load balancer' }),
    ],
    [
      service.metricCpuUtilization({ period, label: 'processor in percent' }),
      service.metricMemoryUtilization({ period, label: 'memory in percent' }),
    ],
  );
};

const heading = (title: string, note = ''): cloudwatch.IWidget =>
  new cloudwatch.TextWidget({ markdown: `## ${title}\n${note}`, width: 24, height: 1 });

const graph = (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []): cloudwatch.IWidget =>
  new cloudwatch.GraphWidget({ title, left, right, ...third });
