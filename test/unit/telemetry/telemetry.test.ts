// How spans wait and are sent, and how the environment sets their destination.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { wellKnownName } from '../../../functions/gateway/settlement/attempt-spans.ts';
import { createExporter } from '../../../shared/composition/telemetry-exporter.ts';
import { readTelemetryEnvironment } from '../../../shared/foundation/environment/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { createSpanBatches, type Span, type SpanBatches } from '../../../shared/foundation/telemetry/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { type Collector, startCollector } from '../../support/collector.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const span = (name: string): Span => ({
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: undefined,
  name,
  kind: 'server',
  startedAtMs: 1_800_000_000_123,
  endedAtMs: 1_800_000_000_456,
  attributes: { whole: 7n, half: 0.5, round: 1, is: true, words: ['a', 'b'], absent: undefined },
  isError: false,
});
const spans = (count: number, from = 0) => Array.from({ length: count }, (_, at) => span(`s${from + at}`));

describe('spans that wait', () => {
  function start(answer: (batch: readonly Span[], signal: AbortSignal) => Promise<{ rejected: number }>) {
    const clock: ManualClock = manualClock();
    const lines: string[] = [];
    const sentBatches: (readonly Span[])[] = [];
    const log = createLog({ clock, write: (line) => void lines.push(line) });
    const send = async (batch: readonly Span[], signal: AbortSignal) => {
      sentBatches.push(batch);
      return answer(batch, signal);
    };
    return { clock, lines, sentBatches, batches: createSpanBatches({ clock, log, send }) };
  }
  const takes = async () => ({ rejected: 0 });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  const names = (batch: readonly Span[] | undefined) => batch?.map(({ name }) => name);

  it('are sent five seconds after the first of them, together', async () => {
    const { clock, sentBatches, batches } = start(takes);
    batches.add(spans(2));
    clock.advance(4_999);
    batches.add(spans(1, 2));
    expect(sentBatches).toEqual([]);
    clock.advance(1);
    await settle();
    expect(sentBatches.map(names)).toEqual([['s0', 's1', 's2']]);
    clock.advance(60_000);
    await settle();
    expect(sentBatches).toHaveLength(1);
  });

  it('are sent at once if there are 512 of them, never more in one export; the rest waits for others', async () => {
    const { clock, sentBatches, batches } = start(takes);
    const sizes = () => sentBatches.map(({ length }) => length);
    batches.add(spans(511));
    await settle();
    expect(sentBatches).toEqual([]);
    batches.add(spans(600, 511));
    await settle();
    expect(sizes()).toEqual([512, 512]);
    clock.advance(5_000);
    await settle();
    expect(sizes()).toEqual([512, 512, 87]);
  });

  it('are 4,096 at most: the oldest are dropped, and counted in one line a minute', async () => {
    const { clock, lines, sentBatches, batches } = start((_batch, signal) => untilGone(signal));
    batches.add(spans(512));
    // The first spans are being sent to a collector that hangs.
    batches.add(spans(4_096, 512));
    batches.add(spans(3, 4_608));
    expect(lines.map(messageOf)).toEqual(['3 spans were dropped: no more than 4096 wait']);
    batches.add(spans(2, 4_611));
    clock.advance(2_000);
    await settle();
    expect(lines).toHaveLength(1);
    clock.advance(58_000);
    await settle();
    // The line counts the two spans, the batch that hung, and others that hung since then.
    expect(lines).toHaveLength(2);
    expect(messageOf(lines[1])).toMatch(/^\d{4} spans were dropped: the collector did not answer in time$/);
    expect(sentBatches[1]?.[0]?.name).toBe('s517');
  });

  it('are not sent for a while after a failure, each time for longer, up to a minute; a success ends that', async () => {
    let isUp = false;
    const { clock, sentBatches, batches } = start(async () => {
      if (!isUp) throw new Error('down');
      return { rejected: 0 };
    });
    const waits: number[] = [];
    batches.add(spans(1));
    clock.advance(5_000);
    await settle();
    for (let failure = 1; failure <= 6; failure += 1) {
      const { length } = sentBatches;
      const startedAtMs = clock.nowMs();
      batches.add(spans(1));
      if (failure === 6) isUp = true;
      while (sentBatches.length === length) {
        clock.advance(1_000);
        await batches.flush();
        await settle();
      }
      waits.push((clock.nowMs() - startedAtMs) / 1_000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    batches.add(spans(1));
    await batches.flush();
    expect(sentBatches).toHaveLength(8);
  });

  it('are sent a last time when the process stops, also during a pause, and nothing after that', async () => {
    let isUp = false;
    const { clock, sentBatches, batches } = start(async () => {
      if (!isUp) throw new Error('down');
      return { rejected: 0 };
    });
    batches.add(spans(1));
    await batches.flush();
    batches.add(spans(2, 1));
    isUp = true;
    await batches.close();
    expect(sentBatches.map(names)).toEqual([['s0'], ['s1', 's2']]);
    clock.advance(600_000);
    await settle();
    expect(sentBatches).toHaveLength(2);
  });

  it.each<[what: string, limitMs: number, end: (batches: SpanBatches) => Promise<void>]>([
    ['a process that sleeps', 2_000, (batches) => batches.flush()],
    ['one that has less time', 700, (batches) => batches.flush(700)],
    ['a stop', 2_000, (batches) => batches.close()],
  ])('hold up %s for %i ms at most, whatever hangs', async (_what, limitMs, end) => {
    const { clock, lines, batches } = start(() => new Promise(() => {}));
    batches.add(spans(1));
    let isOver = false;
    const ending = end(batches).then(() => {
      isOver = true;
    });
    clock.advance(limitMs - 1);
    await settle();
    expect(isOver).toBe(false);
    clock.advance(1);
    await ending;
    expect(lines.map(messageOf)).toEqual(['1 spans were dropped: the collector did not answer in time']);
  });

  const messageOf = (line: string | undefined) => (JSON.parse(line ?? '{}') as { message?: string }).message;
  const untilGone = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
});

describe('an export', () => {
  let collector: Collector;
  const lines: string[] = [];
  beforeAll(async () => {
    collector = await startCollector();
  });
  afterAll(() => collector.stop());
  const clock = manualClock();
  const log = createLog({ clock, write: (line) => void lines.push(line) });
  const open = (more: object = {}) =>
    createExporter(
      {
        endpoint: collector.endpoint,
        headers: {},
        headersSecret: undefined,
        cloudwatchRegion: undefined,
        resource: { 'service.name': 'gw' },
        sampleRatio: 1,
        ...more,
      },
      { clock, log },
    );

  it('keeps the type of each attribute, and times to the nanosecond as texts', async () => {
    const exporter = open();
    exporter.add([span('one')]);
    await exporter.close();
    expect(collector.spans()).toEqual([
      {
        ...span('one'),
        attributes: { whole: 7n, half: 0.5, round: 1, is: true, words: ['a', 'b'] },
        parentSpanId: undefined,
      },
    ]);
    expect(collector.exports[0]?.text).toContain('"startTimeUnixNano":"1800000000123000000"');
    expect(collector.exports[0]?.text).toContain('{"key":"round","value":{"doubleValue":1}}');
  });

  it('is tried once more if its connection breaks, and no third time', async () => {
    collector.mode = 'die';
    collector.clear();
    const exporter = open();
    exporter.add([span('one')]);
    await exporter.close();
    collector.mode = 'accept';
    expect(collector.exports).toHaveLength(2);
    expect(lines.join()).toContain('1 spans were dropped: the connection broke');
    lines.splice(0);
  });

  it('to CloudWatch is signed with the credentials of the process, its body included', async () => {
    const former = { ...process.env };
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-test' });
    collector.clear();
    const exporter = open({ cloudwatchRegion: 'eu-west-1' });
    exporter.add([span('signed')]);
    await exporter.close();
    process.env = former;
    const [exportRequest] = collector.exports;
    expect(exportRequest?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/xray\/aws4_request, SignedHeaders=[a-z0-9;-]*content-encoding[a-z0-9;-]*, Signature=[0-9a-f]{64}$/,
    );
    expect(exportRequest?.headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(exportRequest)).not.toContain('a-secret-of-the-test');
  });

  it('takes its headers from a secret, and reads it again after five minutes', async () => {
    const secrets = mockClient(SecretsManagerClient);
    secrets.on(GetSecretValueCommand, { SecretId: 'gw/dev/otlp' }).resolves({ SecretString: 'x-key=first%20key' });
    const former = { ...process.env };
    process.env.AWS_REGION = 'eu-west-1';
    collector.clear();
    const exporter = open({ headersSecret: 'gw/dev/otlp', headers: { 'x-other': 'kept' } });
    process.env = former;
    const send = async (name: string) => {
      exporter.add([span(name)]);
      await exporter.flush();
    };
    await send('one');
    await send('two');
    expect(secrets.calls()).toHaveLength(1);
    secrets.on(GetSecretValueCommand).resolves({ SecretString: 'x-key=second' });
    clock.advance(300_000);
    await send('three');
    secrets.on(GetSecretValueCommand).resolves({ SecretString: 'canary-malformed' });
    clock.advance(300_000);
    await send('four');
    await exporter.close();
    secrets.restore();
    expect(collector.exports.map(({ headers }) => [headers['x-key'], headers['x-other']])).toEqual([
      ['first key', 'kept'],
      ['first key', 'kept'],
      ['second', 'kept'],
    ]);
    expect(lines.join()).toContain('the secret with the headers of the collector is malformed');
    expect(lines.join()).not.toMatch(/first|second|canary/);
    lines.splice(0);
    clock.advance(60_000);
  });

  it('that is answered with rejected spans says how many, and nothing of what the collector says', async () => {
    collector.mode = 'partial';
    const exporter = open();
    exporter.add([span('one'), span('two')]);
    await exporter.flush();
    await exporter.close();
    expect(lines.join()).toContain('1 spans were dropped: the collector rejected them');
    expect(lines.join()).not.toContain('canary');
  });
});

describe('the standard variables', () => {
  const read = (variables: Record<string, string>) => readTelemetryEnvironment(variables);
  const common = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };

  it('that name no endpoint, or switch it off, mean no telemetry', () => {
    expect(read({})).toEqual({ telemetry: undefined, notes: [] });
    expect(read({ OTEL_SERVICE_NAME: 'mine', OTEL_EXPORTER_OTLP_ENDPOINT: '' }).telemetry).toBeUndefined();
    expect(read({ ...common, OTEL_SDK_DISABLED: 'true' }).telemetry).toBeUndefined();
    expect(read({ ...common, OTEL_TRACES_EXPORTER: 'none' }).telemetry).toBeUndefined();
  });

  it('have these defaults', () => {
    expect(read(common)).toEqual({
      telemetry: {
        endpoint: 'http://localhost:4318/v1/traces',
        headers: {},
        headersSecret: undefined,
        cloudwatchRegion: undefined,
        resource: { 'service.name': 'gw' },
        sampleRatio: 1,
      },
      notes: [],
    });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/otlp/' }, 'https://otlp.example/otlp/v1/traces'],
    [{ ...common, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other.example/in' }, 'https://other.example/in'],
  ])('%j send to %s', (variables, endpoint) => {
    expect(read(variables).telemetry?.endpoint).toBe(endpoint);
  });

  it('are percent-decoded, those of traces win, and a name of a service wins over the resource', () => {
    const { telemetry, notes } = read({
      ...common,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-common=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'Authorization=Basic%20YTpi%3D%3D, x-scope=a%2Cb',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=dev%20eu',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    expect(telemetry).toMatchObject({
      headers: { authorization: 'Basic YTpi==', 'x-scope': 'a,b' },
      resource: { 'service.name': 'mine', 'deployment.environment.name': 'dev eu' },
      sampleRatio: 0.25,
    });
    expect(notes).toEqual([]);
    expect(read({ ...common, OTEL_RESOURCE_ATTRIBUTES: 'service.name=other' }).telemetry?.resource).toEqual({
      'service.name': 'other',
    });
  });

  it("name CloudWatch's own endpoint by its host, and no other host", () => {
    const regionOf = (endpoint: string) =>
      read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }).telemetry?.cloudwatchRegion;
    expect(regionOf('https://xray.eu-west-1.amazonaws.com/v1/traces')).toBe('eu-west-1');
    expect(regionOf('https://xray.eu-west-1.amazonaws.com.evil.example/v1/traces')).toBeUndefined();
    expect(regionOf('https://logs.eu-west-1.amazonaws.com/v1/logs')).toBeUndefined();
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL has no effect: traces are sent as http/json',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL has no effect: traces are sent as http/json',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'always_off' },
      'OTEL_TRACES_SAMPLER has no effect: the sampler is parentbased_traceidratio',
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG has no effect: it must be a number from 0 to 1'],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'canary-key' },
      'OTEL_EXPORTER_OTLP_HEADERS has no effect: it must be name=value, with commas between several',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0Acanary,c=d' },
      'OTEL_EXPORTER_OTLP_HEADERS: 1 of its headers fit no request and are left out',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'Connection=x,Content-Length=1,transfer-encoding=chunked,host=x,c=d' },
      'OTEL_EXPORTER_OTLP_HEADERS: 4 of its headers fit no request and are left out',
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'team=%E0%A4' },
      'OTEL_RESOURCE_ATTRIBUTES has no effect: it must be name=value, with commas between several',
    ],
  ])('%j are reported in one line, without a value, and telemetry goes on', (variables, note) => {
    const { telemetry, notes } = read({ ...common, ...variables });
    expect([notes, telemetry?.endpoint]).toEqual([[note], 'http://localhost:4318/v1/traces']);
  });

  it('that name no URL of http are reported, and mean no telemetry', () => {
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' })).toEqual({
      telemetry: undefined,
      notes: ['OTEL_EXPORTER_OTLP_ENDPOINT is no URL of http or https: no traces are sent'],
    });
  });
});

it.each([
  ['https://api.openai.com/v1', 'openai'],
  ['https://eu.api.openai.com/v1', 'openai'],
  ['https://acme.openai.azure.com/openai/v1', 'azure.ai.openai'],
  ['https://acme.services.ai.azure.com/models', 'azure.ai.inference'],
  ['https://api.anthropic.com/v1', 'anthropic'],
  ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'aws.bedrock'],
  ['https://bedrock-mantle.us-east-1.api.aws/anthropic/v1', 'aws.bedrock'],
  ['https://generativelanguage.googleapis.com/v1beta', 'gcp.gemini'],
  ['https://europe-west1-aiplatform.googleapis.com/v1', 'gcp.vertex_ai'],
  ['https://aiplatform.googleapis.com/v1', 'gcp.vertex_ai'],
  ['https://api.groq.com/openai/v1', 'groq'],
  ['https://api.mistral.ai/v1', 'mistral_ai'],
  ['https://api.deepseek.com', 'deepseek'],
  ['https://api.x.ai/v1', 'x_ai'],
  ['https://api.cohere.com/compatibility/v1', 'cohere'],
  ['https://api.perplexity.ai', 'perplexity'],
  ['https://eu-de.ml.cloud.ibm.com/ml', 'ibm.watsonx.ai'],
  ['https://openrouter.ai/api/v1', undefined],
  ['http://127.0.0.1:11434/v1', undefined],
  ['https://api.openai.com.evil.example/v1', undefined],
])('the conventions name %s %s', (baseUrl, name) => {
  expect(wellKnownName(baseUrl)).toBe(name);
});
