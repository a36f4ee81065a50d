import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError, uuid } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describe('the correlation of a request', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(() => gateway.stop());

  const postWith = (headers: Record<string, string>, more = {}) => gateway.post(hello('acme/echo', more), headers);

  it('is answered with an id of ours and the trace id of the client, on JSON, streams and lists', async () => {
    const headers = { 'x-gw-trace-id': 'checkout:42' };
    const answers = [
      await postWith(headers),
      await postWith(headers, { stream: true }),
      await gateway.get('/models', headers),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-gw-trace-id')).toBe('checkout:42');
      expect(answer.headers.get('x-request-id')).toMatch(uuid);
      await answer.text();
    }
    expect(new Set(answers.map((answer) => answer.headers.get('x-request-id'))).size).toBe(3);
  });

  it('takes the trace id of a later version of traceparent, whatever stands behind it', async () => {
    for (const later of [`01-${traceId}-00f067aa0ba902b7-01`, `cc-${traceId}-00f067aa0ba902b7-01-what=else`]) {
      const answer = await postWith({ traceparent: later });
      expect(answer.headers.get('x-gw-trace-id')).toBe(traceId);
      await answer.text();
    }
  });

  it('takes the trace id of a traceparent, and makes one where there is none', async () => {
    const fromParent = await postWith({ traceparent });
    expect(fromParent.headers.get('x-gw-trace-id')).toBe(traceId);
    await fromParent.text();
    const made = [await postWith({}), await postWith({})];
    const ids = made.map((answer) => answer.headers.get('x-gw-trace-id'));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    for (const answer of made) await answer.text();
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
  ])('is refused where it is malformed or contradicts itself, and no provider is called: %j', async (headers) => {
    gateway.simulator.clear();
    const response = await postWith(headers as unknown as Record<string, string>);
    await expectError(response, 400, 'invalid_correlation');
    await expectError(await gateway.get('/models', headers as never), 400, 'invalid_correlation');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each(['x-gw-trace-id', 'x-gw-span-id', 'x-gw-session-id', 'x-session-id', 'traceparent'])(
    'is refused where a header was sent twice, even with one value: %s',
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
