// One page per stage, one row per question: is it up, how slow is it, who pays for what, which provider fails.
import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import * as metrics from './gateway-metrics.ts';

/** CloudWatch's grid has 24 columns; graphs stand three to a row. */
const third = { width: 8, height: 6 };

export interface DashboardProps {
  readonly stage: string;
  /** Where the lines of chat calls are. */
  readonly logGroup: LogGroup;
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly distributionId?: string | undefined;
  readonly alarms: readonly cloudwatch.Alarm[];
}

export class Dashboard extends Construct {
  readonly dashboardName: string;
  readonly #props: DashboardProps;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    this.#props = props;
    this.dashboardName = `${brand}-${props.stage}`;
    new cloudwatch.Dashboard(this, 'Page', {
      dashboardName: this.dashboardName,
      defaultInterval: Duration.hours(3),
      widgets: [
        [heading('Is it up?')],
        ...(props.alarms.length === 0 ? [] : [[this.#alarmStates()]]),
        this.#isItUp(),
        [heading('How slow is it?', 'Gateway time is what is left of a call without its providers.')],
        this.#howSlow(),
        [heading('Who pays for what?', 'In millionths of a US dollar.')],
        this.#whoPays(),
        [heading('Which provider fails?')],
        this.#whichProviderFails(),
        [heading('Can the store keep up?')],
        this.#store(),
      ],
    });
  }

  #alarmStates(): cloudwatch.IWidget {
    return new cloudwatch.AlarmStatusWidget({ alarms: [...this.#props.alarms], width: 24, height: 3 });
  }

  #isItUp(): cloudwatch.IWidget[] {
    const { stage, functions, distributionId } = this.#props;
    const platform = Object.entries(functions).flatMap(([name, target]) => [
      target.metricErrors({ period: metrics.period, label: `${name}: crashed` }),
      target.metricThrottles({ period: metrics.period, label: `${name}: turned away` }),
      target.metric('ConcurrentExecutions', {
        statistic: 'Maximum',
        period: metrics.period,
        label: `${name}: at once`,
      }),
    ]);
    return [
      graph(
        'Requests and failed answers',
        [
          metrics.requestMetric(stage, 'Requests', 'Sum', { label: 'requests' }),
          metrics.serverErrorMetric(stage, 'failed answers'),
        ],
        [
          metrics.serverErrorPercent(stage),
          ...(distributionId === undefined ? [] : [metrics.distributionErrorRate(distributionId)]),
        ],
      ),
      graph('Requests by outcome', [metrics.requestMetricBy('outcome', stage, 'Requests', 'Sum')]),
      ...(platform.length === 0 ? [] : [graph('Lambda', platform)]),
    ];
  }

  #howSlow(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    const percentiles = (title: string, name: metrics.RequestMetricName) =>
      graph(
        title,
        ['p50', 'p90', 'p99'].map((statistic) => metrics.requestMetric(stage, name, statistic, { label: statistic })),
      );
    return [
      percentiles('Gateway time (ms)', 'GatewayTime'),
      percentiles('Time to first output (ms)', 'TimeToFirstOutput'),
      percentiles('Whole requests (ms)', 'TotalTime'),
    ];
  }

  #whoPays(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    return [
      this.#table('Workspaces by cost', [
        'stats sum(CostMicroUsd) as micro_usd, count(*) as calls, sum(InputTokens) as input, sum(OutputTokens) as output by workspace_id',
        'sort micro_usd desc',
      ]),
      graph('Cost by provider', [metrics.requestMetricBy('provider', stage, 'CostMicroUsd', 'Sum')]),
      graph('Tokens', [
        metrics.requestMetric(stage, 'InputTokens', 'Sum', { label: 'input' }),
        metrics.requestMetric(stage, 'OutputTokens', 'Sum', { label: 'output' }),
      ]),
    ];
  }

  #whichProviderFails(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    return [
      this.#table('Attempts by provider that answered last', [
        'stats count(*) as calls by provider, attempt_outcomes',
        'sort calls desc',
      ]),
      graph('Errors by provider', [metrics.requestMetricBy('provider', stage, 'Errors', 'Sum')]),
      graph('Fallbacks by provider that answered last', [
        metrics.requestMetricBy('provider', stage, 'Fallbacks', 'Sum'),
      ]),
    ];
  }

  #store(): cloudwatch.IWidget[] {
    const { stage } = this.#props;
    return [
      graph('Throttled reads', [metrics.tableMetricByTable(stage, 'ReadThrottleEvents')]),
      graph('Throttled writes', [metrics.tableMetricByTable(stage, 'WriteThrottleEvents')]),
      graph('Written units', [metrics.tableMetricByTable(stage, 'ConsumedWriteCapacityUnits')]),
    ];
  }

  /** A query over the lines of chat calls: by what would be too many metrics. Billed per run, by what it reads. */
  #table(title: string, queryLines: string[]): cloudwatch.IWidget {
    return new cloudwatch.LogQueryWidget({
      title,
      logGroupNames: [this.#props.logGroup.logGroupName],
      view: cloudwatch.LogQueryVisualizationType.TABLE,
      queryLines: ['filter event = "request" and ispresent(workspace_id)', ...queryLines, 'limit 20'],
      ...third,
    });
  }
}

const heading = (title: string, note = ''): cloudwatch.IWidget =>
  new cloudwatch.TextWidget({ markdown: `## ${title}\n${note}`, width: 24, height: 1 });

const graph = (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []): cloudwatch.IWidget =>
  new cloudwatch.GraphWidget({ title, left, right, ...third });
