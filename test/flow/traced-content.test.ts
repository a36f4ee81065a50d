// Stored bodies in traces: the conventions' messages are on the span of the attempt that answered, if both are switched
// on.
import { afterAll, beforeAll, beforeEach, expect, it } from '#jest';
import { readTelemetryEnvironment, type TelemetryEnvironment } from '../../shared/foundation/environment/index.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';

const quiet = newKey();
const captureName = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
let collector: Collector;
let harness: Harness;
const settings = (capture: string): TelemetryEnvironment | undefined =>
  readTelemetryEnvironment({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.endpoint, [captureName]: capture })
    .telemetry;

beforeAll(async () => {
  collector = await startCollector();
  harness = await startHarness({
    telemetry: settings('true'),
    providers: { acme: { data_policy: { zdr: true } } },
    models: {
      'acme/echo': [
        { provider: 'globex', upstream: 'error-500' },
        { provider: 'acme', upstream: 'echo' },
      ],
    },
    workspace: { content_log: {} },
    moreWorkspaces: [{ id: 'quiet', credit_usd: '1', keys: [{ name: 'k', key: quiet }] }],
  });
});
afterAll(async () => {
  await harness.stop();
  await collector.stop();
});
beforeEach(() => collector.clear());

async function messagesOf(call: Promise<Response>, gateway: ServedGateway = harness) {
  const response = await call;
  expect(response.status).toBe(200);
  await response.text();
  await gateway.settled();
  await gateway.composition.telemetry?.flush();
  return collector.spans().map(({ name, attributes }) => {
    const read = (of: string) => attributes[`gen_ai.${of}.messages`];
    return { name, input: read('input'), output: read('output') };
  });
}

it.each([false, true])(
  'messages of a kept call are on the span of its last attempt alone, stream %s',
  async (stream) => {
    const content = `sk-proj-a1b2c3d4e5f6g7h8i9j0 ${'x'.repeat(40_000)}`;
    const spans = await messagesOf(harness.post(hello('acme/echo', { stream, messages: [{ role: 'user', content }] })));
    const [modelSpan, ...others] = spans.filter(({ input }) => input !== undefined);
    expect([modelSpan?.name, others]).toEqual(['chat acme/echo', []]);
    const [input] = JSON.parse(String(modelSpan?.input));
    expect(input).toEqual({ role: 'user', parts: [{ type: 'text', content: expect.stringMatching(/x{100}$/) }] });
    expect(String(modelSpan?.input).length).toBeLessThanOrEqual(32 * 1024);
    const [output] = JSON.parse(String(modelSpan?.output));
    expect(output).toMatchObject({ role: 'assistant', parts: [{ type: 'text' }], finish_reason: 'stop' });
    expect(JSON.stringify(spans)).not.toContain('a1b2c3d4');
  },
);

it('no message is in a trace if nothing is kept, under zdr, or without the variable', async () => {
  const without = await harness.open({ telemetry: settings('false') });
  const all = [
    await messagesOf(harness.post(hello('acme/echo'), { authorization: `Bearer ${quiet}` })),
    await messagesOf(harness.post(hello('acme/echo', { provider: { zdr: true } }))),
    await messagesOf(without.post(hello('acme/echo')), without),
  ].flat();
  expect(all.length).toBeGreaterThan(5);
  expect(all.filter(({ input, output }) => input !== undefined || output !== undefined)).toEqual([]);
});
