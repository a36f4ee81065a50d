// Records of refused calls: the owner and the operator see at each `x-request-id` of a client why the call was refused.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { operatorCallDocument } from '../../shared/accounting/call-records/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { plainBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { type ErrorBody, uuid } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

describe('refusals and replays', () => {
  const [first, slow, expired, poor, narrow] = [newKey(), newKey(), newKey(), newKey(), newKey()];
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const name = { 'idempotency-key': 'a-name' };
  const callHeaders = { 'x-title': 'Agent', 'x-session-id': 'session-7' };

  let clock: ManualClock;
  let harness: Harness;
  let around: <Value>(call: StoreCall, run: () => Promise<Value>) => Promise<Value>;

  beforeAll(async () => {
    clock = manualClock();
    const good = [{ provider: 'acme', upstream: 'echo' }];
    harness = await startHarness({
      clock,
      providers: { absent: { auth: { bearer: { env: 'GW_TEST_NOBODY_SETS_THIS' } } } },
      models: {
        'acme/echo': good,
        'acme/rejected': [{ provider: 'acme', upstream: 'error-400' }],
        'acme/busy': [{ provider: 'busy', upstream: 'error-429' }],
        'acme/absent': [{ provider: 'absent', upstream: 'echo' }],
      },
      workspace: {
        keys: [
          { name: 'first', key: first },
          { name: 'slow', key: slow, rpm: 1 },
          { name: 'poor', key: poor, spend_limit_usd: '0.000001' },
          { name: 'narrow', key: narrow, models: ['acme/busy'] },
          { name: 'gone', key: expired, expires_at: '2020-01-01T00:00:00Z' },
        ],
        functions: [{ ...promptFunction('off', 'acme/echo'), status: 'disabled' }],
      },
      moreWorkspaces: [{ id: 'strict', credit_usd: '1', data_policy: { zdr: true } }],
      wrapStore: (store) => aroundStore(store, (call, run) => around(call, run)),
    });
  });
  afterAll(() => harness?.stop());
  beforeEach(() => {
    around = (_call, run) => run();
    // No other test has records in the same second.
    clock.advance(60_000);
  });

  async function refusedBy(body: unknown, key = first, headers: Record<string, string> = {}) {
    const response = await harness.post(body, { ...as(key), ...callHeaders, ...headers });
    const error = (await response.json()) as ErrorBody;
    await harness.settled();
    return { status: response.status, error, id: response.headers.get('x-request-id') ?? '' };
  }

  async function generation(id: string) {
    const response = await harness.get(`/generation?id=${id}`, as(first));
    return { status: response.status, data: ((await response.json()) as { data?: Record<string, unknown> }).data };
  }

  const recordCount = async () => (await harness.records()).length;

  describe('a call that was refused', () => {
    it.each([
      ['a body that is no JSON', 400, 'invalid_request', '{', null],
      ['a member of the wrong type', 400, 'invalid_request', hello('acme/echo', { stream: 'yes' }), 'acme/echo'],
      ['a body over the hard size', 413, 'request_too_large', 'x'.repeat(plainBodyMaxBytes + 1), null],
      ['a model that is none', 400, 'unknown_model', hello('acme/none'), 'acme/none'],
      ['too little money', 402, 'PAYMENT_REQUIRED', hello('acme/echo', { max_tokens: 2 ** 50 }), 'acme/echo'],
      ['an unknown preset', 404, 'preset_not_found', hello('acme/echo', { preset: 'none' }), 'acme/echo'],
      ['a function that is off', 409, 'function_disabled', hello('gw/function/off'), 'gw/function/off'],
      ['a policy', 422, 'no_policy_compliant_provider', hello('acme/echo', { provider: { zdr: true } }), 'acme/echo'],
      ['a missing credential', 503, 'provider_not_configured', hello('acme/absent'), 'acme/absent'],
    ] as const)('for %s is found with %i %s and its message', async (_why, status, code, body, model) => {
      const refusal = await refusedBy(body);
      expect(refusal).toMatchObject({ status, error: { error: code } });
      const found = await generation(refusal.id);
      expect(found).toMatchObject({
        status: 200,
        data: {
          id: refusal.id,
          execution_id: refusal.id,
          status,
          outcome: code,
          error_code: code,
          error_message: refusal.error.message,
          model_asked: model,
          model: null,
          provider: null,
          attempts: [],
          cost_usd: '0',
          key_name: 'first',
          title: 'Agent',
          session_id: 'session-7',
          function_id: model === 'gw/function/off' ? 'off' : null,
        },
      });
      const line =
        harness.logLines.find((text) => text.includes(refusal.id) && text.includes('"event":"request"')) ?? '';
      expect(JSON.parse(line)).toMatchObject({ outcome: code, workspace_id: 'team', key_name: 'first' });
    });

    it('for a model outside the list of its key is distinguishable for the operator, and for no client', async () => {
      const outcomes = [];
      for (const model of ['acme/echo', 'acme/none']) {
        const refusal = await refusedBy(hello(model), narrow);
        expect(refusal).toMatchObject({ status: 400, error: { error: 'unknown_model' } });
        expect(refusal.error.message).toMatch(`There is no model "${model}".`);
        const response = await harness.get(`/generation?id=${refusal.id}`, as(narrow));
        expect(await response.text()).not.toMatch(/unlisted|in the catalogue/);
        const record = (await harness.records()).find(({ correlationId }) => correlationId === refusal.id);
        const line = harness.logLines.find((text) => text.includes(refusal.id) && text.includes('"event":"request"'));
        outcomes.push([record && operatorCallDocument(record).note, JSON.parse(line ?? '{}').unlisted_model]);
      }
      expect(outcomes).toEqual([
        [expect.stringContaining('the list of models of the key'), true],
        [null, undefined],
      ]);
    });

    it('for its limits, or a name that is taken, is found under its own id', async () => {
      expect(await outcomeOf(await harness.post(hello('acme/echo'), as(slow)))).toBe('ok');
      expect(await outcomeOf(await harness.post(hello('acme/echo'), { ...as(first), ...name }))).toBe('ok');
      const limitRefusal = await refusedBy(hello('acme/echo'), slow);
      const conflict = await refusedBy(hello('acme/echo', { seed: 1 }), first, name);
      const exhaustedRefusal = await refusedBy(hello('acme/echo'), poor);
      const found = await Promise.all(
        [limitRefusal, conflict, exhaustedRefusal].map(async ({ id }) => (await generation(id)).data),
      );
      expect(found).toMatchObject([
        { status: 429, error_code: 'api_key_rate_limit', key_name: 'slow', model_asked: 'acme/echo' },
        { status: 409, error_code: 'idempotency_conflict', key_name: 'first' },
        { status: 402, error_code: 'PAYMENT_REQUIRED', key_name: 'poor' },
      ]);
    });

    it.each([
      ['acme/rejected', 400, 'invalid_request', 'acme', 400, 'Invalid value'],
      ['acme/busy', 429, 'rate_limited', 'busy', 429, 'Rate limit'],
    ] as const)('by the provider of %s has its status, and for the operator its words', async (...facts) => {
      const [model, status, code, provider, providerStatus, words] = facts;
      const refusal = await refusedBy(hello(model));
      expect(refusal).toMatchObject({ status, error: { error: code } });
      const found = await generation(refusal.id);
      const attempt = { provider, outcome: `status_${providerStatus}`, status: providerStatus, ms: expect.any(Number) };
      expect(found.data).toMatchObject({ status, error_code: code, error_message: refusal.error.message });
      expect(found.data?.attempts).toEqual([attempt]);
      const record = (await harness.records()).find(({ correlationId }) => correlationId === refusal.id);
      const { attempts } = operatorCallDocument(record as NonNullable<typeof record>);
      expect(attempts).toEqual([{ ...attempt, provider_text: expect.stringContaining(words) }]);
    });

    it('leaves nothing if its key is unknown or its secret is wrong', async () => {
      const before = await recordCount();
      const tables: string[] = [];
      around = (call, run) => {
        tables.push(call.table);
        return run();
      };
      expect(await refusedBy('x'.repeat(plainBodyMaxBytes + 1), newKey())).toMatchObject({ status: 413 });
      const unknown = newKey();
      const ofExpired = `${expired.slice(0, expired.lastIndexOf('-'))}${unknown.slice(unknown.lastIndexOf('-'))}`;
      for (const key of [unknown, ofExpired, 'no-key-at-all']) {
        expect(await refusedBy(hello('acme/echo'), key)).toMatchObject({ status: 401 });
        expect(await refusedBy(hello('gw/function/off'), key)).toMatchObject({ status: 401 });
      }
      expect(tables).not.toContain('records');
      expect(await recordCount()).toBe(before);
    });

    it('because its key has expired is found in the records of its workspace', async () => {
      const before = await recordCount();
      const { status, error, id } = await refusedBy(hello('acme/echo'), expired);
      expect({ status, error }).toMatchObject({ status: 401, error: { error: 'UNAUTHORIZED' } });
      expect((await generation(id)).data).toMatchObject({
        status,
        error_code: 'UNAUTHORIZED',
        error_message: error.message,
        key_name: 'gone',
      });
      expect(await recordCount()).toBe(before + 1);
    });

    it('has a record of its own for five in a second and key, and a log line however many there are', async () => {
      const before = await recordCount();
      const refusals = await Promise.all(Array.from({ length: 8 }, () => refusedBy(hello('acme/none'))));
      expect(await recordCount()).toBe(before + 5);
      const statuses = await Promise.all(refusals.map(async ({ id }) => (await generation(id)).status));
      expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 404, 404, 404]);
      for (const { id, error } of refusals) {
        const line = harness.logLines.find((text) => text.includes(id) && text.includes('"event":"request"')) ?? '';
        expect(JSON.parse(line)).toMatchObject({ outcome: 'unknown_model', message: error.message });
      }
      // Another key has five records a second of its own.
      const others = await Promise.all(Array.from({ length: 2 }, () => refusedBy(hello('acme/none'), poor)));
      expect(await Promise.all(others.map(async ({ id }) => (await generation(id)).status))).toEqual([200, 200]);
      clock.advance(999);
      expect((await generation((await refusedBy(hello('acme/none'))).id)).status).toBe(404);
      clock.advance(1);
      expect((await generation((await refusedBy(hello('acme/none'))).id)).status).toBe(200);
    });

    it('is answered before its record is written, and many are written together', async () => {
      const open = Promise.withResolvers<void>();
      let writes = 0;
      around = async (call, run) => {
        if (call.table === 'records') writes += 1;
        if (call.table === 'records') await open.promise;
        return run();
      };
      const bodies = Array.from({ length: 5 }, () => harness.post(hello('acme/none'), as(first)));
      for (const response of await Promise.all(bodies)) expect(await outcomeOf(response)).toBe('unknown_model');
      open.resolve();
      await harness.settled();
      expect(writes).toBe(2);
    });

    it('because the store does not answer is recorded when it does again', async () => {
      expect(await outcomeOf(await harness.post(hello('acme/echo'), as(first)))).toBe('ok');
      around = (call, run) => {
        if (call.table === 'ledger') throw new StoreUnavailable(new Error('injected'));
        return run();
      };
      const refusal = await refusedBy(hello('acme/echo'));
      expect(refusal).toMatchObject({ status: 503, error: { error: 'RATE_LIMITER_UNAVAILABLE' } });
      expect((await generation(refusal.id)).data).toMatchObject({
        status: 503,
        error_code: 'RATE_LIMITER_UNAVAILABLE',
      });
    });
  });

  describe('a replay', () => {
    it.each([false, true])('is found under its own id as one of the first call (stream: %s)', async (stream) => {
      const headers = { ...as(first), 'idempotency-key': `replayed-${stream}` };
      const answers = [];
      for (let turn = 0; turn < 2; turn += 1) {
        const response = await harness.post(hello('acme/echo', { stream }), headers);
        expect(await outcomeOf(response)).toBe('ok');
        await harness.settled();
        answers.push((await generation(response.headers.get('x-request-id') ?? '')).data);
      }
      const [once, again] = answers;
      expect(once).toMatchObject({ replay_of: null, cost_usd: expect.stringMatching(/[1-9]/) });
      expect(again).toMatchObject({
        replay_of: once?.id,
        outcome: 'ok',
        status: 200,
        model: 'acme/echo',
        provider: 'acme',
        attempts: [],
        cost_usd: '0',
        prompt_tokens: 0,
        completion_tokens: 0,
        stream,
      });
      expect(again?.id).not.toBe(once?.id);
    });
  });
});

// The record of a call says who made it, which model answered, how long it took and what it cost; it has exactly these
// fields.
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the record of a call', () => {
  let harness: Harness;
  let clock: ManualClock;

  beforeAll(async () => {
    clock = manualClock();
    const more = { cached_input_price_per_million: '0.50' };
    harness = await startHarness({
      clock,
      models: {
        'acme/cached': [{ provider: 'acme', upstream: 'usage:1000:500:400', more }],
        'acme/bad': [
          { provider: 'acme', upstream: 'error-503' },
          { provider: 'worse', upstream: 'error-429:x:7', more: { output_price_per_million: '9' } },
        ],
      },
      modelMembers: { 'acme/cached': { auto: true } },
    });
  });
  afterAll(() => harness.stop());

  it('has exactly these fields after an answer', async () => {
    const headers = {
      traceparent,
      'x-gw-span-id': 'span-1',
      'x-gw-parent-span-id': 'parent-1',
      'x-session-id': 'session-1',
      'http-referer': 'https://user:secret@app.example/path?token=secret#secret',
      'x-title': 'My app',
    };
    const response = await harness.post(hello('auto', { user: 'u', temperature: 0 }), headers);
    expect(await outcomeOf(response)).toBe('ok');
    await harness.settled();
    const [record, ...others] = await harness.records();
    expect(others).toEqual([]);
    expect(record).toEqual({
      workspace: 'team',
      interfaceId: 'chat-completions',
      format: 'chat-completions',
      executionId: expect.stringMatching(uuid),
      arrivedAtMs: clock.nowMs(),
      keyPublicId: parseApiKey(harness.key)?.publicId,
      keyName: 'first',
      referer: 'https://app.example/path',
      title: 'My app',
      correlationId: response.headers.get('x-request-id'),
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: 'span-1',
      parentSpanId: 'parent-1',
      sessionId: 'session-1',
      user: 'u',
      modelAsked: 'auto',
      modelServed: 'acme/cached',
      provider: 'acme',
      stream: false,
      cacheHit: false,
      isByok: false,
      outcome: 'ok',
      attempts: 1,
      basePath: '/v1',
      attemptCauses: [],
      attemptLog: [{ provider: 'acme', outcome: 'ok', status: 200, ms: 0 }],
      promptTokens: 1000,
      cachedTokens: 400,
      cacheWriteTokens: 0,
      completionTokens: 500,
      reasoningTokens: 0,
      estimated: false,
      // The call costs 600 tokens at 1 USD, 400 at 0.50 USD and 500 at 2 USD a million.
      costPicoUsd: 1_800_000_000n,
      queuedMs: 0,
      firstOutputMs: 0,
      totalMs: 0,
      gatewayMs: 0,
      timeLine: [
        { part: 'admission', startMs: 0, ms: 0 },
        { part: 'attempt', at: 0, startMs: 0, ms: 0 },
        { part: 'settlement', startMs: 0, ms: 0 },
      ],
    });
  });

  it('names what failed in words of ours, and no provider that did not answer', async () => {
    expect(await outcomeOf(await harness.post(hello('acme/bad', { stream: true })))).toBe('no_available_provider');
    await harness.settled();
    const record = (await harness.records()).find(({ modelAsked }) => modelAsked === 'acme/bad');
    expect(record).toMatchObject({
      outcome: 'no_available_provider',
      attempts: 2,
      attemptCauses: [expect.stringMatching(/^[a-z0-9_]+$/), expect.stringMatching(/^[a-z0-9_]+$/)],
      stream: true,
      costPicoUsd: 0n,
      errorMessage: expect.stringMatching(/^All eligible providers failed\./),
    });
    expect(record).not.toHaveProperty('provider');
    expect(record).not.toHaveProperty('modelServed');
  });

  it('holds no prompt, no answer and no key, and no table does', async () => {
    const secrets = ['prompt-canary-17', 'system-canary-18', 'tool-canary-19', 'metadata-canary-20'];
    const body = {
      model: 'acme/cached',
      messages: [
        { role: 'system', content: secrets[1] },
        { role: 'user', content: secrets[0] },
      ],
      tools: [{ type: 'function', function: { name: secrets[2] } }],
      metadata: { note: secrets[3] },
    };
    expect(await outcomeOf(await harness.post(body))).toBe('ok');
    await harness.settled();
    const dump = await harness.testStore.dumpTables();
    const log = harness.logLines.join('');
    for (const secret of [...secrets, harness.key, harness.key.slice(-49)]) {
      expect(dump).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
  });
});
