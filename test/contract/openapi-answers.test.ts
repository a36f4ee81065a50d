// What the gateway answers is what the description of the API says.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { differencesOf, operationOf } from './api-description.ts';

const upstreams = {
  'acme/echo': 'echo',
  'acme/tools': 'tools',
  'acme/no-usage': 'no-usage',
  'acme/unknown-members': 'unknown-members',
  'acme/broken': 'error-after-chunks:2',
  'acme/failing': 'error-500',
  'acme/limited': 'error-429:x:30',
  'acme/rejecting': 'error-400:context_length_exceeded',
  'acme/prose': 'invalid-json',
};
const schema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
const responseFormat = { type: 'json_schema', json_schema: { name: 'label', schema } };
const usage = { include: true };
const stream_options = { include_usage: true };

describe('the answers of the gateway', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(
          Object.entries(upstreams).map(([id, upstream]) => [id, [{ provider: 'acme', upstream }]]),
        ),
        'acme/unconfigured': [{ provider: 'unset', upstream: 'echo' }],
      },
      providers: { unset: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } } },
      workspace: {
        functions: [promptFunction('label', 'acme/echo', { options: { max_tokens: 64 } })],
      },
    });
  });
  afterAll(() => gateway.stop());

  const chat = operationOf('POST', '/v1/chat/completions');

  it.each([
    ['a JSON answer', hello('acme/echo')],
    ['an answer whose usage is an estimate', hello('acme/no-usage')],
    ['an answer with members of the provider', hello('acme/unknown-members')],
    ['a structured answer', hello('acme/echo', { response_format: responseFormat })],
    ['the answer of a function', hello('gw/function/label')],
    ['a stream', hello('acme/echo', { stream: true })],
    ['a stream with every usage chunk', hello('acme/tools', { stream: true, usage, stream_options })],
    ['a stream with members of the provider', hello('acme/unknown-members', { stream: true })],
    ['a stream that breaks', hello('acme/broken', { stream: true })],
  ])('are as described: %s', async (_answer, body) => {
    const response = await gateway.post(body);
    expect(response.status).toBe(200);
    expect(await differencesOf(chat, response)).toEqual([]);
  });

  it('are as described where a stored or a cached answer is given again', async () => {
    const body = hello('acme/echo', { cache: {} });
    const first = await gateway.post(body, { 'idempotency-key': 'once' });
    const replayed = await gateway.post(body, { 'idempotency-key': 'once' });
    // An answer is stored once its call is settled.
    await gateway.settled();
    const cached = await gateway.post(body);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(cached.headers.get('x-gw-cache')).toBe('HIT');
    for (const response of [first, replayed, cached]) expect(await differencesOf(chat, response)).toEqual([]);
  });

  it.each([
    ['invalid_request', '{', {}],
    ['invalid_request', hello('acme/rejecting'), {}],
    ['unknown_model', hello('nobody/nothing'), {}],
    ['invalid_correlation', hello('acme/echo'), { 'x-gw-trace-id': '?' }],
    ['UNAUTHORIZED', hello('acme/echo'), { authorization: 'Bearer nothing' }],
    ['price_cap_exceeded', hello('acme/echo', { provider: { max_price: 0 } }), {}],
    ['function_not_found', hello('gw/function/none'), {}],
    ['request_too_large', hello('gw/function/label', { user: 'x'.repeat(300_000) }), {}],
    ['schema_validation_failed', hello('acme/prose', { response_format: responseFormat }), {}],
    ['rate_limited', hello('acme/limited'), {}],
    ['no_available_provider', hello('acme/failing'), {}],
    ['provider_not_configured', hello('acme/unconfigured'), {}],
  ])('are as described: %s', async (code, body, headers) => {
    const response = await gateway.post(body, headers);
    expect(await response.clone().json()).toMatchObject({ error: code });
    expect(await differencesOf(chat, response)).toEqual([]);
  });

  it('are as described: the models, and their errors', async () => {
    const models = operationOf('GET', '/v1/models');
    const answers = [
      await gateway.get('/models'),
      await gateway.get('/models', { authorization: 'Bearer nothing' }),
      await gateway.get('/models', { traceparent: '?' }),
      await fetch(`${gateway.url}/models`, { method: 'DELETE' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 405]);
    for (const answer of answers) expect(await differencesOf(models, answer)).toEqual([]);
  });

  it('include the description itself at one path only', async () => {
    const { origin } = new URL(gateway.url);
    for (const path of ['/openapi.yaml', '/v1/openapi.json', '/docs']) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
  });
});
