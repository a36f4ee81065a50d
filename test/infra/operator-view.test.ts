import { describe, expect, it } from '@jest/globals';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { tableNames } from '../../shared/foundation/constants/index.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from './synthesized-stage.ts';

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly TreatMissingData: string;
  readonly AlarmActions: readonly unknown[];
  readonly Metrics?: readonly { readonly MetricStat?: unknown }[];
}

const alarmsOf = ({ api }: SynthesizedStage) =>
  resourcesOf(api, 'AWS::CloudWatch::Alarm').map((resource) => ({
    ...resource,
    Properties: resource.Properties as unknown as AlarmProperties,
  }));
/** The page as text, with references in place of names that are known after the deployment. */
const pageOf = ({ api }: SynthesizedStage): string =>
  JSON.stringify(resourcesOf(api, 'AWS::CloudWatch::Dashboard')[0]?.Properties.DashboardBody).replaceAll('\\', '');

describe.each(Object.keys(stageSettings))('the dashboard of %s', (stage) => {
  const synthesized = synthesizeStage(stage);
  const page = pageOf(synthesized);

  it('is one, under the name of stage and region, and its address is put out', () => {
    synthesized.api.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    synthesized.api.hasResourceProperties('AWS::CloudWatch::Dashboard', {
      DashboardName: { 'Fn::Join': ['', [`gw-${stage}-`, { Ref: 'AWS::Region' }]] },
    });
    expect(JSON.stringify(synthesized.api.findOutputs('DashboardUrl'))).toContain(
      `dashboard/gw-${stage}-",{"Ref":"AWS::Region"}`,
    );
  });

  it.each(['Is it available?', 'How slow is it?', 'What does it cost?', 'Which provider fails?'])(
    'answers: %s',
    (question) => {
      expect(page).toContain(question);
    },
  );

  it('shows the numbers of its own stage and of no other', () => {
    for (const name of ['Requests', 'ServerErrors', 'GatewayTime', 'TimeToFirstOutput', 'TotalTime']) {
      expect(page).toContain(`["gw","${name}","stage","${stage}"`);
    }
    for (const name of ['CostMicroUsd', 'FailedAttempts', 'Requests']) {
      expect(page).toContain(`SEARCH('{gw,stage,provider} MetricName="${name}" stage="${stage}"'`);
    }
    for (const other of Object.keys(stageSettings).filter((name) => name !== stage)) {
      expect(page).not.toContain(`gw-${other}-`);
    }
  });

  it('tells workspaces apart by a query over log lines, as a metric for each would cost by the month', () => {
    expect(page).toContain('by workspace_id');
    expect(page).not.toContain('"workspace_id","');
  });
});

describe('failed answers', () => {
  it('are counted in the lines of both functions: a status from 500, or a stream that was cut', () => {
    const filters = resourcesOf(synthesizeStage('prod').api, 'AWS::Logs::MetricFilter');
    expect(filters).toHaveLength(2);
    for (const { Properties } of filters) {
      expect(Properties).toMatchObject({
        FilterPattern: '{ $.event = "request" && ($.status >= 500 || $.outcome = "cut") }',
        MetricTransformations: [{ MetricNamespace: 'gw', MetricName: 'ServerErrors', MetricValue: '1' }],
      });
    }
  });
});

describe('alarms', () => {
  const alarmEmail = 'operator@example.com';
  const watched = synthesizeStage('dev', { alarmEmail });
  const alarms = alarmsOf(watched);

  it('are sent to the one address, and none of them fires when nothing happens', () => {
    watched.api.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: alarmEmail });
    const topic = { Ref: resourcesOf(watched.api, 'AWS::SNS::Topic')[0]?.id };
    for (const { Properties } of alarms) {
      expect(Properties).toMatchObject({ TreatMissingData: 'notBreaching', AlarmActions: [topic] });
      expect(Properties.AlarmDescription).toMatch(/^gw dev: /);
    }
    expect(watched.findings).toEqual([]);
  });

  it('watch answers, time of its own, the store, both functions and the distribution', () => {
    const names = alarms.map(({ id }) => id.replace(/^Alarms/, '').replace(/[0-9A-F]{8}$/, ''));
    expect(names.toSorted()).toEqual([
      'DistributionErrors',
      'FailedAnswers',
      'GatewayTime',
      'ReadThrottles',
      'StoreErrors',
      'StoreUnavailable',
      'WriteThrottles',
      'chaterrors',
      'chatthrottles',
      'modelserrors',
      'modelsthrottles',
    ]);
  });

  it('add up ten metrics at most, which is all that CloudWatch takes, and leave out no table', () => {
    for (const { Properties } of alarms) {
      const summed = (Properties.Metrics ?? []).filter(({ MetricStat }) => MetricStat !== undefined);
      expect(summed.length).toBeLessThanOrEqual(10);
    }
    const text = JSON.stringify(alarms.filter(({ id }) => /Throttles/.test(id)));
    for (const table of tableNames) expect(text).toContain(`"gw-dev-${table}"`);
  });

  it('watch the distribution only where its numbers are', () => {
    const distribution = Object.values(watched.api.findResources('AWS::CloudWatch::Alarm')).find((resource) =>
      JSON.stringify(resource).includes('5xxErrorRate'),
    );
    const condition = String(distribution?.Condition);
    expect(watched.api.toJSON().Conditions[condition]).toEqual({ 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] });
  });

  it('are shown on the dashboard, but for the one that other regions do not have', () => {
    const page = pageOf(watched);
    for (const { id } of alarms)
      expect({ id, isShown: page.includes(id) }).toEqual({ id, isShown: !/Distribution/.test(id) });
  });

  it('exist in every stage that retains, with or without an address; an address adds a subscription', () => {
    for (const [stage, { removal }] of Object.entries(stageSettings)) {
      const synthesized = synthesizeStage(stage);
      expect(alarmsOf(synthesized)).toHaveLength(removal === 'retain' ? alarms.length : 0);
      synthesized.api.resourceCountIs('AWS::SNS::Topic', removal === 'retain' ? 1 : 0);
      synthesized.api.resourceCountIs('AWS::SNS::Subscription', 0);
      expect(synthesized.findings).toEqual([]);
    }
  });

  it('of the distribution are left out where there is none', () => {
    const bare = alarmsOf(synthesizeStage('dev', { alarmEmail, edge: 'none' }));
    expect(JSON.stringify(bare)).not.toContain('CloudFront');
    expect(bare).toHaveLength(alarms.length - 1);
  });
});
