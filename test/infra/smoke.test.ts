import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import type { DeployedStage, SmokeOptions } from '../../infra/verify/smoke/checks.ts';
import { openDeployedStage } from '../../infra/verify/smoke/deployed-stage.ts';
import { describeArrival } from '../../infra/verify/smoke/smoke-client.ts';
import { readSmokeArgs, runSmoke } from '../../infra/verify/smoke.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { modelsFor, prompt } from '../support/function-calls.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';

describe('the smoke test', () => {
  let simulator: Simulator;
  let gateway: Awaited<ReturnType<typeof startLocalGateway>>;
  let options: SmokeOptions;
  beforeAll(async () => {
    // At this pace a stream of fifty parts takes a fifth of a second: twice the minimum that distinguishes it from a
    // buffered stream.
    simulator = await startTestSimulator({ paceMs: 5 });
    const config = join(temporaryFolder(), 'gateway.yaml');
    const apiKey = newKey();
    const parts = { models: modelsFor(['echo']), workspace: { functions: [prompt('label')] } };
    writeFileSync(config, gatewayFileText(parts, simulator.urlOf, apiKey));
    gateway = await startLocalGateway({ port: 0, config, data: undefined, dynamodb: undefined }, () => {});
    const storedFunction = { id: 'label', input: 'The printer is on fire' };
    options = { baseUrl: gateway.url, apiKey, model: 'acme/echo', storedFunction };
  });
  afterAll(async () => {
    await gateway?.stop();
    await simulator.stop();
  });

  /** The text of a stream, which is repeated in tests that do not look at the stream itself. */
  let streamText: string | undefined;
  const streamOnce: typeof fetch = async (url, init) => {
    streamText ??= await (await fetch(url, init)).text();
    return new Response(streamText);
  };
  /** The refusal of the largest body, which is repeated in the same way. */
  let refusal: readonly [text: string, init: ResponseInit] | undefined;
  const largeBodyOnce: typeof fetch = async (url, init) => {
    if (refusal === undefined) {
      const answer = await fetch(url, init);
      refusal = [await answer.text(), { status: answer.status }];
    }
    return new Response(...refusal);
  };
  const runTimed = async (changes: Partial<SmokeOptions> = {}) => {
    const lines: string[] = [];
    const passed = await runSmoke({ ...options, ...changes }, (line) => void lines.push(line));
    return { passed, lines };
  };
  const run = ({ send = fetch, ...changes }: Partial<SmokeOptions> = {}) => {
    const senderOf = (body: string) => {
      if (body.length > 1_000_000) return largeBodyOnce;
      return body.includes('"stream":true') ? streamOnce : send;
    };
    return runTimed({
      ...changes,
      streamsArrive: false,
      send: (url, init) => senderOf(String(init?.body))(url, init),
    });
  };

  it('passes against the local gateway, with one line per check', async () => {
    const { passed, lines } = await runTimed();
    expect(lines.map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual([
      'ok list',
      'ok json',
      'ok stream',
      'ok body',
      'ok function',
      'ok replay',
      'ok account',
      'ok direct',
      'ok metrics',
      'ok alarm',
      'ok cost',
    ]);
    expect(passed).toBe(true);
    expect(lines.join('\n')).not.toContain(options.apiKey);
    expect(lines[2]).toMatch(/first output after \d+ ms, the last after \d+ ms, in \d+ parts/);
    expect(lines[3]).toMatch(/41\d{5} bytes of text and 31\d{5} of quotes are read/);
    for (const line of lines.slice(7, 10)) expect(line).toContain('left out: only a deployed stage has it');
  });

  /** Buffers the whole body, as CloudFront does when it compresses, and as some proxies do. */
  const slowFetch: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers });
  };

  it('fails a way on which streams are held back, unless that is known', async () => {
    const { passed, lines } = await runTimed({ send: slowFetch });
    expect([passed, lines.length]).toEqual([false, 3]);
    expect(lines[2]).toMatch(
      /^FAILS .*does not arrive as it comes \(first output after (\d+) ms, the last after \1 ms/,
    );
    const known = await run();
    expect(known.passed).toBe(true);
    expect(known.lines[2]).toContain('its arrival is not measured');
  });

  it.each([
    [{ firstMs: 400, lastMs: 2_000, parts: 40 }, true],
    [{ firstMs: 1_960, lastMs: 2_000, parts: 40 }, false],
    [{ firstMs: 1_850, lastMs: 2_000, parts: 40 }, false],
    [{ firstMs: 10, lastMs: 2_000, parts: 2 }, false],
  ])('takes %j for a stream that arrives as it comes: %s', (arrival, arrives) => {
    const judge = () => describeArrival(arrival);
    if (arrives) expect(judge()).toContain('first output after 400 ms');
    else expect(judge).toThrow('does not arrive as it comes');
  });

  it('sends no body that Lambda would refuse: as JSON within an event each of them stays below 6 MB', async () => {
    const sizes: number[] = [];
    await runTimed({
      streamsArrive: false,
      send: (url, init) => {
        sizes.push(JSON.stringify({ body: String(init?.body ?? '') }).length);
        return fetch(url, init);
      },
    });
    const largest = sizes.toSorted((a, b) => a - b).slice(-2);
    expect(largest[0]).toBeGreaterThan(4_000_000);
    expect(largest[1]).toBeGreaterThan(6_200_000);
    expect(largest[1]).toBeLessThan(6_291_456 - 32_768);
  });

  it('fails a way that refuses a large body', async () => {
    const { lines } = await runTimed({
      streamsArrive: false,
      send: async (url, init) =>
        String(init?.body).length > 1_000_000 ? Response.json({ Message: null }, { status: 413 }) : fetch(url, init),
    });
    expect(lines.at(-1)).toMatch(/^FAILS +body .*of 41\d{5} bytes does not reach the gateway: 413/);
  });

  describe('of a deployed stage', () => {
    const secret = 'origin-secret';
    const requests: unknown[] = [];
    /**
     * Simulates a distribution in front of this gateway; the address `direct.test` requires the header that the
     * distribution adds.
     */
    const throughStage =
      (isRefused: boolean): typeof fetch =>
      (url, init) => {
        const headers = init?.headers as Record<string, string>;
        const isDirect = String(url).startsWith('https://direct.test');
        if (isDirect && isRefused && headers['x-gw-origin-secret'] !== secret) {
          return Promise.resolve(Response.json({ error: 'not_found' }, { status: 404 }));
        }
        return fetch(String(url).replace('https://direct.test/v1', gateway.url), init);
      };
    const deployed: DeployedStage = {
      directUrl: 'https://direct.test/v1',
      hasTasks: false,
      readOriginSecret: async () => secret,
      awaitMetrics: async (...question) => `${requests.push(question)}`,
      tryAlarm: async () => 'rang',
    };

    it('passes if the direct URL refuses others and streams to the distribution, and all requests are counted', async () => {
      const { passed, lines } = await runTimed({ deployed, send: throughStage(true) });
      expect(passed).toBe(true);
      expect(lines[7]).toMatch(/^ok +direct .*refused; as the distribution calls it: first output after \d+ ms/);
      expect(lines[9]).toContain('rang');
      // There is one call for each check, two for the replay and three for the account; calls that went to the function
      // directly do not count.
      expect(requests).toEqual([[11, expect.any(Number)]]);
      expect(lines.join('\n')).not.toContain(secret);
    });

    it('fails if the direct URL answers any caller, or its stream is held back', async () => {
      const open = await run({ deployed, send: throughStage(false) });
      expect(open.lines.at(-1)).toMatch(/^FAILS +direct .*does not refuse callers who go around the distribution: 200/);
      const send: typeof fetch = (url, init) =>
        String(url).startsWith('https://direct.test') && init?.method === 'POST'
          ? slowFetch(String(url).replace('https://direct.test/v1', gateway.url), init)
          : throughStage(true)(url, init);
      const heldRun = await runTimed({ deployed, send });
      expect(heldRun.lines.at(-1)).toMatch(/^FAILS +direct .*does not arrive as it comes/);
    });

    it('has nothing to go around if there is no distribution', async () => {
      const { passed, lines } = await run({ deployed: { ...deployed, directUrl: undefined } });
      expect(passed).toBe(true);
      expect(lines[7]).toContain('left out: clients use the URL of the function itself');
      const tasks = await run({ deployed: { ...deployed, directUrl: undefined, hasTasks: true } });
      expect([tasks.passed, tasks.lines[7]]).toEqual([true, expect.stringContaining('left out: tasks have no URL')]);
    });
  });

  it('says that it left out the function if none is named', async () => {
    const { passed, lines } = await run({ storedFunction: undefined });
    expect(passed).toBe(true);
    expect(lines[4]).toContain('left out: name one with --function');
  });

  it.each<[string, Partial<SmokeOptions>, string, number]>([
    ['a key that is refused', { apiKey: 'sk-gw-nothing' }, 'UNAUTHORIZED', 1],
    ['a model that is not listed', { model: 'demo/none' }, 'there is no model demo/none', 1],
    ['a function that does not exist', { storedFunction: { id: 'none', input: '' } }, 'function_not_found', 5],
  ])('stops at the first failure: %s', async (_case, changes, reason, lineCount) => {
    const { passed, lines } = await run(changes);
    expect(passed).toBe(false);
    expect(lines).toHaveLength(lineCount);
    expect(lines.at(-1)).toMatch(/^FAILS/);
    expect(lines.at(-1)).toContain(reason);
  });

  it('fails a gateway that answers twice in place of replaying, and one that forgets the cost', async () => {
    const without =
      (pattern: RegExp, header?: string): typeof fetch =>
      async (url, init) => {
        const response = await fetch(url, init);
        const headers = new Headers(response.headers);
        if (header !== undefined) headers.delete(header);
        return new Response((await response.text()).replaceAll(pattern, ''), { status: response.status, headers });
      };
    const twice = await run({ send: without(/nothing like this/g, 'idempotent-replayed') });
    expect(twice.lines.at(-1)).toContain('the second answer is not a replay');
    const free = await run({ send: without(/"cost":[\d.e-]+,/g) });
    expect(free.lines.at(-1)).toContain('the answer has no cost');
  });
});

describe('what the smoke test asks AWS', () => {
  const [cloudWatch, secrets] = [mockClient(CloudWatchClient), mockClient(SecretsManagerClient)];
  afterEach(() => {
    cloudWatch.reset();
    secrets.reset();
  });
  // Test files of one worker share the modules of the clients.
  afterAll(() => {
    cloudWatch.restore();
    secrets.restore();
  });
  const topic = 'arn:aws:sns:eu-west-1:123456789012:gw-prod-topic';
  const startMs = 1_800_000_030_000;
  const outputs = { DirectUrl: 'https://abc.lambda-url.example/', OriginSecretArn: 'arn:secret', AlarmTopicArn: topic };

  /** Returns a clock on which waits take no time; its time shows how long they were. */
  function skippingClock(): Clock {
    let nowMs = startMs;
    return {
      nowMs: () => nowMs,
      after(delayMs, callback) {
        nowMs += delayMs;
        setImmediate(callback);
        return () => {};
      },
    };
  }
  const open = (
    confirm: ((question: string) => Promise<boolean>) | undefined = async () => true,
    values: Readonly<Record<string, string>> = outputs,
  ) =>
    openDeployedStage({
      stage: 'prod',
      outputs: values,
      shell: { region: 'eu-west-1' },
      clock: skippingClock(),
      confirm,
    });
  const rang = () => cloudWatch.commandCalls(SetAlarmStateCommand).map(({ args: [{ input }] }) => input.StateValue);

  it('reads the direct URL and the origin secret from what the stack puts out', async () => {
    secrets.on(GetSecretValueCommand, { SecretId: 'arn:secret' }).resolves({ SecretString: 'value' });
    expect(open().directUrl).toBe('https://abc.lambda-url.example/v1');
    expect(await open().readOriginSecret()).toBe('value');
    expect(open().hasTasks).toBe(false);
    const { directUrl, hasTasks } = open(undefined, { BaseUrl: 'https://d1.cloudfront.net/v1', Compute: 'container' });
    expect([directUrl, hasTasks]).toEqual([undefined, true]);
  });

  it('waits for the metric of all requests since the minute of the first one', async () => {
    cloudWatch
      .on(GetMetricStatisticsCommand)
      .resolvesOnce({})
      .resolvesOnce({ Datapoints: [{ Sum: 9 }] })
      .resolves({ Datapoints: [{ Sum: 9 }, { Sum: 3 }] });
    expect(await open().awaitMetrics(12, startMs)).toBe('12 requests are counted');
    const [first] = cloudWatch.commandCalls(GetMetricStatisticsCommand);
    expect(cloudWatch.commandCalls(GetMetricStatisticsCommand)).toHaveLength(3);
    expect(first?.args[0].input).toMatchObject({
      Namespace: 'gw',
      MetricName: 'Requests',
      Dimensions: [{ Name: 'stage', Value: 'prod' }],
      StartTime: new Date(startMs - 30_000),
    });
  });

  it('gives up on metrics that do not come after five minutes', async () => {
    cloudWatch.on(GetMetricStatisticsCommand).resolves({ Datapoints: [{ Sum: 1 }] });
    await expect(open().awaitMetrics(12, startMs)).rejects.toThrow(
      'after 300 s CloudWatch has counted 1 of 12 requests',
    );
  });

  const oneAlarm = () =>
    cloudWatch
      .on(DescribeAlarmsCommand)
      .resolvesOnce({ MetricAlarms: [{ AlarmName: 'other', AlarmActions: ['arn:other'] }], NextToken: 'more' })
      .resolves({
        MetricAlarms: [
          { AlarmName: 'ringing', AlarmActions: [topic], StateValue: 'ALARM' },
          { AlarmName: 'quiet', AlarmActions: [topic], StateValue: 'OK' },
        ],
      });
  const history = (HistorySummary: string) => ({ AlarmHistoryItems: [{ HistorySummary }] });

  it('lets an alarm ring that does not ring already, sees the message to the topic, and ends the alarm', async () => {
    oneAlarm();
    cloudWatch
      .on(DescribeAlarmHistoryCommand)
      .resolvesOnce({})
      .resolves(history(`Successfully executed action ${topic}`));
    const questions: string[] = [];
    const message = await open(async (question) => questions.push(question) > 0).tryAlarm();
    expect(message).toBe('quiet notified gw-prod-topic');
    expect(questions).toEqual(['Let quiet ring, so that all subscribers of the topic get a message?']);
    expect(rang()).toEqual(['ALARM', 'OK']);
    const [historyCall] = cloudWatch.commandCalls(DescribeAlarmHistoryCommand);
    expect(historyCall?.args[0].input).toMatchObject({ AlarmName: 'quiet', HistoryItemType: 'Action' });
  });

  it.each([
    ['refuses', history(`Failed to execute action ${topic}. Received error: "not authorized"`), 'not authorized'],
    ['never gets', {}, 'after 60 s its history shows no message'],
  ])('fails if the topic %s the message, and ends the alarm', async (_case, answer, reason) => {
    oneAlarm();
    cloudWatch.on(DescribeAlarmHistoryCommand).resolves(answer);
    await expect(open().tryAlarm()).rejects.toThrow(reason);
    expect(rang()).toEqual(['ALARM', 'OK']);
  });

  it('lets no alarm ring that was not agreed to', async () => {
    oneAlarm();
    expect(await open(async () => false).tryAlarm()).toBe('left out: declined');
    const unattended = { stage: 'prod', outputs, shell: {}, clock: skippingClock(), confirm: undefined };
    expect(await openDeployedStage(unattended).tryAlarm()).toContain('--yes agrees to that');
    expect(await open(undefined, {}).tryAlarm()).toBe('left out: this stage has no alarms');
    expect(rang()).toEqual([]);
  });

  it('fails if no alarm of the stage notifies the topic', async () => {
    cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: [] });
    await expect(open().tryAlarm()).rejects.toThrow(`no alarm notifies ${topic}`);
  });

  it('says in its options whether an alarm may ring', () => {
    expect(readSmokeArgs(['--stage', 'dev'])).toMatchObject({ stage: 'dev', model: 'auto', yes: false });
    expect(readSmokeArgs(['--stage', 'dev', '--yes', '--model', 'a/b'])).toMatchObject({ yes: true, model: 'a/b' });
    expect(() => readSmokeArgs([])).toThrow('usage: GW_API_KEY=');
    expect(() => readSmokeArgs(['--stage', 'dev', '--url', 'x'])).toThrow('usage: GW_API_KEY=');
  });
});
