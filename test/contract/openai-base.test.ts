// The base URL /openai/v1 is the same gateway for clients that cannot set a header.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';

const schema = { type: 'object', required: ['a'], properties: { a: { type: 'string' } }, additionalProperties: false };
const structured = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
const upstreams = [
  'echo',
  'invalid-json:mismatch',
  'fenced-json',
  'truncated-json',
  'error-after-chunks:2',
  'error-500',
];

const strict = newKey();
let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
      'plain/echo': [{ provider: 'plain', upstream: 'echo', more: { supported_params: {} } }],
      'unset/echo': [{ provider: 'unset', upstream: 'echo' }],
      'acme/unpriced': [
        { provider: 'acme', upstream: 'echo', more: { input_price_per_million: null, output_price_per_million: null } },
      ],
    },
    providers: { unset: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } } },
    moreWorkspaces: [{ id: 'strict', credit_usd: '1', data_policy: { zdr: true }, keys: [{ name: 'k', key: strict }] }],
    workspace: {
      functions: [promptFunction('label', 'acme/echo', { input: { type: 'text' } })],
    },
  });
});
afterAll(() => gateway.stop());

interface OpenAiError {
  readonly error: { readonly message: string; readonly type: string; readonly code: string; readonly param: unknown };
  readonly message: string;
  readonly correlation_id: string;
}

const postTo = (base: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${new URL(gateway.url).origin}${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: JSON.stringify(body),
  });
const post = (body: unknown, headers?: Record<string, string>) => postTo('/openai/v1', body, headers);

describe('the record of a call', () => {
  const refusedBody = { ...hello('acme/nothing') };
  it.each(['/v1', '/openai/v1'])(
    'says below which base URL it was made, also of a refusal, a replay and a function: %s',
    async (base) => {
      const retried = { 'idempotency-key': crypto.randomUUID() };
      const ids: (string | null)[] = [];
      for (const [body, headers] of [
        [hello('acme/echo'), retried],
        [hello('acme/echo'), retried],
        [refusedBody, {}],
        [{ model: 'gw/function/label', messages: [{ role: 'user', content: 'Hi' }] }, {}],
      ] as const) {
        const response = await postTo(base, body, headers);
        await response.text();
        ids.push(response.headers.get('x-request-id'));
      }
      for (const id of ids) {
        const { data } = (await (await gateway.get(`/generation?id=${id}`)).json()) as { data: { base_path: string } };
        expect(data.base_path).toBe(base);
      }
    },
  );
});

describe('an error', () => {
  it('has the form of OpenAI, with the field that is at fault', async () => {
    const response = await post(hello('acme/nothing'));
    const body = (await response.json()) as OpenAiError;
    expect(response.status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'unknown_model', param: 'model' });
    expect(body.message).toBe(body.error.message);
    expect(body.correlation_id).toBe(response.headers.get('x-request-id'));
  });

  const image = { type: 'image_url', image_url: { url: 'https://images.example/a.png' } };
  it.each<[string, object, string | null, Record<string, string>?]>([
    ['unknown_model', hello('acme/echo', { models: ['acme/echo', 'acme/none'] }), 'models[1]'],
    ['unknown_model', { ...hello(''), model: undefined, models: ['acme/none'] }, 'models[0]'],
    ['model_not_routable', hello('acme/unpriced'), 'model'],
    ['model_not_routable', hello('acme/echo', { provider: { only: 'plain' } }), 'provider.only'],
    ['model_not_routable', hello('acme/echo', { provider: { ignore: ['acme'] } }), 'provider.ignore'],
    [
      'model_not_routable',
      hello('acme/echo', { provider: { order: ['plain'], allow_fallbacks: false } }),
      'provider.order',
    ],
    ['invalid_request', hello('acme/echo', { provider: { only: ['acme', 'nobody'] } }), 'provider.only[1]'],
    ['invalid_request', hello('acme/echo', { temperature: 'hot' }), 'temperature'],
    ['feature_unsupported', hello('plain/echo', { tools: [{ type: 'function' }] }), 'tools'],
    ['feature_unsupported', hello('plain/echo', { response_format: { type: 'json_object' } }), 'response_format'],
    [
      'feature_unsupported',
      hello('plain/echo', { messages: [{ role: 'user', content: [{ type: 'text', text: 'See:' }, image] }] }),
      'messages[0].content[1]',
    ],
    ['feature_unsupported', hello('acme/echo', { service_tier: 'priority' }), 'service_tier'],
    ['structured_output_unsupported', hello('plain/echo', structured), 'response_format'],
    [
      'no_policy_compliant_provider',
      hello('acme/echo', { provider: { data_residency: 'eu' } }),
      'provider.data_residency',
    ],
    ['no_policy_compliant_provider', hello('acme/echo', { provider: { zdr: true } }), 'provider.zdr'],
    ['price_cap_exceeded', hello('acme/echo', { provider: { max_price: 0 } }), 'provider.max_price'],
    ['invalid_sort', hello('acme/echo', { provider: { sort: 'luck' } }), 'provider.sort'],
    ['preset_not_found', hello('acme/echo', { preset: 'none' }), 'preset'],
    ['invalid_function_request', hello('gw/function/label', { temperature: 1 }), 'temperature'],
    ['invalid_function_request', hello('gw/function/label', { user: 7 }), 'user'],
    [
      'invalid_function_request',
      hello('gw/function/label', { messages: [{ role: 'system', content: 'x' }] }),
      'messages',
    ],
    ['invalid_function_alias', hello('gw/function/'), 'model'],
    ['function_not_found', hello('gw/function/none'), 'model'],
    // A header is no field of the body.
    ['invalid_function_alias', hello('gw/function/label'), null, { 'idempotency-key': 'no-uuid' }],
    ['invalid_correlation', hello('acme/echo'), null, { 'x-gw-span-id': 'a b' }],
    ['byok_not_enabled', hello('acme/echo', { provider: { only: 'acme' } }), null, { 'x-byok-key': 'sk-client' }],
    ['provider_not_configured', hello('unset/echo'), null],
    ['no_available_provider', hello('acme/error-500'), null],
  ])('names the member of the body that is at fault, if one is: %s %j', async (code, body, param, headers = {}) => {
    const { error } = (await (await post(body, headers)).json()) as OpenAiError;
    expect({ code: error.code, param: error.param }).toEqual({ code, param });
  });

  it('names no field of the body if the workspace enforces what excludes every provider', async () => {
    const response = await post(hello('acme/echo'), { authorization: `Bearer ${strict}` });
    const { error } = (await response.json()) as OpenAiError;
    expect({ code: error.code, param: error.param }).toEqual({ code: 'no_policy_compliant_provider', param: null });
    for (const [more, param] of [
      [{ provider: { zdr: false } }, 'provider.zdr'],
      [{ store: true }, 'store'],
    ] as const) {
      const loosening = await post(hello('acme/echo', more), { authorization: `Bearer ${strict}` });
      const { error: loosened } = (await loosening.json()) as OpenAiError;
      expect(loosened).toMatchObject({ code: 'data_policy_loosening_forbidden', param });
    }
  });

  it('has that form below /v1 only if the header asks for it', async () => {
    const plain = (await (await postTo('/v1', hello('acme/nothing'))).json()) as { error: unknown };
    expect(plain.error).toBe('unknown_model');
    const response = await postTo('/v1', hello('acme/nothing'), { 'x-gw-error-format': 'openai' });
    expect(((await response.json()) as OpenAiError).error.code).toBe('unknown_model');
    const other = await postTo('/v1', hello('acme/nothing'), { 'x-gw-error-format': 'xml' });
    expect(((await other.json()) as { error: unknown }).error).toBe('unknown_model');
  });

  it('of a stream that broke is its last line: no end marker follows', async () => {
    const lines = dataLines(await (await post(hello('acme/error-after-chunks:2', { stream: true }))).text());
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ error: { code: 'no_available_provider' } });
    expect(lines).not.toContain('[DONE]');
    const below = dataLines(await (await postTo('/v1', hello('acme/error-after-chunks:2', { stream: true }))).text());
    expect(below.at(-1)).toBe('[DONE]');
  });
});

describe('a stream with a schema', () => {
  const streamBody = (model: string, more = {}) => hello(model, { stream: true, ...structured, ...more });

  it('is relayed as it comes, and ends well if its answer satisfies the schema', async () => {
    const response = await post(streamBody('acme/echo'));
    const lines = dataLines(await response.text());
    expect(response.status).toBe(200);
    expect(lines.at(-1)).toBe('[DONE]');
    const text = lines
      .slice(0, -1)
      .map((line) => JSON.parse(line).choices?.[0]?.delta?.content ?? '')
      .join('');
    expect(typeof JSON.parse(text).a).toBe('string');
  });

  it('ends with an error line if its answer does not, and no other is called', async () => {
    gateway.simulator.clear();
    const lines = dataLines(await (await post(streamBody('acme/invalid-json:mismatch'))).text());
    const { error } = JSON.parse(lines.at(-1) ?? '');
    expect(error).toMatchObject({
      code: 'schema_validation_failed',
      message: expect.stringMatching(/ It fails at \/.*: \w+\.$/),
    });
    expect(gateway.simulator.calls).toHaveLength(1);
    await gateway.settled();
    const mismatches = (await gateway.records()).map(({ attemptLog }) => attemptLog?.[0]?.schemaMismatch);
    expect(mismatches.filter((mismatch) => mismatch !== undefined)).toHaveLength(1);
  });

  it('does not satisfy it inside a code fence, which is relayed with it; in JSON the fence is removed', async () => {
    const lines = dataLines(await (await post(streamBody('acme/fenced-json'))).text());
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ error: { code: 'schema_validation_failed' } });
    expect((await post(hello('acme/fenced-json', structured))).status).toBe(200);
  });

  it('that was cut is the client’s to read', async () => {
    const lines = dataLines(await (await post(streamBody('acme/truncated-json'))).text());
    expect(lines.at(-1)).toBe('[DONE]');
    const json = await post(hello('acme/truncated-json', structured));
    expect(json.status).toBe(200);
    await json.text();
  });

  it('is refused below /v1, and no provider is called', async () => {
    gateway.simulator.clear();
    const response = await postTo('/v1', streamBody('acme/echo'));
    expect(((await response.json()) as { error: string }).error).toBe('schema_streaming_unsupported');
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe('what frameworks send', () => {
  const idle = { stream: false, n: 1, tools: [], store: false, parallel_tool_calls: true, temperature: null };

  it('fields that ask for nothing pass on a function alias, and are refused below /v1', async () => {
    const call = hello('gw/function/label', idle);
    expect((await post(call)).status).toBe(200);
    const refusal = (await (await postTo('/v1', call)).json()) as { error: string };
    expect(refusal.error).toBe('invalid_function_request');
  });

  it('fields that ask for nothing are no input of a retry of a function, and others are', async () => {
    gateway.simulator.clear();
    const key = { 'idempotency-key': '01890000-0000-7000-8000-00000000000a' };
    const answers = [await post(hello('gw/function/label', idle), key), await post(hello('gw/function/label'), key)];
    expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await answers[1]?.text()).toBe(await answers[0]?.text());
    const other = (await (await post(hello('gw/function/label', { ...idle, user: 'u' }), key)).json()) as OpenAiError;
    expect(other.error.code).toBe('idempotency_conflict');
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('fields that a function fixes are refused whatever their type', async () => {
    for (const more of [{ temperature: 'hot' }, { stream: true }, { response_format: 7 }]) {
      const { error } = (await (await post(hello('gw/function/label', more))).json()) as OpenAiError;
      expect(error.code).toBe('invalid_function_request');
    }
  });

  it('a malformed traceparent is ignored, and refused below /v1', async () => {
    const headers = { traceparent: 'nonsense' };
    expect((await post(hello('acme/echo'), headers)).status).toBe(200);
    const refusal = (await (await postTo('/v1', hello('acme/echo'), headers)).json()) as { error: string };
    expect(refusal.error).toBe('invalid_correlation');
  });

  it('a malformed traceparent is no input of a retry, which gets the stored answer whatever it sends there', async () => {
    gateway.simulator.clear();
    const key = { 'idempotency-key': 'odd-trace' };
    const answers: string[] = [];
    for (const traceparent of ['nonsense', 'odd-1', 'odd-2']) {
      answers.push(await (await post(hello('acme/echo'), { ...key, traceparent })).text());
    }
    answers.push(await (await post(hello('acme/echo'), key)).text());
    expect(new Set(answers).size).toBe(1);
    expect(gateway.simulator.calls).toHaveLength(1);
  });
});
