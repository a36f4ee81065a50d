// The metrics that a request's log line declares: each combination of metric and dimensions is billed by the month.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { logLineBytes, streamBytesPerToken } from '../../infra/bench/costs.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';

interface Usage {
  readonly usage: { readonly completion_tokens: number };
}

interface Line {
  readonly outcome: string;
  readonly _aws: {
    readonly CloudWatchMetrics: ReadonlyArray<{
      readonly Namespace: string;
      readonly Dimensions: ReadonlyArray<readonly string[]>;
      readonly Metrics: ReadonlyArray<{ readonly Name: string; readonly Unit: string }>;
    }>;
  };
  readonly [member: string]: unknown;
}

/** Metrics times sets of dimensions. */
const declaredMax = 12;

describe('the log line of a request', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'acme/failing': [{ provider: 'acme', upstream: 'error-500' }],
      },
      providers: { acme: {} },
    });
  });
  afterAll(() => harness?.stop());

  /** The line appears after the answer: the next one that was not there before. */
  const lineOf = async (body: object, headers?: Record<string, string>): Promise<Line> => {
    const before = harness.logLines.length;
    const response = await harness.post(body, headers);
    const text = await response.text();
    if (text.includes('data: ')) expect(dataLines(text).at(-1)).toBe('[DONE]');
    const id = response.headers.get('x-request-id');
    const isLine = (line: string) => line.includes('"event":"request"') && line.includes(`"correlation_id":"${id}"`);
    for (let round = 0; round < 100 && !harness.logLines.slice(before).some(isLine); round += 1) {
      await (await harness.get('/models')).text();
    }
    return JSON.parse(harness.logLines.slice(before).find(isLine) ?? '') as Line;
  };
  /** `stage+provider: Requests Errors …` */
  const declared = ({ _aws }: Line): string[] =>
    _aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
      Dimensions.map((by) => `${by.join('+')}: ${Metrics.map(({ Name }) => Name).join(' ')}`),
    );
  const countDeclared = (line: Line) =>
    declared(line)
      .join(' ')
      .split(' ')
      .filter((word) => !word.endsWith(':')).length;

  it('of every call that waited for the start of its process says so and declares no time of the gateway', async () => {
    const calls = [hello('acme/echo'), hello('acme/echo', { stream: true })];
    for (const line of await Promise.all(calls.map((body) => lineOf(body)))) {
      expect(line).toMatchObject({ cold_start: true, outcome: 'ok', gateway_ms: expect.any(Number) });
      expect(line).not.toHaveProperty('GatewayTime');
      expect(declared(line)[0]).toMatch(/^stage: Requests Errors TotalTime( TimeToFirstOutput)? InputTokens/);
      expect(countDeclared(line)).toBeLessThanOrEqual(declaredMax);
    }
    expect(await lineOf(hello('acme/echo'))).toMatchObject({ cold_start: false, GatewayTime: expect.any(Number) });
  });

  it('declares everything by stage, two metrics by provider and one by outcome: twelve at most', async () => {
    const line = await lineOf(hello('acme/echo', { stream: true }));
    expect(declared(line)).toEqual([
      'stage: Requests Errors TotalTime GatewayTime TimeToFirstOutput InputTokens OutputTokens CostMicroUsd',
      'stage+provider: Requests CostMicroUsd',
      'stage+outcome_class: Requests',
    ]);
    expect(countDeclared(line)).toBeLessThanOrEqual(declaredMax);
    expect(line).toMatchObject({ Requests: 1, Errors: 0, provider: 'acme', outcome: 'ok', outcome_class: 'ok' });
    for (const { Namespace, Metrics } of line._aws.CloudWatchMetrics) {
      expect(Namespace).toBe('gw');
      for (const { Name } of Metrics) expect(typeof line[Name]).toBe('number');
    }
  });

  it('declares no metric without a value and no provider where none was called', async () => {
    const line = await lineOf(hello('acme/unknown'));
    expect(declared(line)).toEqual(['stage: Requests Errors TotalTime', 'stage+outcome_class: Requests']);
    expect(line).not.toHaveProperty('provider');
  });

  it('and a streamed token are as long as the costs of the README count them, to a tenth', async () => {
    const text = await (await harness.post(hello('acme/echo', { stream: true, usage: { include: true } }))).text();
    const { completion_tokens: tokens } = (JSON.parse(dataLines(text).at(-2) ?? '') as Usage).usage;
    expect(Math.abs(Buffer.byteLength(text) / tokens / streamBytesPerToken - 1)).toBeLessThan(0.1);
    const { length } = JSON.stringify(await lineOf(hello('acme/echo', { stream: true })));
    expect(Math.abs(length / logLineBytes - 1)).toBeLessThan(0.1);
  });

  it('counts an error for every answer that a client takes for one, as the alarm on errors of the URLs needs', async () => {
    const method = await harness.get('/chat/completions');
    const id = method.headers.get('x-request-id');
    const lineFor = () => harness.logLines.find((line) => line.includes(`"correlation_id":"${id}"`));
    for (let round = 0; round < 100 && lineFor() === undefined; round += 1) await harness.get('/models');
    expect([method.status, JSON.parse(String(lineFor())).Errors]).toEqual([405, 1]);
  });

  it('counts refusals that the client caused together, and failures of ours by their code', async () => {
    const unknown = await lineOf(hello('acme/unknown'));
    expect(unknown).toMatchObject({ outcome: 'unknown_model', outcome_class: 'client_error' });
    const refused = await lineOf(hello('acme/echo'), { authorization: 'Bearer sk-gw-nothing' });
    expect(refused).toMatchObject({ outcome: 'UNAUTHORIZED', outcome_class: 'client_error' });
    const failed = await lineOf(hello('acme/failing'));
    expect(failed).toMatchObject({ outcome: 'no_available_provider', outcome_class: 'no_available_provider' });
  });
});
