// GET /metrics: counts of calls in Prometheus' text format, of one process and of several.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { readOptions } from '../../infra/local/start-options.ts';
import { createCallMetrics, createMetricsText, type MetricValues } from '../../infra/metrics/index.ts';
import { createOperator } from '../../shared/configuration/administration/index.ts';
import { createOperatorStore } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { projectRoot, startGateway } from '../support/gateway-process.ts';
import { call as callRaw } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { startTestStore } from '../support/test-store.ts';

/** Values by name and labels, as the text has them. */
type Samples = ReadonlyMap<string, number>;

const samplesIn = (text: string): Samples =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );

const namesIn = (text: string): string[] => [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);

/** Returns the sum of all samples of a name. */
const sumOf = (samples: Samples, name: string): number =>
  [...samples].reduce((sum, [sample, value]) => (sample.startsWith(`${name}{`) ? sum + value : sum), 0);

/** Resolves when the calls are counted. A call is counted with its log line, which follows its settlement. */
async function untilCounted(address: string, calls: number): Promise<void> {
  const countedCalls = async () => sumOf(samplesIn(await (await fetch(address)).text()), 'gw_calls_total');
  while ((await countedCalls()) < calls) await sleep(systemClock, 20);
  expect(await countedCalls()).toBe(calls);
}

const key = newKey();
const laxKey = newKey();
const strictKey = newKey();
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.stop());

function writeFile(): string {
  const path = join(temporaryFolder(), 'gateway.yaml');
  const route = (upstream: string) => [{ provider: 'acme', upstream }];
  const models = { 'acme/echo': route('echo'), 'acme/limited': route('error-429:rate_limit_exceeded:600') };
  // Nothing listens at this address.
  const guardrails = ['pass', 'block'].map((on_failure) => ({
    ...{ id: on_failure, kind: 'http', url: 'http://127.0.0.1:9/', on_failure, on: ['input'] },
  }));
  const keys = [
    { name: 'lax', key: laxKey, guardrails: ['pass'] },
    { name: 'strict', key: strictKey, guardrails: ['block'] },
  ];
  const moreWorkspaces = [{ id: 'guarded', credit_usd: '1', keys }];
  writeFileSync(path, gatewayFileText({ models, guardrails, moreWorkspaces }, simulator.urlOf, key));
  return path;
}

async function call(url: string, model: string, more: object = {}, authorization = `Bearer ${key}`): Promise<number> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    // Each call has a connection of its own, because processes get connections in turn.
    headers: { authorization, connection: 'close' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello there' }], ...more }),
  });
  await response.text();
  return response.status;
}

describe('the metrics of a process', () => {
  let gateway: Awaited<ReturnType<typeof startLocalGateway>>;
  let ownPort = '';
  let operators: Record<'all' | 'one', string>;

  beforeAll(async () => {
    const data = join(temporaryFolder(), 'data');
    const lines: string[] = [];
    const start = { port: 0, metricsPort: 0, config: writeFile(), data, dynamodb: undefined };
    gateway = await startLocalGateway(start, (line) => lines.push(line));
    ownPort = lines.find((line) => line.startsWith('metrics '))?.slice('metrics '.length) ?? '';
    const { store, stop } = await startTestStore(data);
    const stores = { operators: createOperatorStore(store), clock: systemClock, randomness: systemRandomness };
    operators = {
      all: (await createOperator(stores, 'scraper', { role: 'viewer', workspaces: 'all' })).text,
      one: (await createOperator(stores, 'of-a-team', { role: 'owner', workspaces: ['team'] })).text,
    };
    await stop();
    expect(await call(gateway.url, 'acme/echo')).toBe(200);
    expect(await call(gateway.url, 'acme/echo', { stream: true })).toBe(200);
    expect(await call(gateway.url, 'acme/limited')).toBe(429);
    expect(await call(gateway.url, 'words of a client')).toBe(400);
    expect(await call(gateway.url, 'acme/echo', {}, 'Bearer sk-gw-of-nobody')).toBe(401);
    expect(await call(gateway.url, 'acme/echo', {}, `Bearer ${laxKey}`)).toBe(200);
    expect(await call(gateway.url, 'acme/echo', {}, `Bearer ${strictKey}`)).toBe(503);
    await untilCounted(ownPort, 7);
  });
  afterAll(() => gateway?.stop());

  const ask = (operator?: string, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL('/metrics', gateway.url), {
      ...(operator === undefined ? {} : { headers: { authorization: `Bearer ${operator}` } }),
      ...init,
    });

  it('count every answered call by outcome, code, provider and model, its tokens, cost and times, and nothing else', async () => {
    const response = await ask(operators.all);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await response.text();
    const samples = samplesIn(text);
    const calls = [...samples].filter(([sample]) => sample.startsWith('gw_calls_total{'));
    const servedLabels = 'provider="acme",model="acme/echo"';
    expect(Object.fromEntries(calls)).toEqual({
      [`gw_calls_total{outcome="ok",code="",${servedLabels}}`]: 3,
      'gw_calls_total{outcome="failed",code="RATE_LIMITER_UNAVAILABLE",provider="",model="acme/echo"}': 1,
      'gw_calls_total{outcome="failed",code="rate_limited",provider="",model="acme/limited"}': 1,
      'gw_calls_total{outcome="refused",code="unknown_model",provider="",model=""}': 1,
      'gw_calls_total{outcome="refused",code="UNAUTHORIZED",provider="",model=""}': 1,
    });
    // The guardrail that blocks on failure is no failed control, because its client got a 503.
    expect([...samples].filter(([sample]) => sample.startsWith('gw_failed_controls_total'))).toEqual([
      ['gw_failed_controls_total{control="guardrail"}', 1],
    ]);
    expect(samples.get(`gw_call_duration_seconds_count{${servedLabels}}`)).toBe(3);
    expect(samples.get(`gw_first_output_seconds_count{${servedLabels}}`)).toBeGreaterThan(0);
    expect(samples.get(`gw_tokens_total{kind="input",${servedLabels}}`)).toBeGreaterThan(0);
    expect(samples.get(`gw_tokens_total{kind="output",${servedLabels}}`)).toBeGreaterThan(0);
    expect(samples.get(`gw_cost_usd_total{payer="workspace",${servedLabels}}`)).toBeGreaterThan(0);
    expect(sumOf(samples, 'gw_provider_failures_total')).toBeGreaterThan(0);
    expect([...samples].filter(([sample]) => sample.startsWith('gw_provider_cooling'))).toEqual([
      ['gw_provider_cooling{scope="workspace",provider="acme",model="acme/limited"}', 1],
    ]);
    expect(samples.get('gw_calls_in_flight')).toBe(0);
    expect(samples.get('gw_kept_bytes')).toBeGreaterThanOrEqual(0);
    expect(text).not.toContain('words of a client');
    const byWorkspace = [...samples].filter(([sample]) => sample.startsWith('gw_workspace_'));
    expect(Object.fromEntries(byWorkspace)).toEqual({
      'gw_workspace_calls_total{outcome="ok",workspace="team"}': 2,
      'gw_workspace_calls_total{outcome="failed",workspace="team"}': 1,
      'gw_workspace_calls_total{outcome="refused",workspace="team"}': 1,
      'gw_workspace_calls_total{outcome="ok",workspace="guarded"}': 1,
      'gw_workspace_calls_total{outcome="failed",workspace="guarded"}': 1,
      'gw_workspace_cost_usd_total{payer="workspace",workspace="team"}': expect.any(Number),
      'gw_workspace_cost_usd_total{payer="workspace",workspace="guarded"}': expect.any(Number),
    });
    expect(sumOf(samples, 'gw_workspace_cost_usd_total')).toBeCloseTo(
      samples.get(`gw_cost_usd_total{payer="workspace",${servedLabels}}`) ?? NaN,
      9,
    );
  });

  it('are for operators that may read every workspace', async () => {
    expect((await ask()).status).toBe(401);
    expect((await ask(key)).status).toBe(401);
    const forbidden = await ask(operators.one);
    expect([forbidden.status, await forbidden.json()]).toMatchObject([403, { error: 'forbidden' }]);
    expect((await ask(operators.all, { method: 'POST' })).status).toBe(405);
  });

  it('are on a port of their own without a key, to callers that name this machine, and nothing else is', async () => {
    const response = await fetch(ownPort);
    expect(response.status).toBe(200);
    expect(sumOf(samplesIn(await response.text()), 'gw_calls_total')).toBe(7);
    for (const path of ['/', '/health', '/v1/models', '/v1/manage/keys', '/console', '/metrics/x']) {
      expect((await fetch(new URL(path, ownPort))).status).toBe(404);
    }
    expect((await fetch(ownPort, { method: 'POST' })).status).toBe(404);
    const { port } = new URL(ownPort);
    const foreign = await callRaw(Number(port), { path: '/metrics', headers: { host: 'rebound.example' } });
    expect([foreign.status, foreign.body]).toEqual([400, expect.not.stringContaining('gw_')]);
  });

  it('have every name and label that a query of the dashboard asks for, and none that no panel shows', async () => {
    const { panels } = JSON.parse(readFileSync(join(projectRoot, 'infra/metrics/grafana/gateway.json'), 'utf8')) as {
      panels: { title: string; gridPos: { x: number; y: number }; targets: { expr: string; legendFormat: string }[] }[];
    };
    const text = await (await fetch(ownPort)).text();
    const ofScraper = ['job', 'instance'];
    const labelsOf = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} `, 'gm'))].flatMap(([, labels = '']) =>
        [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label),
      );
    const metricNames = new Set<string>();
    for (const { title, targets } of panels) {
      expect([title, targets.length > 0]).toEqual([title, true]);
      for (const { expr, legendFormat } of targets) {
        const [, name = ''] = /\b(gw_\w+)/.exec(expr) ?? [];
        metricNames.add(name.replace(/_bucket$/, ''));
        const words = [
          ...(/\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */) ?? []),
          ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
          ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
        ];
        const known = new Set([...ofScraper, ...labelsOf(name)]);
        expect([title, words.filter((word) => !known.has(word))]).toEqual([title, []]);
      }
    }
    expect(metricNames).toEqual(new Set(namesIn(text)));
    const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(panels.length);
  });
});

describe('the metrics of several processes', () => {
  it('are one sum, whichever is asked, and fall with no process that ends', async () => {
    const gateway = await startGateway(
      `--processes 2 --log off --metrics-port 0 --config ${writeFile()}`,
      temporaryFolder(),
    );
    try {
      while (!gateway.out().includes('command line: ')) await sleep(systemClock, 20);
      const [, ownPort = ''] = /^metrics (\S+)$/m.exec(gateway.out()) ?? [];
      const [, operator = ''] = /#key=(\S+)$/m.exec(gateway.out()) ?? [];
      for (let index = 0; index < 6; index += 1) expect(await call(gateway.url, 'acme/echo')).toBe(200);
      await untilCounted(ownPort, 6);
      const headers = { authorization: `Bearer ${operator}`, connection: 'close' };
      for (let index = 0; index < 2; index += 1) {
        const response = await fetch(new URL('/metrics', gateway.url), { headers });
        expect(response.status).toBe(200);
        expect(sumOf(samplesIn(await response.text()), 'gw_calls_total')).toBe(6);
      }
      const [killed = 0] = spawnSync('pgrep', ['-P', String(gateway.process.pid)], { encoding: 'utf8' })
        .stdout.split('\n')
        .map(Number);
      expect(killed).toBeGreaterThan(0);
      process.kill(killed, 'SIGKILL');
      while (!gateway.out().includes('a process has ended (SIGKILL)')) await sleep(systemClock, 20);
      await untilCounted(ownPort, 6);
      for (let index = 0; index < 4; index += 1) expect(await call(gateway.url, 'acme/echo')).toBe(200);
      await untilCounted(ownPort, 10);
    } finally {
      await gateway.stop();
    }
  });
});

describe('the metrics of many workspaces', () => {
  /** Returns the counts of a process in which each of these workspaces made a call. */
  async function countsOf(workspaces: readonly string[]): Promise<MetricValues> {
    const metrics = createCallMetrics();
    const log = metrics.counted({ info() {}, error() {} });
    for (const workspace_id of workspaces) {
      log.info({
        ...{ event: 'request', method: 'POST', route: '/v1/chat/completions', outcome: 'ok', workspace_id },
        ...{ 'gen_ai.provider.name': 'acme', 'gen_ai.response.model': 'acme/echo', cost_usd: '0.5' },
      });
    }
    return metrics.read();
  }
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_one, at) => `w${from + at}`);
  const callsBy = (text: string) =>
    new Map(
      [...samplesIn(text)].flatMap(([sample, value]) => {
        const [, workspace] = /^gw_workspace_calls_total\{outcome="ok",workspace="([^"]*)"\}/.exec(sample) ?? [];
        return workspace === undefined ? [] : [[workspace, value] as const];
      }),
    );

  it('are of the first 200 of the sum over processes, of all others as one, and no series falls', async () => {
    const textOf = createMetricsText();
    const first = await textOf([await countsOf(names(0, 150)), await countsOf(names(100, 250))]);
    const calls = callsBy(first);
    expect([...calls.keys()]).toEqual([...names(0, 200), '(other)']);
    expect([calls.get('w0'), calls.get('w120'), calls.get('(other)')]).toEqual([1, 2, 50]);
    const cost = samplesIn(first).get('gw_workspace_cost_usd_total{payer="workspace",workspace="(other)"}');
    expect(cost).toBe(25);
    // The process that counted the first workspaces has ended, and others come first.
    const later = callsBy(await textOf([await countsOf(names(200, 300)), await countsOf(names(0, 250))]));
    expect(new Set(later.keys())).toEqual(new Set(calls.keys()));
    expect([later.get('w0'), later.get('(other)')]).toEqual([1, 150]);
    expect(samplesIn(await textOf([])).size).toBe(0);
  });
});

describe('the options of metrics', () => {
  it.each([
    ['--metrics-port 70000', '--metrics-port takes 0 to 65535'],
    ['--metrics-port x', '--metrics-port takes 0 to 65535'],
    ['--metrics-host 0.0.0.0', '--metrics-host is the address of a port: use it with --metrics-port N'],
  ])('%s is refused in one line', (line, message) => {
    expect(() => readOptions(line.split(' '))).toThrow(message);
  });
});
