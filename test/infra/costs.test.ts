// The costs on the pages are compared with the arithmetic on list prices and with the resources of a stage.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { attemptMetricSeries, requestMetricSeries } from '../../shared/foundation/constants/index.ts';
import {
  breakEven,
  callCosts,
  functionsMonth,
  idleCosts,
  jsonAnswerBytes,
  metricCosts,
  promptBytes,
  smallCosts,
  streamBytesPerToken,
  sumOf,
  taskCpuMs,
  tasksFor,
  tasksMonth,
  usdPrices,
  usualCall,
  writeUnitsPerCall,
  writeUnitsWithoutLimits,
} from '../support/costs.ts';
import {
  liteLlmMonth,
  liteLlmSetups,
  usedShare,
  wholeMonth,
  writesOnDemandMonth,
  writesProvisionedMonth,
} from './month-costs.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const [page, deploying] = ['README.md', 'infra/cdk/guides/costs.md'].map(read) as [string, string];

/** Returns the cells of the row that begins with a name, without bold type. */
function row(text: string, name: string): string[] {
  const line = text.split('\n').find((candidate) => candidate.replaceAll('*', '').startsWith(`| ${name} `)) ?? '';
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.replaceAll('*', '').trim());
}
const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const usd = (value: number): string => value.toFixed(2);
const tokens = 500;

describe('the price of a million calls', () => {
  const kinds = [
    { ...usualCall, seconds: 2 },
    { ...usualCall, seconds: 10 },
    { ...usualCall, seconds: 10, answerBytes: tokens * streamBytesPerToken },
  ].map(callCosts);

  it('is the arithmetic of the page, row by row, and sums up', () => {
    for (const part of Object.keys(kinds[0] ?? {}) as (keyof ReturnType<typeof callCosts>)[]) {
      expect([part, ...row(deploying, part).slice(0, 3)]).toEqual([part, ...kinds.map((costs) => usd(costs[part]))]);
    }
    expect(row(deploying, 'sum').slice(0, 3)).toEqual(kinds.map((costs) => usd(sumOf(costs))));
  });

  it('is less for a key without limits, by what the page says', () => {
    const [limitedUnits, open] = [writeUnitsPerCall, writeUnitsWithoutLimits].map((units) =>
      usd(units * usdPrices.perMillionWriteUnits),
    );
    expect(deploying).toContain(`writes ${writeUnitsWithoutLimits} units, $${open} in place of $${limitedUnits}`);
    expect(deploying).toContain(`in place of written, $${usd(usdPrices.perMillionReadUnits)}.`);
  });
});

describe('the price of a month', () => {
  /** Counts the parts of a stage's templates that are billed without a call. */
  const partsOf = (stage: string, overrides = {}) => {
    const { api, data } = synthesizeStage(stage, overrides);
    const count = (type: string) => [api, data].flatMap((template) => resourcesOf(template, type)).length;
    const alarms = resourcesOf(api, 'AWS::CloudWatch::Alarm').map(({ id, Properties }) => {
      const metrics = (Properties.Metrics ?? [{ MetricStat: {} }]) as readonly { readonly MetricStat?: object }[];
      return { id, read: metrics.filter(({ MetricStat }) => MetricStat !== undefined).length };
    });
    const sum = (rows: typeof alarms) => rows.reduce((total, { read: one }) => total + one, 0);
    return {
      keys: count('AWS::KMS::Key'),
      secrets: count('AWS::SecretsManager::Secret'),
      alarmMetrics: sum(alarms),
      distributionWatches: count('AWS::Events::Rule'),
    };
  };
  const stages = Object.fromEntries(Object.keys(stageSettings).map((stage) => [stage, partsOf(stage)]));
  const { dev, staging, prod } = stages as Record<'dev' | 'staging' | 'prod', ReturnType<typeof partsOf>>;
  const series = [...requestMetricSeries, ...attemptMetricSeries];
  /** Returns how many metrics of the log lines have a dimension, and the metric that a filter derives from them. */
  const metricsBy = (name?: string) =>
    series.flatMap(({ dimensions, metrics }) => ((dimensions as readonly string[])[1] === name ? metrics : [])).length;

  it('is that of what the templates hold, for each kind of stage, with a total', () => {
    expect(staging).toEqual(prod);
    const [idleDev, idleProd] = [idleCosts(dev), idleCosts(prod)];
    const both = (pick: (costs: typeof idleDev) => number) => [usd(pick(idleDev)), usd(pick(idleProd))];
    expect(row(deploying, 'key that wraps BYOK keys').slice(0, 2)).toEqual(both(({ key }) => key));
    expect(row(deploying, 'secrets').slice(0, 2)).toEqual(both(({ secrets }) => secrets));
    expect(row(deploying, 'alarms').slice(0, 2)).toEqual(both(({ alarms }) => alarms));
    expect(row(deploying, 'watch of the distribution').slice(0, 2)).toEqual(both(({ watch }) => watch));
    expect(row(deploying, 'without a call').slice(0, 2)).toEqual(both(sumOf));
    const [ofStage, ofProvider, ofClass] = [metricsBy() + 1, metricsBy('provider'), metricsBy('outcome_class')];
    const metrics = ofStage + 3 * ofProvider + 3 * ofClass;
    expect(row(deploying, 'metrics of calls').slice(0, 2)).toEqual([
      usd(metricCosts(metrics)),
      usd(metricCosts(metrics)),
    ]);
    expect(row(deploying, 'with calls in every hour of a month').slice(0, 2)).toEqual(
      both((costs) => sumOf(costs) + metricCosts(metrics)),
    );
    expect(row(deploying, 'metrics of calls')[2]).toContain(`${metrics} × $${usd(usdPrices.perCustomMetricMonth)}`);
    expect(deploying).toContain(`${ofStage} of the stage, ${ofProvider} for each provider`);
    expect([ofClass, deploying.includes(`three classes make ${metrics}`)]).toEqual([1, true]);
  });

  it('of what is easily overlooked is named as it is computed', () => {
    for (const text of [
      `${usd(smallCosts.recordsOfAMillionCallsAMonth)} a month for records`,
      `${usd(smallCosts.configurationReadsOfTenProcesses)} a month for configuration`,
      `${usd(smallCosts.aMillionStarts)} per million starts`,
      `${usd(smallCosts.tracesOfAMillionCalls)} per million calls for traces`,
    ])
      expect(deploying).toContain(`$${text}`);
  });

  it('of the console is that of the alarms that it adds', () => {
    const more = partsOf('prod', { console: true }).alarmMetrics - prod.alarmMetrics;
    expect(deploying).toContain(`the alarms of the console cost $${usd(more * usdPrices.perAlarmMetricMonth)} a month`);
  });

  it('of warm throughput is that of the write units above what every table has', () => {
    const raised = resourcesOf(synthesizeStage('prod').data, 'AWS::DynamoDB::GlobalTable').flatMap(({ Properties }) => {
      const { WarmThroughput: warm } = Properties as { WarmThroughput?: { WriteUnitsPerSecond: number } };
      return warm === undefined ? [] : [warm.WriteUnitsPerSecond - 4_000];
    });
    const units = raised.reduce((sum, one) => sum + one, 0).toLocaleString('en-US');
    expect(deploying).toContain(
      `\`prod\` raises ${raised.length} tables\n  to 16,000, so it pays for ${units} write units`,
    );
  });

  it('is the same statement on the first page and in the description of the package', () => {
    const [idleDev, idleProd] = [dev, prod].map((parts) => usd(sumOf(idleCosts(parts))));
    expect(page).toContain(`$${idleDev} a month (\`dev\`) or $${idleProd} (\`prod\``);
    const { description } = JSON.parse(read('package.json')) as { description: string };
    expect(description).toContain(`costs $${idleDev} to $${idleProd} a month`);
  });
});

describe('the price of a month beside LiteLLM', () => {
  const month = read('infra/cdk/guides/month.md');
  const kind = { seconds: 10, answerBytes: jsonAnswerBytes, promptBytes, cpuMs: taskCpuMs.json };

  it('is the arithmetic of the page at each load', () => {
    for (const [callsPerSecond, setup] of Object.entries(liteLlmSetups).map(
      ([rate, one]) => [Number(rate), one] as const,
    )) {
      const load = { ...kind, callsPerSecond };
      const figures = [...Object.values(wholeMonth(load)), liteLlmMonth(load, setup)].map(whole);
      const line = month.split('\n').find((one) => one.split('|')[1]?.trim() === whole(callsPerSecond)) ?? '';
      expect(
        line
          .split('|')
          .slice(2, -1)
          .map((cell) => cell.trim()),
      ).toEqual(figures);
    }
    const busy = { ...kind, callsPerSecond: 1_000 };
    const { 'tasks, on demand': onDemand, 'tasks, provisioned': provisioned } = wholeMonth(busy);
    expect(month).toContain(
      `of the $${whole(onDemand)} writes are $${whole(writesOnDemandMonth(busy))}, of the $${whole(provisioned)} $${whole(writesProvisionedMonth(busy))}.`,
    );
    expect(month).toContain(`capacity of which ${usedShare * 100} % is used`);
    expect(month).toContain(`${writeUnitsWithoutLimits} of ${writeUnitsPerCall}.`);
  });

  it('assumes the use of capacity at which auto scaling holds a table', () => {
    const [table] = resourcesOf(
      synthesizeStage('prod', { tableCapacity: { min: 1, max: 2 } }).data,
      'AWS::DynamoDB::GlobalTable',
    );
    expect(JSON.stringify(table?.Properties)).toContain(`"TargetValue":${usedShare * 100}`);
  });
});

describe('the price of functions and of tasks', () => {
  const guide = read('infra/cdk/guides/many-calls.md');
  const json = { answerBytes: jsonAnswerBytes, promptBytes, cpuMs: taskCpuMs.json };
  const kinds = {
    'JSON, 2 s': { ...json, seconds: 2 },
    'JSON, 10 s': { ...json, seconds: 10 },
    'stream, 10 s': {
      ...{ ...json, seconds: 10, answerBytes: tokens * streamBytesPerToken },
      cpuMs: taskCpuMs.json + tokens * taskCpuMs.perStreamedToken,
    },
  };

  it('is the arithmetic of the page at every load, with the load from which on tasks are cheaper', () => {
    const [, section = ''] = guide.split('## Which is cheaper');
    const rows = section.split('\n').flatMap((line) => {
      const [, rate = '', kind = '', ...cells] = line.split('|').map((cell) => cell.trim());
      return /^[\d,]+$/.test(rate) ? [[rate, kind, ...cells.slice(0, 3)]] : [];
    });
    const expected = [1, 10, 100, 1_000].flatMap((callsPerSecond) =>
      Object.entries(kinds).map(([kind, one]) => {
        const load = { ...one, callsPerSecond };
        const figures = [functionsMonth(load), tasksMonth(load), tasksFor(load)];
        return [callsPerSecond.toLocaleString('en-US'), kind, ...figures.map(whole)];
      }),
    );
    expect(rows).toEqual(expected);
    const [short, long, stream] = Object.values(kinds).map((kind) => usd(breakEven(kind)));
    expect(guide).toContain(`cheaper from ${long} calls a second of 10 s on, and from ${short} a second of 2 s**`);
    expect(guide).toContain(`(streams of 10 s: ${stream})`);
    // The sums themselves give the load at which the two cost the same.
    for (const kind of Object.values(kinds)) {
      const load = { ...kind, callsPerSecond: breakEven(kind) };
      expect(tasksMonth(load)).toBeCloseTo(functionsMonth(load), 6);
    }
  });
});
