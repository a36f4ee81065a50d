import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError, uuid } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

const upstreams = ['echo', 'error-400', 'error-429', 'error-500', 'error-after-chunks:3'];
const poor = newKey();

let gateway: Harness;
beforeAll(async () => {
  const models = Object.fromEntries(
    upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]),
  );
  const moreWorkspaces = [{ id: 'poor', credit_usd: '0', keys: [{ name: 'k', key: poor }] }];
  gateway = await startHarness({ clock: manualClock(), models, moreWorkspaces });
});
afterAll(() => gateway.stop());

describe('the correlation of a request', () => {
  const postWith = (headers: Record<string, string>, more = {}) => gateway.post(hello('acme/echo', more), headers);

  it('is answered on the model list too', async () => {
    const answer = await gateway.get('/models', { 'x-gw-trace-id': 'checkout:42' });
    expect([answer.status, answer.headers.get('x-gw-trace-id')]).toEqual([200, 'checkout:42']);
    expect(answer.headers.get('x-request-id')).toMatch(uuid);
    await answer.text();
  });

  it('takes the trace id of a later version of traceparent, whatever follows it', async () => {
    for (const later of [`01-${traceId}-00f067aa0ba902b7-01`, `cc-${traceId}-00f067aa0ba902b7-01-what=else`]) {
      const answer = await postWith({ traceparent: later });
      expect(answer.headers.get('x-gw-trace-id')).toBe(traceId);
      await answer.text();
    }
  });

  it.each([
    { 'x-gw-trace-id': 'two words' },
    { 'x-gw-trace-id': 'x'.repeat(129) },
    { 'x-gw-span-id': 'a/b' },
    { 'x-gw-span-id': '' },
    { 'x-gw-trace-id': 't', 'x-gw-parent-span-id': 'a,b' },
    { 'x-gw-parent-span-id': 'p' },
    { 'x-gw-trace-id': 't', 'x-gw-span-id': 's', 'x-gw-parent-span-id': 's' },
    { 'x-gw-session-id': 'x'.repeat(257) },
    { 'x-gw-session-id': 'two words' },
    { 'x-gw-session-id': 'one', 'x-session-id': 'two' },
    { traceparent: 'garbage' },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `ff-${traceId}-00f067aa0ba902b7-01` },
    { traceparent: `${traceparent}-more` },
    { traceparent: `01-${traceId}-00f067aa0ba902b7-01more` },
    { traceparent: traceparent.toUpperCase() },
    { traceparent, 'x-gw-trace-id': 'another' },
  ])('is refused if it is malformed or contradicts itself, and no provider is called: %j', async (headers) => {
    gateway.simulator.clear();
    const response = await postWith(headers as unknown as Record<string, string>);
    await expectError(response, 400, 'invalid_correlation');
    await expectError(await gateway.get('/models', headers as never), 400, 'invalid_correlation');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each(['x-gw-trace-id', 'x-gw-span-id', 'x-gw-session-id', 'x-session-id', 'traceparent'])(
    'is refused if a header was sent twice, even with one value: %s',
    async (name) => {
      const value = name === 'traceparent' ? traceparent : 'same';
      const outgoing = request(`${gateway.url}/models`, {
        headers: { authorization: `Bearer ${gateway.key}`, [name]: [value, value] },
      });
      outgoing.end();
      const body = await new Promise<string>((resolve) => {
        outgoing.once('response', (incoming) => void text(incoming).then(resolve));
      });
      expect(JSON.parse(body)).toMatchObject({ error: 'invalid_correlation' });
    },
  );

  it('is taken in every well-formed combination', async () => {
    const good = [
      { 'x-gw-trace-id': traceId, traceparent, 'x-gw-span-id': 'good-1', 'x-gw-parent-span-id': 'p' },
      { 'x-gw-trace-id': traceId.toUpperCase(), traceparent },
      { traceparent, 'x-gw-parent-span-id': 'p' },
      { 'x-gw-session-id': 'same', 'x-session-id': 'same' },
      { 'x-session-id': '!#$%&~{}'.padEnd(256, 'x') },
      { 'x-gw-trace-id': 'A-z_0.9:'.padEnd(128, 'x') },
    ];
    for (const headers of good) {
      const response = await postWith(headers as unknown as Record<string, string>);
      expect(response.status).toBe(200);
      await response.text();
    }
  });

  it('an Idempotency-Key that is no visible ASCII or too long is invalid_request on a plain call', async () => {
    gateway.simulator.clear();
    for (const key of ['two words', 'x'.repeat(256), 'caf\u00e9', '']) {
      await expectError(await postWith({ 'idempotency-key': key }), 400, 'invalid_request');
    }
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('an x-byok-key that is malformed is invalid_request, and never repeated', async () => {
    const answer = await expectError(await postWith({ 'x-byok-key': 'sk-secret word' }), 400, 'invalid_request');
    expect(JSON.stringify(answer)).not.toContain('secret');
    await expectError(await postWith({ 'x-byok-key': 'x'.repeat(1025) }), 400, 'invalid_request');
  });
});

// Correlation headers are on every answer; the provider gets only the traceparent.
describe('an answer', () => {
  const kinds: [string, unknown, Record<string, string>, number][] = [
    ['JSON', hello('acme/echo'), {}, 200],
    ['a stream', hello('acme/echo', { stream: true }), {}, 200],
    ['a broken stream', hello('acme/error-after-chunks:3', { stream: true }), {}, 200],
    ['unreadable', '{', {}, 400],
    ['unknown model', hello('nobody/nothing'), {}, 400],
    ['rejected by the provider', hello('acme/error-400'), {}, 400],
    ['no key', hello('acme/echo'), { authorization: '' }, 401],
    ['unknown key', hello('acme/echo'), { authorization: `Bearer ${newKey()}` }, 401],
    ['no credit', hello('acme/echo'), { authorization: `Bearer ${poor}` }, 402],
    ['no preset', hello('acme/echo', { preset: 'x' }), {}, 404],
    ['too large', ' '.repeat(4 * 1024 * 1024 + 1), {}, 413],
    ['limited', hello('acme/error-429'), {}, 429],
    ['failed', hello('acme/error-500'), {}, 502],
  ];

  it.each(kinds)('has an id of ours and the trace id of the client: %s', async (_name, body, headers, status) => {
    const response = await gateway.post(body, { traceparent, ...headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-gw-trace-id')).toBe(traceId);
    expect(response.headers.get('x-request-id')).toMatch(uuid);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    await response.text();
    const firstResponse = await gateway.post(body, headers);
    expect(firstResponse.headers.get('x-gw-trace-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(firstResponse.headers.get('x-request-id')).not.toBe(response.headers.get('x-request-id'));
    await firstResponse.text();
  });

  it('from a store has the ids of the request it answers', async () => {
    const body = hello('acme/echo', { cache: {}, seed: 5 });
    const first = await gateway.post(body, { 'x-gw-trace-id': 'one', 'idempotency-key': 'k' });
    await first.text();
    await gateway.settled();
    const hit = await gateway.post(body, { 'x-gw-trace-id': 'two' });
    expect([hit.headers.get('x-gw-cache'), hit.headers.get('x-gw-trace-id')]).toEqual(['HIT', 'two']);
    await hit.text();
    const replay = await gateway.post(body, { 'x-gw-trace-id': 'one', 'idempotency-key': 'k' });
    expect([replay.headers.get('idempotent-replayed'), replay.headers.get('x-gw-trace-id')]).toEqual(['true', 'one']);
    expect(replay.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    await replay.text();
  });

  it('to one request, its record and its log line name the same ids, and attribution goes to the record alone', async () => {
    gateway.simulator.clear();
    const attribution = { 'http-referer': 'https://shop.example/cart', 'x-title': 'Shop 4711' };
    const ids = { traceparent, 'x-gw-span-id': 'span-77', 'x-gw-session-id': 'session-77' };
    const response = await gateway.post(hello('acme/echo'), { ...ids, ...attribution });
    await response.text();
    await gateway.settled();
    const correlationId = response.headers.get('x-request-id');
    const record = (await gateway.records()).find((one) => one.correlationId === correlationId);
    expect(record).toMatchObject({ traceId, spanId: 'span-77', sessionId: 'session-77', title: 'Shop 4711' });
    expect(gateway.logLines.some((line) => line.includes(correlationId ?? 'none') && line.includes(traceId))).toBe(
      true,
    );
    const [upstreamCall] = gateway.simulator.calls;
    expect(upstreamCall?.headers.traceparent).toBe(traceparent);
    const sentText = JSON.stringify([upstreamCall?.headers, upstreamCall?.body]);
    for (const text of ['shop.example', 'Shop 4711', 'span-77', 'session-77']) expect(sentText).not.toContain(text);
    expect([...response.headers.values()].join()).not.toMatch(/shop|session-77/i);
  });
});
