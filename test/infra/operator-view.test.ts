import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from '#jest';
import { gatewayTableActions } from '../../infra/cdk/constructs/table-actions.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { stageResources } from '../../shared/foundation/constants/index.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from './synthesized-stage.ts';

type Watch = (
  query: { readonly stage: string; readonly distribution: string; readonly nowMs: number },
  outside: { readMetrics: (query: unknown) => Promise<object>; print: (line: string) => void },
) => Promise<void>;

// This is plain JavaScript without types, which Lambda runs as it is, so the test imports it by its path.
const source = new URL('../../infra/cdk/constructs/distribution-watch/index.mjs', import.meta.url).href;
const { watch } = (await import(source)) as { watch: Watch };

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly TreatMissingData: string;
  readonly AlarmActions: readonly unknown[];
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly MetricName?: string;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly ReturnData?: boolean;
    readonly MetricStat?: { readonly Period: number; readonly Metric: { readonly MetricName: string } };
  }[];
}

/**
 * Returns the value that CloudWatch compares with the threshold in one period, computed from values by metric id. A
 * metric without a value never had one: `FILL` gives none either, arithmetic has no result, and `SUM` ignores it.
 */
function alarmValue(
  { Metrics = [] }: AlarmProperties,
  values: Readonly<Record<string, number | undefined>>,
  id = Metrics.find(({ ReturnData }) => ReturnData !== false)?.Id,
): number | undefined {
  const expression = Metrics.find((metric) => metric.Id === id)?.Expression;
  if (expression === undefined) return values[String(id)];
  const read = expression
    .replaceAll(/\b[a-z]\w*/g, (name) => `metricOf('${name}')`)
    .replaceAll(/FILL\((.*?), 0\)/g, '$1')
    .replaceAll(/SUM\(/g, 'sum(')
    .replaceAll(/IF\((.*), (.*), 0\)/g, '($1 ? $2 : 0)');
  const sum = (all: readonly (number | undefined)[]) => {
    const known = all.filter((value) => Number.isFinite(value)) as number[];
    return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
  };
  const metricOf = (name: string) => alarmValue({ Metrics } as AlarmProperties, values, name);
  return new Function('metricOf', 'sum', `return ${read}`)(metricOf, sum) as number | undefined;
}

/** Returns the alarms that notify a person. */
const alarmsOf = ({ api }: SynthesizedStage) =>
  resourcesOf(api, 'AWS::CloudWatch::Alarm')
    .filter(({ id }) => !id.includes('NewVersion'))
    .map((resource) => ({ ...resource, Properties: resource.Properties as unknown as AlarmProperties }));
/** Returns the page as text, with references in place of names that are known only after the deployment. */
const pageOf = ({ api }: SynthesizedStage): string =>
  JSON.stringify(resourcesOf(api, 'AWS::CloudWatch::Dashboard')[0]?.Properties.DashboardBody).replaceAll('\\', '');

const filtersOf = (metricName: string) =>
  resourcesOf(synthesizeStage('prod').api, 'AWS::Logs::MetricFilter').filter(({ Properties }) =>
    JSON.stringify(Properties).includes(`"${metricName}"`),
  );

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
  it('are counted in the lines of both functions: a status from 500 that is no pause, or a stream that was cut', () => {
    const filters = filtersOf('ServerErrors');
    expect(filters).toHaveLength(2);
    for (const { Properties } of filters) {
      expect(Properties).toMatchObject({
        FilterPattern: '{ $.event = "request" && (($.status >= 500 && $.paused NOT EXISTS) || $.outcome = "cut") }',
        MetricTransformations: [{ MetricNamespace: 'gw', MetricName: 'ServerErrors', MetricValue: '1' }],
      });
    }
  });
});

describe.each([{}, { compute: 'container' }] as const)(
  'failures that an operator is to hear of, with %j',
  (compute) => {
    const stage = synthesizeStage('prod', compute);
    const patternOf = (name: string) =>
      resourcesOf(stage.api, 'AWS::Logs::MetricFilter')
        .map(
          ({ Properties }) => Properties as { FilterPattern: string; MetricTransformations: { MetricName: string }[] },
        )
        .filter(({ MetricTransformations }) => MetricTransformations[0]?.MetricName === name)
        .map(({ FilterPattern }) => FilterPattern);

    it('refusals of a stage that is too small count in one metric whatever is exhausted, and not as a store that does not answer', () => {
      expect(patternOf('RefusedAtMaximum')).toEqual(['{ $.event = "request" && $.exhausted = "*" }']);
      expect(patternOf('StoreUnavailable')).toEqual(['{ $.event = "request" && $.unanswered IS TRUE }']);
    });

    it('controls that failed count in one metric, and each of them rings', () => {
      expect(patternOf('FailedControls')).toEqual(['{ $.failed_control = "*" }']);
      const [alarm, ...others] = alarmsOf(stage).filter(({ id }) => id.startsWith('AlarmsFailedControls'));
      expect(others).toEqual([]);
      expect(alarm?.Properties).toMatchObject({ MetricName: 'FailedControls', Threshold: 0, EvaluationPeriods: 1 });
    });

    it('refusals ring an alarm that says for each of them what to raise', () => {
      const alarms = alarmsOf(stage).filter(({ id }) => id.startsWith('AlarmsRefusedAtMaximum'));
      expect(alarms.map(({ Properties }) => Properties.MetricName)).toEqual(['RefusedAtMaximum']);
      const { AlarmDescription: text = '' } = alarms[0]?.Properties ?? {};
      expect(stageResources.filter((resource) => !text.includes(`${resource}: raise `))).toEqual([]);
      expect(text.length).toBeLessThanOrEqual(1_024);
    });
  },
);

describe('settlements', () => {
  it('that failed, came too late or did not end are counted in the lines of the function that settles, and no other failure is', () => {
    const filters = filtersOf('FailedSettlements');
    expect(filters).toHaveLength(1);
    const money = '($.event = "settlement_failed" && $.settlement_step = "money")';
    const others = ['settlement_late', 'finish_over_time', 'finish_failed'].map((event) => `$.event = "${event}"`);
    expect(filters[0]?.Properties).toMatchObject({
      LogGroupName: { Ref: expect.stringMatching(/^ChatCompletionsLogs/) },
      FilterPattern: `{ ${[money, ...others].join(' || ')} }`,
      MetricTransformations: [{ MetricValue: '1', Dimensions: [{ Key: 'stage', Value: '$.stage' }] }],
    });
  });
});

describe('the errors of the distribution', () => {
  const { api, findings } = synthesizeStage('prod');
  const query = { stage: 'prod', distribution: 'E1', nowMs: Date.parse('2026-11-23T10:07:00Z') };
  const lineAt = async (percent: number | undefined, requests: number | undefined) => {
    const queries: unknown[] = [];
    const lines: string[] = [];
    const valuesOf = (value: number | undefined) => (value === undefined ? [] : [value]);
    await watch(query, {
      readMetrics: async (question: unknown) => {
        queries.push(question);
        return {
          MetricDataResults: [
            { Id: 'requests', Values: valuesOf(requests) },
            { Id: 'percent', Values: valuesOf(percent) },
          ],
        };
      },
      print: (line: string) => void lines.push(line),
    });
    return { queries, line: JSON.parse(String(lines)) as object };
  };

  it('are read every five minutes in any region, of the last period that is complete, and become a metric of the region', async () => {
    const [rule] = resourcesOf(api, 'AWS::Events::Rule');
    expect(rule?.Properties).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' });
    expect(filtersOf('DistributionErrors')[0]?.Properties).toMatchObject({
      FilterPattern: '{ $.event = "distribution" }',
      MetricTransformations: [{ MetricValue: '$.failed_percent', Dimensions: [{ Key: 'stage', Value: '$.stage' }] }],
    });
    const { queries } = await lineAt(1, 1);
    expect(queries).toMatchObject([
      { StartTime: new Date('2026-11-23T09:55:00Z'), EndTime: new Date('2026-11-23T10:00:00Z') },
    ]);
    expect(JSON.stringify(queries)).toContain('"Value":"E1"');
    expect(findings).toEqual([]);
    expect(resourcesOf(synthesizeStage('dev').api, 'AWS::Events::Rule')).toEqual([]);
  });

  it.each([
    [undefined, undefined, 0],
    [100, 5, 0],
    [100, 6, 100],
    [6, 101, 6],
  ])(
    'of %s percent of %s requests are written as %i: a few count as none',
    async (percent, requests, failed_percent) => {
      const line = { event: 'distribution', stage: 'prod', requests: requests ?? 0, failed_percent };
      expect((await lineAt(percent, requests)).line).toEqual(line);
    },
  );
});

describe('alarms', () => {
  const alarmEmail = 'operator@example.com';
  const watchedStage = synthesizeStage('dev', { alarmEmail });
  const alarms = alarmsOf(watchedStage);

  it('are sent to the one address, and none of them fires when nothing happens', () => {
    watchedStage.api.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: alarmEmail });
    const topic = { Ref: resourcesOf(watchedStage.api, 'AWS::SNS::Topic')[0]?.id };
    for (const { Properties } of alarms) {
      expect(Properties).toMatchObject({ TreatMissingData: 'notBreaching', AlarmActions: [topic] });
      expect(Properties.AlarmDescription).toMatch(/^gw dev: /);
    }
    expect(watchedStage.findings).toEqual([]);
  });

  it('watch answers, time of its own, the store, both functions and the distribution', () => {
    const names = alarms.map(({ id }) => id.replace(/^Alarms/, '').replace(/[0-9A-F]{8}$/, ''));
    expect(names.toSorted()).toEqual([
      'AccountConcurrency',
      'DistributionErrors',
      'DistributionWatch',
      'FailedAnswers',
      'FailedControls',
      'FailedSettlements',
      'FewCallsFail',
      'GatewayTime',
      'ReadThrottles',
      'RefusedAtMaximum',
      'RefusedOrigins',
      'StoreErrors',
      'StoreUnavailable',
      'UrlErrors',
      'WriteThrottles',
      'chaterrors',
      'chatthrottles',
      'modelserrors',
      'modelsthrottles',
    ]);
  });

  const alarm = (name: string): AlarmProperties => {
    const found = alarms.find(({ id }) => id.startsWith(`Alarms${name}`));
    if (found === undefined) throw new Error(`there is no alarm ${name}`);
    return found.Properties;
  };
  const rings = (name: string, values: Readonly<Record<string, number | undefined>>): boolean => {
    const properties = alarm(name);
    return (alarmValue(properties, values) ?? 0) > properties.Threshold;
  };

  it.each([
    ['FailedAnswers', { failed: 5, all: 5 }, { failed: 6, all: 100 }],
    ['FailedAnswers', { failed: undefined, all: 1 }, { failed: 50, all: 900 }],
    ['FailedAnswers', { failed: 50, all: 1_000 }, { failed: 51, all: 1_000 }],
    ['GatewayTime', { timed: 59, slowest: 9_000 }, { timed: 60, slowest: 501 }],
    ['GatewayTime', { timed: 1_000, slowest: 500 }, { timed: 1_000, slowest: 501 }],
  ])('%s is not raised by %j, and is by %j', (name, few, many) => {
    expect({ few: rings(name, few), many: rings(name, many) }).toEqual({ few: false, many: true });
    // Two of three periods must be bad, so that a fault of some minutes raises no alarm.
    expect(alarm(name)).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 2 });
  });

  it.each([
    [
      { failed: 2, all: 2 },
      { failed: 3, all: 3 },
    ],
    [
      { failed: undefined, all: 60 },
      { failed: 31, all: 60 },
    ],
    [
      { failed: 3, all: 6 },
      { failed: 60, all: 60 },
    ],
  ])(
    'a stage that is called once a minute and fails is not missed: over an hour %j do not ring, %j do',
    (few, many) => {
      expect({ few: rings('FewCallsFail', few), many: rings('FewCallsFail', many) }).toEqual({
        few: false,
        many: true,
      });
      const { Metrics = [], EvaluationPeriods } = alarm('FewCallsFail');
      const periods = Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? []);
      expect([periods, EvaluationPeriods]).toEqual([[3_600, 3_600], 1]);
    },
  );

  it.each([
    ['ReadThrottles', { m3: 6 }],
    ['WriteThrottles', { m0: 3, m4: 3 }],
    ['StoreErrors', { m5: 6 }],
    ['UrlErrors', { url1: 6 }],
    ['UrlErrors', { url0: 4, url1: 4, subtracted: 2 }],
    ['chaterrors', { all: 6 }],
    ['chaterrors', { all: 16, subtracted: 10 }],
  ])('%s rings by %j, even if the other metrics never had a value', (name, values) => {
    expect(rings(name, values)).toBe(true);
    expect(rings(name, {})).toBe(false);
  });

  it('an answer that a provider broke is no crash: errors that are cut answers raise no alarm', () => {
    expect(rings('chaterrors', { all: 50, subtracted: 50 })).toBe(false);
    expect(rings('UrlErrors', { url0: 50, subtracted: 50 })).toBe(false);
    // The function of the model list cuts nothing off.
    expect(alarm('modelserrors')).not.toHaveProperty('Metrics');
    const [filter] = filtersOf('BrokenAnswers');
    expect(filter?.Properties).toMatchObject({
      FilterPattern: '{ $.event = "answer_broken" }',
      MetricTransformations: [{ Dimensions: [{ Key: 'stage', Value: '$.stage' }] }],
    });
    expect(String(filter?.id)).toMatch(/^ChatCompletions/);
  });

  it('ring if a request carries an origin secret that is not accepted, of whatever function', () => {
    expect(alarm('RefusedOrigins')).toMatchObject({ MetricName: 'RefusedOrigins', Threshold: 5, EvaluationPeriods: 1 });
    const filters = filtersOf('RefusedOrigins');
    expect(filters.map(({ id }) => id.replace(/Logs.*/, '')).toSorted()).toEqual(['ChatCompletions', 'Models']);
    for (const { Properties } of filters) expect(Properties.FilterPattern).toBe('{ $.event = "origin_refused" }');
    const without = synthesizeStage('prod', { edge: 'none' }).api;
    expect(JSON.stringify(without.toJSON())).not.toContain('RefusedOrigins');
  });

  it('ring at the first settlement that failed, because that is money', () => {
    expect(alarm('FailedSettlements')).toMatchObject({
      MetricName: 'FailedSettlements',
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
      EvaluationPeriods: 1,
    });
  });

  it.each([
    [undefined, 800],
    [5_000, 4_000],
  ])('ring at 80 % of the quota of the account, of %s: %i executions', (accountConcurrency, threshold) => {
    const { api } = synthesizeStage('prod', accountConcurrency === undefined ? {} : { accountConcurrency });
    api.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'ConcurrentExecutions',
      Dimensions: Match.absent(),
      Statistic: 'Maximum',
      Threshold: threshold,
    });
  });

  it('that count are not raised by five calls, whatever they count', () => {
    const ratios = [
      ...['FailedAnswers', 'FewCallsFail', 'GatewayTime', 'DistributionErrors'],
      ...['AccountConcurrency', 'FailedSettlements', 'FailedControls', 'DistributionWatch'],
    ];
    const counting = alarms.filter(({ id }) => !ratios.some((name) => id.startsWith(`Alarms${name}`)));
    expect(counting).toHaveLength(alarms.length - ratios.length);
    for (const { Properties } of counting) expect(Properties.Threshold).toBe(5);
  });

  it('read the time of the gateway, which calls that start an instance do not have, as that of the slowest tenth', () => {
    const { Metrics = [] } = alarm('GatewayTime');
    const stats = Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat]));
    expect(stats).toMatchObject(
      ['SampleCount', 'p90'].map((Stat) => ({ Stat, Metric: { Namespace: 'gw', MetricName: 'GatewayTime' } })),
    );
  });

  it('watch in every region for errors of the URLs that the gateway did not make', () => {
    const { Metrics = [] } = alarm('UrlErrors');
    const read = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? []);
    expect(read.toSorted()).toEqual(['Errors', 'Url4xxCount', 'Url4xxCount', 'Url5xxCount', 'Url5xxCount']);
    const bothFunctions = resourcesOf(watchedStage.api, 'AWS::Lambda::Url').map(
      ({ Properties }) => Properties.TargetFunctionArn,
    );
    expect(bothFunctions).toHaveLength(2);
    for (const target of bothFunctions) {
      const [name] = (target as { 'Fn::GetAtt': [string] })['Fn::GetAtt'];
      expect(JSON.stringify(Metrics).split(`{"Ref":"${name}"}`)).toHaveLength(3);
    }
    const ids = Object.fromEntries(Metrics.map(({ Id }) => [Id, 0]));
    // The gateway refused 40 calls itself; later the URL lost its permission, and no line was written at all.
    expect(rings('UrlErrors', { ...ids, url0: 40, subtracted: 40 })).toBe(false);
    expect(rings('UrlErrors', { ...ids, url0: 40, subtracted: undefined })).toBe(true);
  });

  it('add up ten metrics at most, which is all that CloudWatch takes, and leave out no table that a call uses', () => {
    for (const { Properties } of alarms) {
      const summed = (Properties.Metrics ?? []).filter(({ MetricStat }) => MetricStat !== undefined);
      expect(summed.length).toBeLessThanOrEqual(10);
    }
    const text = JSON.stringify(alarms.filter(({ id }) => /Throttles/.test(id)));
    for (const table of Object.keys(gatewayTableActions)) expect(text).toContain(`"gw-dev-${table}"`);
    // A lost write to these tables is no fault, however many there are.
    const writes = JSON.stringify(alarms.filter(({ id }) => id.includes('WriteThrottles')));
    expect(writes).not.toMatch(/"gw-dev-(statistics|cache)"/);
  });

  it('watch the distribution in every region, and are all shown on the dashboard', () => {
    expect(alarm('DistributionErrors')).toMatchObject({
      Namespace: 'gw',
      MetricName: 'DistributionErrors',
      Threshold: 5,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 2,
    });
    const page = pageOf(watchedStage);
    for (const { id } of alarms) expect({ id, isShown: page.includes(id) }).toEqual({ id, isShown: true });
    for (const resource of Object.values(watchedStage.api.findResources('AWS::CloudWatch::Alarm'))) {
      expect(resource.Condition).toBeUndefined();
    }
  });

  it('read the metrics of the distribution themselves in the region where CloudFront writes, without a function that copies them', () => {
    const there = synthesizeStage('prod', { account: '111122223333', region: 'us-east-1' });
    there.api.resourceCountIs('AWS::Events::Rule', 0);
    const alarms = alarmsOf(there).filter(({ id }) => id.includes('Distribution'));
    expect(alarms.map(({ id }) => id)).toEqual([expect.stringMatching(/^AlarmsDistributionErrors/)]);
    const [{ Properties } = { Properties: {} as AlarmProperties }] = alarms;
    expect(Properties).toMatchObject({ Threshold: 5, EvaluationPeriods: 3, DatapointsToAlarm: 2 });
    const metrics = (Properties.Metrics ?? []).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
    expect(metrics).toMatchObject(
      ['5xxErrorRate', 'Requests'].map((MetricName) => ({ Namespace: 'AWS/CloudFront', MetricName })),
    );
    // The cases are five failures, six failures, and no requests.
    expect(alarmValue(Properties, { percent: 50, requests: 10 })).toBe(0);
    expect(alarmValue(Properties, { percent: 50, requests: 12 })).toBe(50);
    // An alarm reads no metric of another region.
    const elsewhere = synthesizeStage('prod', { account: '111122223333', region: 'eu-west-1' });
    elsewhere.api.resourceCountIs('AWS::Events::Rule', 1);
    expect(JSON.stringify(alarmsOf(elsewhere))).not.toContain('AWS/CloudFront');
    expect([...there.findings, ...elsewhere.findings]).toEqual([]);
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

  it('of the distribution are left out if there is none', () => {
    const bare = alarmsOf(synthesizeStage('dev', { alarmEmail, edge: 'none' }));
    expect(JSON.stringify(bare)).not.toContain('Distribution');
    expect(bare).toHaveLength(alarms.length - 3);
  });
});
