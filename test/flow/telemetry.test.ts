// Traces as a collector gets them: one trace for each request, with a span for each provider call, and no text of its
// content.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createGateway } from '../../functions/gateway/routes.ts';
import { streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import type { TelemetryEnvironment } from '../../shared/foundation/environment/index.ts';
import { callGateway } from '../support/call-gateway.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { ask, step, workflow } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';
import { readUntil } from '../support/read-stream.ts';
import { awaitingClock, eventually } from '../support/watched-clock.ts';

const taggedKey = newKey();
const byok = { accepts_byok_header: true };
let collector: Collector;
let harness: Harness;

const settings = (more: Partial<TelemetryEnvironment> = {}): TelemetryEnvironment => ({
  endpoint: collector.endpoint,
  headers: { 'x-collector-key': 'a-key' },
  headersSecret: undefined,
  cloudwatchRegion: undefined,
  resource: { 'service.name': 'gw', team: 'platform' },
  sampleRatio: 1,
  ...more,
});

beforeAll(async () => {
  collector = await startCollector();
  const on = (provider: string, upstream: string, more = {}) => ({ provider, upstream, more });
  harness = await startHarness({
    telemetry: settings(),
    providers: {
      acme: byok,
      omni: { apis: ['messages', 'responses', 'embeddings'] },
    },
    models: {
      'acme/usage': [on('acme', 'usage:100:20:40:5:10', { cached_input_price_per_million: '0.50' })],
      'acme/echo': [on('acme', 'echo')],
      'acme/endless': [on('acme', 'endless:1')],
      'acme/fallback': [on('globex', 'error-500'), on('acme', 'echo')],
      'acme/failing': [on('globex', 'error-500')],
      'acme/rejected': [on('acme', 'error-400')],
      'omni/echo': [on('omni', 'echo')],
      'acme/cut': [on('acme', 'cut:2')],
      // This model has a provider of its own, because a provider that failed twice comes after the others.
      'acme/unsampled': [on('initech', 'error-500'), on('acme', 'echo')],
      'acme/leaking': [on('globex', 'error-leak'), on('acme', 'echo')],
    },
    workspace: {
      features: { byok: true },
      functions: [workflow('steps', [step('a', '{{input.text}}'), step('b', '{{steps.a.output}}')], { step: 'b' })],
    },
    moreWorkspaces: [
      { id: 'other', credit_usd: '1', keys: [{ name: 'tagged', key: taggedKey, tags: { team: 'search' } }] },
    ],
  });
});
afterAll(async () => {
  await harness?.stop();
  await collector?.stop();
});
beforeEach(() => {
  collector.mode = 'accept';
  collector.clear();
  harness.simulator.clear();
});

interface Traced {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly spans: readonly CollectedSpan[];
  readonly server: CollectedSpan;
  readonly clients: readonly CollectedSpan[];
}

/** Returns the spans of a call at the collector. */
async function traceOf(call: Promise<Response>, gateway: ServedGateway = harness): Promise<Traced> {
  const response = await call;
  const text = await response.text();
  await gateway.settled();
  await gateway.composition.telemetry?.flush();
  const spans = collector.spans();
  const server = spans.find(({ kind }) => kind === 'server') as CollectedSpan;
  const clients = spans.filter(({ kind }) => kind === 'client');
  return { status: response.status, headers: response.headers, text, spans, server, clients };
}

const call = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
  traceOf(harness.post(hello(model, { ...more }), headers));

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

describe('the trace of a call', () => {
  it('is a span of the request and one of its attempt, with these attributes and no others', async () => {
    const { status, headers, server, clients, spans } = await call('acme/usage', {}, { 'x-session-id': 'session-7' });
    expect([status, spans.length]).toEqual([200, 2]);
    const id = headers.get('x-request-id');
    expect(server).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: undefined, isError: false });
    expect(server.traceId).toBe(headers.get('x-gw-trace-id'));
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'url.path': '/v1/chat/completions',
      'url.scheme': 'http',
      'http.response.status_code': 200n,
      'gw.workspace': 'team',
      'gw.key': 'first',
      'gw.attempts': 1n,
      'gw.correlation_id': id,
    });
    const [client] = clients;
    expect(client).toMatchObject({
      traceId: server.traceId,
      parentSpanId: server.spanId,
      name: 'chat acme/usage',
      isError: false,
    });
    expect(client?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'acme',
      'gw.provider': 'acme',
      'gen_ai.request.model': 'acme/usage',
      'gen_ai.response.model': 'usage:100:20:40:5:10',
      'gen_ai.usage.input_tokens': 100n,
      'gen_ai.usage.output_tokens': 20n,
      'gen_ai.usage.cache_read.input_tokens': 40n,
      'gen_ai.usage.cache_write.input_tokens': 10n,
      'gen_ai.usage.reasoning.output_tokens': 5n,
      'gen_ai.usage.cost.amount': 0.00012,
      'gen_ai.usage.cost.currency': 'USD',
      'gen_ai.usage.cost.source': 'local',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.conversation.id': 'session-7',
    });
    const { startedAtMs, endedAtMs } = client as CollectedSpan;
    expect(server.startedAtMs <= startedAtMs && startedAtMs <= endedAtMs && endedAtMs <= server.endedAtMs).toBe(true);
  });

  it('arrives as gzipped JSON at the path of the endpoint, with the headers and the resource that were set', async () => {
    await call('acme/echo');
    expect(collector.exports).toMatchObject([
      {
        path: '/v1/traces',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-collector-key': 'a-key' },
      },
    ]);
    expect(collector.resource()).toEqual({ 'service.name': 'gw', team: 'platform' });
  });

  it('has a span for each attempt, the failed one as an error, and the call itself as good', async () => {
    const { server, clients } = await call('acme/fallback');
    expect(server).toMatchObject({ isError: false, attributes: { 'gw.attempts': 2n } });
    expect(clients).toMatchObject([
      { name: 'chat acme/fallback', isError: true, parentSpanId: server.spanId },
      { name: 'chat acme/fallback', isError: false, parentSpanId: server.spanId },
    ]);
    expect(clients[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'globex',
      'gw.provider': 'globex',
      'gen_ai.request.model': 'acme/fallback',
      'error.type': 'status_500',
    });
    expect(new Set([server, ...clients].map(({ spanId }) => spanId)).size).toBe(3);
  });

  it('of a stream says when its first chunk came, and why it ended', async () => {
    const { clients, server } = await call('acme/echo', { stream: true });
    expect(clients).toMatchObject([
      {
        isError: false,
        attributes: {
          'gen_ai.request.stream': true,
          'gen_ai.response.model': 'echo',
          'gen_ai.response.finish_reasons': ['stop'],
          'gen_ai.response.time_to_first_chunk': expect.any(Number),
        },
      },
    ]);
    expect(clients[0]?.attributes['gen_ai.response.time_to_first_chunk']).toBeLessThan(10);
    expect(server.isError).toBe(false);
    expect((await call('acme/echo')).clients.at(-1)?.attributes).not.toHaveProperty('gen_ai.request.stream');
  });

  it('of a stream that is cut in the middle is an error in both spans, and bills what was relayed', async () => {
    const { status, clients, server } = await call('acme/cut', { stream: true });
    expect(status).toBe(200);
    expect(server).toMatchObject({
      isError: true,
      attributes: { 'http.response.status_code': 200n, 'error.type': 'no_available_provider' },
    });
    expect(clients).toMatchObject([
      {
        isError: true,
        attributes: {
          'error.type': expect.stringMatching(/^(connection|truncated_stream)$/),
          'gen_ai.response.finish_reasons': ['error'],
          'gen_ai.response.model': 'cut:2',
        },
      },
    ]);
    expect(clients[0]?.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0n);
  });

  it('of a workflow has a span for each step, with the tokens of its own', async () => {
    const { status, server, clients } = await traceOf(harness.post(ask('steps', { text: 'one two three' })));
    expect([status, server.attributes['gw.attempts']]).toEqual([200, 2n]);
    expect(clients.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['chat acme/echo', server.spanId],
      ['chat acme/echo', server.spanId],
    ]);
    const tokens = clients.map(({ attributes }) => attributes['gen_ai.usage.input_tokens']);
    expect(tokens[0]).toBe(3n);
    // The prompt of the second step contains the answer of the first step.
    expect(tokens[1]).toBeGreaterThan(3n);
  });

  it('of a refused call is the span of its request alone: 4xx is no error of the server', async () => {
    const unknown = await call('acme/none');
    expect(unknown.spans).toMatchObject([
      {
        isError: false,
        attributes: { 'http.response.status_code': 400n, 'error.type': 'unknown_model', 'gw.key': 'first' },
      },
    ]);
    collector.clear();
    const nobody = await traceOf(harness.post(hello('acme/echo'), { authorization: 'Bearer sk-gw-none' }));
    expect(nobody.spans).toMatchObject([{ attributes: { 'error.type': 'UNAUTHORIZED' }, isError: false }]);
    expect(nobody.server.attributes).not.toHaveProperty('gw.key');
    collector.clear();
    const rejected = await call('acme/rejected');
    expect([rejected.status, rejected.server.isError, rejected.clients[0]?.isError]).toEqual([400, false, true]);
    collector.clear();
    const failed = await call('acme/failing');
    expect([failed.status, failed.server.isError, failed.clients[0]?.isError]).toEqual([502, true, true]);
  });

  it('of another path is named by its route and never holds a query; that of an unknown path by its method; /health has none', async () => {
    await traceOf(harness.get('/models/acme/echo?canary=1'));
    await traceOf(harness.get('/nothing/canary-path?canary=1'));
    await traceOf(fetch(`${new URL(harness.url).origin}/health`));
    expect(collector.spans()).toMatchObject([
      {
        name: 'GET /v1/models/{id}',
        attributes: { 'http.route': '/v1/models/{id}', 'url.path': '/v1/models/acme/echo' },
      },
      { name: 'GET', attributes: { 'url.path': '/v1/nothing/canary-path', 'error.type': 'not_found' } },
    ]);
    expect(collector.spans()[1]?.attributes).not.toHaveProperty('http.route');
    expect(collector.exports.map(({ text }) => text).join()).not.toContain('canary=1');
  });

  it('has the tags of the call, those of its key included', async () => {
    const headers = { authorization: `Bearer ${taggedKey}`, 'x-gw-tags': 'team=other,feature=rerank' };
    const { server } = await call('acme/echo', {}, headers);
    expect(server.attributes).toMatchObject({
      'gw.tag.team': 'search',
      'gw.tag.feature': 'rerank',
      'gw.key': 'tagged',
    });
  });

  it('of a cached answer says so, and has no attempt', async () => {
    const cached = { cache: { enabled: true, namespace: 'traces' } };
    expect((await call('acme/echo', cached)).server.attributes['gw.cache']).toBe('MISS');
    collector.clear();
    const { server, clients } = await call('acme/echo', cached);
    expect([server.attributes['gw.cache'], clients.length]).toEqual(['HIT', 0]);
  });

  it('holds nothing of a prompt, an answer, a key, or what a provider says of its failure', async () => {
    const body = { messages: [{ role: 'user', content: 'canary-prompt' }], user: 'canary-user' };
    await traceOf(harness.post({ model: 'acme/leaking', ...body }, { 'x-title': 'canary-title' }));
    await traceOf(harness.post({ model: 'acme/echo', ...body, stream: true }));
    const exportText = collector.exports.map(({ text }) => text).join();
    expect(collector.spans()).toHaveLength(5);
    expect(exportText).not.toMatch(/canary|sk-gw-/);
    expect(exportText).not.toContain(harness.key.slice(-20));
  });
});

describe('the trace of a call by another interface', () => {
  const post = (path: string, body: object) => traceOf(harness.postTo(path, body, { 'x-gw-tags': 'run=7' }));
  const message = { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

  it('is of no chat if it only counts tokens', async () => {
    const { clients } = await post('/messages/count_tokens', { model: 'omni/echo', messages: message.messages });
    expect(clients.map(({ name }) => name)).toEqual(['count_tokens omni/echo']);
    expect(clients[0]?.attributes).toMatchObject({ 'gen_ai.operation.name': 'count_tokens' });
  });

  it.each([
    ['/messages', message, 'chat', ['end_turn']],
    ['/messages', { ...message, stream: true }, 'chat', ['end_turn']],
    ['/responses', { input: 'Hello' }, 'chat', ['completed']],
    ['/responses', { input: 'Hello', stream: true }, 'chat', ['completed']],
    ['/embeddings', { input: 'Hello' }, 'embeddings', undefined],
  ] as const)(
    '%s %j is a %s with its own words and with the tags of the call',
    async (path, body, operation, reasons) => {
      const { status, server, clients, headers } = await post(path, { model: 'omni/echo', ...body });
      expect([status, server.name, server.attributes['gw.tag.run']]).toEqual([200, `POST /v1${path}`, '7']);
      const [{ name, attributes } = server] = clients;
      expect(name).toBe(`${operation} omni/echo`);
      expect(attributes).toMatchObject({ 'gen_ai.operation.name': operation, 'gen_ai.response.model': 'echo' });
      expect(attributes['gen_ai.response.finish_reasons']).toEqual(reasons);
      expect(attributes['gen_ai.request.stream']).toBe('stream' in body ? true : undefined);
      expect(attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0n);
      const record = (await harness.records()).find(({ executionId }) => executionId === headers.get('x-request-id'));
      expect(record?.tags).toEqual({ run: '7' });
    },
  );
});

describe('a traceparent', () => {
  const headersWith = (flags: string) => ({ traceparent: `00-${traceId}-${parentId}-${flags}` });

  it('of the client is the parent, and the provider gets that of its own attempt', async () => {
    const { server, clients } = await call('acme/fallback', {}, headersWith('01'));
    expect(server).toMatchObject({ traceId, parentSpanId: parentId });
    expect(harness.simulator.calls.map(({ headers }) => headers.traceparent)).toEqual(
      clients.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    );
  });

  it('that is not sampled leaves no trace of a good call, and says so to the provider', async () => {
    expect((await call('acme/echo', {}, headersWith('00'))).spans).toEqual([]);
    expect(harness.simulator.calls[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  it('that is not sampled leaves one of a failed attempt, a 5xx and a broken stream all the same', async () => {
    expect((await call('acme/unsampled', {}, headersWith('00'))).spans).toHaveLength(3);
    collector.clear();
    expect((await call('acme/failing', {}, headersWith('00'))).spans).toHaveLength(2);
    collector.clear();
    expect((await call('acme/cut', { stream: true }, headersWith('00'))).spans).toHaveLength(2);
    collector.clear();
    expect((await call('acme/none', {}, headersWith('00'))).spans).toEqual([]);
  });

  it('that is not sampled leaves no trace of a client that left: nothing failed', async () => {
    const clock = awaitingClock();
    const gateway = await harness.open({ telemetry: settings(), clock });
    const leave = async (flags: string) => {
      const client = new AbortController();
      const body = hello('acme/endless', { stream: true });
      await readUntil(await gateway.post(body, headersWith(flags), client.signal), 'and on');
      client.abort();
      await eventually(() => clock.isAwaiting(streamReadOnMaxMs));
      clock.advance(streamReadOnMaxMs);
      await gateway.settled();
      await gateway.composition.telemetry?.flush();
      return collector.spans();
    };
    expect(await leave('00')).toEqual([]);
    const spans = await leave('01');
    expect(spans.map(({ kind, isError }) => [kind, isError])).toEqual([
      ['server', false],
      ['client', false],
    ]);
    expect(spans[1]?.attributes['error.type']).toBe('client_gone');
    await gateway.close();
  });

  it('that disagrees with the trace header is no parent', async () => {
    const { status, server } = await call('acme/echo', {}, { ...headersWith('01'), 'x-gw-trace-id': 'a'.repeat(32) });
    expect([status, server.traceId, server.parentSpanId]).toEqual([400, 'a'.repeat(32), undefined]);
  });

  it('goes on as it came if telemetry is off', async () => {
    const off = await harness.open();
    await (await off.post(hello('acme/echo'), headersWith('01'))).text();
    expect(harness.simulator.calls[0]?.headers.traceparent).toBe(headersWith('01').traceparent);
    await (await off.post(hello('acme/echo'))).text();
    expect(harness.simulator.calls[1]?.headers.traceparent).toBeUndefined();
    await off.close();
  });
});

it('a trace id of the client counts in lower case if it has the form of one; else the trace has one of its own', async () => {
  const { server } = await call('acme/echo', {}, { 'x-gw-trace-id': traceId.toUpperCase() });
  expect(server.traceId).toBe(traceId);
  collector.clear();
  const trace = await call('acme/echo', {}, { 'x-gw-trace-id': 'my-trace' });
  expect(trace.headers.get('x-gw-trace-id')).toBe('my-trace');
  expect(trace.server.traceId).toMatch(/^[0-9a-f]{32}$/);
});

it('a ratio samples traces by their ids if the client does not say; what fails is sent all the same', async () => {
  const half = await harness.open({ telemetry: settings({ sampleRatio: 0.5 }) });
  const ids = ['0'.repeat(18), 'f'.repeat(18)].map((end) => `4bf92f3577b34d${end}`);
  for (const id of ids) await (await half.post(hello('acme/echo'), { 'x-gw-trace-id': id })).text();
  const failed = half.post(hello('acme/failing'), { 'x-gw-trace-id': ids[1] ?? '' });
  const { spans } = await traceOf(failed, half);
  expect(spans.map(({ traceId: id, kind }) => [id, kind])).toEqual([
    [ids[0], 'server'],
    [ids[0], 'client'],
    [ids[1], 'server'],
    [ids[1], 'client'],
  ]);
  await half.close();
});

describe('a collector that fails', () => {
  it.each<[Collector['mode'] | 'absent']>([['hang'], ['die'], [500], [401], ['absent']])(
    '(%s) changes no answer, no settlement and no record, and costs one line',
    async (mode) => {
      const endpoint = mode === 'absent' ? 'http://127.0.0.1:1/v1/traces' : collector.endpoint;
      if (mode !== 'absent') collector.mode = mode;
      const gateway = await harness.open({ telemetry: settings({ endpoint }) });
      const before = { records: (await harness.records()).length, lines: harness.logLines.length };
      for (let round = 0; round < 3; round += 1) {
        const response = await gateway.post(hello('acme/echo'));
        expect(response.status).toBe(200);
        await response.text();
        await gateway.settled();
        // The first export has begun; spans during the pause after it wait.
        if (mode === 'hang') void gateway.composition.telemetry?.flush(20);
        else await gateway.composition.telemetry?.flush();
      }
      if (mode === 'hang') await gateway.composition.telemetry?.flush(20);
      expect((await harness.records()).length).toBe(before.records + 3);
      const lines = harness.logLines.slice(before.lines).filter((line) => line.includes('telemetry_not_sent'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/a-key|stack/);
      await gateway.close();
    },
  );
});

describe('on Lambda', () => {
  const request = (arrivedAtMs: number) => ({
    headers: { authorization: [`Bearer ${harness.key}`] },
    body: Buffer.from(JSON.stringify(hello('acme/echo'))),
    arrivedAtMs,
  });

  it('spans are sent after the answer and before the process sleeps', async () => {
    const { composition } = harness;
    const nowMs = composition.clock.nowMs();
    let sentBefore = -1;
    const onReply = () => {
      sentBefore = collector.exports.length;
    };
    await callGateway(createGateway(composition), { ...request(nowMs), endsAtMs: nowMs + 60_000 }, { onReply });
    expect([sentBefore, collector.spans().length]).toEqual([0, 2]);
  });

  it('nothing is sent if the runtime has no time left for it, and nothing is waited for', async () => {
    const { composition } = harness;
    const nowMs = composition.clock.nowMs();
    await callGateway(createGateway(composition), { ...request(nowMs), endsAtMs: nowMs + 400 });
    expect(collector.exports).toEqual([]);
    await composition.telemetry?.flush();
    expect(collector.spans()).toHaveLength(2);
  });

  it('an answer that is returned whole waits for no collector: its spans go along with the next request', async () => {
    const { composition } = harness;
    const gateway = createGateway(composition);
    const models = async () => {
      const nowMs = composition.clock.nowMs();
      const { headers } = request(nowMs);
      const call = { method: 'GET', path: '/v1/models', query: '', headers, declaredBodyBytes: 0, arrivedAtMs: nowMs };
      const response = await gateway(
        { ...call, readBody: async () => Buffer.alloc(0) },
        { clientGone: new AbortController().signal, endsAtMs: nowMs + 60_000, answersLast: true },
      );
      await response.finish?.();
    };
    await models();
    expect(collector.exports).toEqual([]);
    await models();
    await composition.telemetry?.flush();
    expect(collector.exports.length).toBeGreaterThan(0);
    expect(collector.spans()).toHaveLength(2);
  });
});
