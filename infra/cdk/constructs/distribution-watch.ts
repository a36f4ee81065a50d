// Copies CloudFront's metrics to the region of the stage, because CloudFront writes its metrics in us-east-1, and an
// alarm reads only metrics of its own region. A function reads them every five minutes and logs a line, which a filter
// turns into a metric.
import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as WatchFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';
import { wildcardId } from './access.ts';
import { distributionFailures, metricNamespace, period } from './gateway-metrics.ts';
import { NodeFunction } from './node-function.ts';

interface DistributionWatchProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly distributionId: string;
}

export class DistributionWatch extends Construct {
  readonly function: WatchFunction;

  constructor(scope: Construct, id: string, { stage, settings, distributionId }: DistributionWatchProps) {
    super(scope, id);
    const reader = new NodeFunction(this, 'Reader', {
      stage,
      settings,
      codeFolder: join(import.meta.dirname, 'distribution-watch'),
      description: `${brand} ${stage}: reads the error rate of the distribution, which CloudFront writes in us-east-1`,
      timeoutSeconds: 60,
      overrides: { memorySize: 128 },
    });
    this.function = reader.function;
    reader.grant({
      // This action has no resources.
      statements: [{ actions: ['cloudwatch:GetMetricData'], resources: ['*'] }],
      environment: { GW_DISTRIBUTION_ID: distributionId },
      acknowledgements: [{ id: wildcardId('*'), reason: 'The action that reads metrics has no resources.' }],
    });
    new MetricFilter(this, 'Failures', {
      logGroup: reader.logGroup,
      metricNamespace,
      metricName: distributionFailures,
      filterPattern: FilterPattern.literal('{ $.event = "distribution" }'),
      metricValue: '$.failed_percent',
      dimensions: { stage: '$.stage' },
    });
    new Rule(this, 'Schedule', {
      schedule: Schedule.rate(period),
      targets: [new LambdaFunction(reader.function, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }
}
