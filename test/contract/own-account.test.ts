// The account interface of a key: its limits, the credit of its workspace, and one of its calls.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createOperator } from '../../shared/configuration/administration/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { aroundStore } from '../support/wrapped-store.ts';
import { differencesOf, operationOf } from './api-description.ts';

const [main, limitedKey, slow, other, expired, holding, asking] = Array.from({ length: 7 }, newKey) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const as = (key: string) => ({ authorization: `Bearer ${key}` });

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'usage:1000:500:0:0' }],
      'acme/rescued': [
        { provider: 'globex', upstream: 'error-500' },
        { provider: 'acme', upstream: 'usage:1000:500:0:0' },
      ],
    },
    workspace: {
      keys: [
        { name: 'first', key: main },
        {
          name: 'limited',
          key: limitedKey,
          rpm: 100,
          spend_limit_usd: '5.00',
          spend_limit_reset: 'monthly',
          expires_at: '2099-01-01T00:00:00Z',
          models: ['acme/echo'],
        },
        { name: 'slow', key: slow, rpm: 2 },
        { name: 'expired', key: expired, expires_at: '2020-01-01T00:00:00Z' },
      ],
    },
    moreWorkspaces: [
      { id: 'asking', credit_usd: '1', keys: [{ name: 'k', key: asking }] },
      { id: 'elsewhere', credit_usd: '1', keys: [{ name: 'k', key: other }] },
      { id: 'holding', credit_usd: '1', keys: [{ name: 'k', key: holding, spend_limit_usd: '1' }] },
    ],
  });
});
afterAll(() => gateway?.stop());

const read = async (path: string, key: string) => {
  const response = await gateway.get(path, as(key));
  return { status: response.status, body: (await response.json()) as { data: Record<string, unknown> } };
};

const call = async (model: string, key: string, more: Record<string, unknown> = {}) => {
  const response = await gateway.post(hello(model, more), { ...as(key), 'x-gw-session-id': 'a-session' });
  expect(response.status).toBe(200);
  await response.text();
  await gateway.settled();
  return response.headers.get('x-request-id') ?? '';
};

/**
 * Opens a gateway whose writes wait for `release` from the first provider call on, except those that count a key's
 * requests.
 */
async function openHeld(beforeRead: () => Promise<void> | undefined = () => undefined) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const clock = manualClock(Date.now());
  const isHeld = () => gateway.simulator.calls.length > 0;
  gateway.simulator.clear();
  const held = await gateway.open({
    clock,
    wrapStore: (store) =>
      aroundStore(store, async ({ method, table }, run) => {
        if (method === 'get' && isHeld()) await beforeRead();
        if (method !== 'get' && table !== 'keys' && isHeld()) await promise;
        return run();
      }),
  });
  return { held, clock, release: resolve };
}

describe('what a call leaves behind', () => {
  it('is there for the client that asks as soon as it has its answer, and for an operator: its record, its cost', async () => {
    const { text: ada } = await createOperator(gateway.composition, 'ada');
    const { held, release } = await openHeld();
    const answer = await held.post(hello('acme/echo'), as(asking));
    await answer.text();
    const id = answer.headers.get('x-request-id');
    const paths = [
      [`/generation?id=${id}`, asking] as const,
      ['/credits', asking] as const,
      [`/manage/calls/${id}`, ada] as const,
    ];
    const reading = Promise.all(paths.map(async ([path, key]) => (await held.get(path, as(key))).json()));
    for (let round = 0; round < 20; round++) await fetch(new URL('/health', held.url));
    release();
    const [call, credit] = [{ id, cost_usd: '0.002' }, { total_usage: '0.002' }];
    expect(await reading).toMatchObject([{ data: call }, { data: credit }, { data: call }]);
    await held.settled();
  });

  it('is waited for two seconds and no longer, and then the store has its own two seconds', async () => {
    const started = Promise.withResolvers<void>();
    const answerArrival = Promise.withResolvers<void>();
    let isReading = false;
    const { held, clock, release } = await openHeld(() => {
      if (!isReading) return undefined;
      started.resolve();
      return answerArrival.promise;
    });
    await (await held.post(hello('acme/echo'), as(asking))).text();
    isReading = true;
    const reading = held.get('/credits', as(asking));
    // Each of these requests passes through the whole server, so the request before them has arrived long before the
    // last of them is answered.
    for (let round = 0; round < 20; round++) await fetch(new URL('/health', held.url));
    clock.advance(2_000);
    await started.promise;
    clock.advance(1_500);
    answerArrival.resolve();
    const { status } = await reading;
    release();
    await held.settled();
    expect(status).toBe(200);
  });
});

describe('GET /v1/key', () => {
  it('shows the rules of the key and what it has spent, to the last digit', async () => {
    await call('acme/echo', limitedKey);
    expect(await read('/key', limitedKey)).toEqual({
      status: 200,
      body: {
        data: {
          name: 'limited',
          workspace: 'team',
          status: 'active',
          rpm: 100,
          limit_usd: '5',
          limit_reset: 'monthly',
          usage_usd: '0.002',
          limit_remaining_usd: '4.998',
          expires_at: '2099-01-01T00:00:00.000Z',
          models: ['acme/echo'],
          is_free_tier: false,
        },
      },
    });
  });

  it('has null if nothing limits the key, and what it has spent all the same', async () => {
    await call('acme/echo', other);
    expect((await read('/key', other)).body.data).toEqual({
      name: 'k',
      workspace: 'elsewhere',
      status: 'active',
      rpm: null,
      limit_usd: null,
      limit_reset: null,
      usage_usd: '0.002',
      limit_remaining_usd: null,
      expires_at: null,
      models: null,
      is_free_tier: false,
    });
  });

  it('counts against the requests per minute of the key, and costs nothing', async () => {
    const { spent } = await gateway.credit();
    expect([(await read('/key', slow)).status, (await read('/credits', slow)).status]).toEqual([200, 200]);
    for (const path of ['/key', '/credits', '/generation?id=x']) {
      const response = await gateway.get(path, as(slow));
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      await expectError(response, 429, 'api_key_rate_limit');
    }
    await expectError(await gateway.post(hello('acme/echo'), as(slow)), 429, 'api_key_rate_limit');
    expect((await gateway.credit()).spent).toBe(spent);
  });
});

describe('GET /v1/credits', () => {
  it('shows what was given, spent and is left, of its own workspace', async () => {
    const { granted, spent } = await gateway.credit();
    expect(granted).toBe(100_000_000_000_000n);
    expect(spent).toBeGreaterThan(0n);
    const { data } = (await read('/credits', limitedKey)).body;
    expect(data).toEqual({ total_credits: '100', total_usage: '0.002', remaining: '99.998' });
    expect((await read('/credits', other)).body.data).toEqual({
      total_credits: '1',
      total_usage: '0.002',
      remaining: '0.998',
    });
  });
});

describe('a hold', () => {
  it('counts until it has expired, in what a key and its workspace have left', async () => {
    const { credit, counters } = gateway.composition;
    const account = { workspace: 'holding', spendLimit: null };
    const usd = (amount: number) => BigInt(amount * 100) * 10_000_000_000n;
    const keyOf = parseApiKey(holding);
    if (keyOf === undefined) throw new Error('the key of the test is one');
    for (const [owner, amount, expiresInMs] of [
      ['live', 0.25, 60_000],
      ['over', 0.5, -60_000],
    ] as const) {
      const hold = { owner, amount: usd(amount), expiresAtMs: Date.now() + expiresInMs };
      expect(await credit.take(account, hold)).toMatchObject({ kind: 'taken' });
      expect(await counters.admitKey({ ...keyOf, hold, countsRequest: false })).toMatchObject({ kind: 'admitted' });
    }
    expect((await read('/credits', holding)).body.data).toMatchObject({ total_usage: '0', remaining: '0.75' });
    expect((await read('/key', holding)).body.data).toMatchObject({ usage_usd: '0', limit_remaining_usd: '0.75' });
  });
});

describe('GET /v1/generation', () => {
  it('shows the record of one call by its x-request-id, as the API is described: each attempt, tokens, cost and names', async () => {
    const id = await call('acme/rescued', main, { stream: true, user: 'someone' });
    const plain = await call('acme/rescued', main);
    for (const one of [id, plain]) {
      const answer = await gateway.get(`/generation?id=${one}`, as(main));
      expect(await differencesOf(operationOf('GET', '/v1/generation'), answer)).toEqual([]);
    }
    const { body, status } = await read(`/generation?id=${id}`, main);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      execution_id: id,
      workspace: 'team',
      outcome: 'ok',
      model: 'acme/rescued',
      provider: 'acme',
      attempts: [
        { provider: 'globex', outcome: 'status_500', status: 500, ms: expect.any(Number) },
        { provider: 'acme', outcome: 'ok', status: 200, ms: expect.any(Number) },
      ],
      stream: true,
      prompt_tokens: 1000,
      cache_write_tokens: 0,
      completion_tokens: 500,
      reasoning_tokens: 0,
      cost_usd: '0.002',
      key_name: 'first',
      user: 'someone',
      session_id: 'a-session',
      trace_id: expect.any(String),
    });
    expect(JSON.stringify(body)).not.toContain('Hello');
    // Any key of the workspace may read the call.
    expect((await read(`/generation?id=${id.toUpperCase()}`, limitedKey)).body.data.id).toBe(id);
  });

  it('knows no call of another workspace, none of a key that is none, and no id that is none', async () => {
    const id = await call('acme/echo', main);
    const refusal = await gateway.post(hello('acme/echo'), as(newKey()));
    await refusal.text();
    await gateway.settled();
    const unknown = [
      [id, other],
      [refusal.headers.get('x-request-id'), main],
      ['01a20259-a9d1-7658-8559-d8e0dce60050', main],
      ['ffffffff-ffff-7fff-bfff-ffffffffffff', main],
      ['nothing', main],
    ] as const;
    for (const [requestedId, key] of unknown) {
      await expectError(await gateway.get(`/generation?id=${requestedId}`, as(key)), 404, 'not_found');
    }
  });

  it('says of a call with a key that has ended which key it was and since when it has', async () => {
    const refusal = await gateway.post(hello('acme/echo'), as(expired));
    await refusal.text();
    await gateway.settled();
    const found = await gateway.get(`/generation?id=${refusal.headers.get('x-request-id')}`, as(main));
    const { data } = (await found.json()) as { data: object };
    expect(data).toMatchObject({
      status: 401,
      error_code: 'UNAUTHORIZED',
      error_message: expect.stringMatching(/^The API key expired at \d{4}-/),
      key_name: 'expired',
      attempts: [],
    });
  });

  it.each(['', '?id=', '?id=a&id=b', '?ID=a'])('refuses a query that names no call: %s', async (query) => {
    const { message } = await expectError(await gateway.get(`/generation${query}`, as(main)), 400, 'invalid_request');
    expect(message).toContain('id');
  });

  it('is one read of one item', async () => {
    const id = await call('acme/echo', main);
    const reads: string[] = [];

    const watchedGateway = await gateway.open({
      wrapStore: (store) =>
        aroundStore(store, ({ method, table }, run) => {
          if (table === 'records') reads.push(method);
          return run();
        }),
    });
    expect((await watchedGateway.get(`/generation?id=${id}`, as(main))).status).toBe(200);
    expect(reads).toEqual(['get']);
  });
});

describe.each(['/key', '/credits', '/generation?id=x'])('GET /v1%s', (path) => {
  it('asks for a key that is known, active and not expired, for GET below /v1, and for correlation that is well formed', async () => {
    await expectError(await fetch(`${gateway.url}${path}`), 401, 'UNAUTHORIZED');
    await expectError(await gateway.get(path, as(newKey())), 401, 'UNAUTHORIZED');
    await expectError(await gateway.get(path, as(expired)), 401, 'UNAUTHORIZED');
    await expectError(await gateway.get(path, { ...as(main), 'x-gw-trace-id': '?' }), 400, 'invalid_correlation');
    const posted = await fetch(`${gateway.url}${path}`, { method: 'POST', headers: as(main) });
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    await expectError(posted, 405, 'method_not_allowed');
    const openai = await fetch(`${new URL(gateway.url).origin}/openai/v1${path}`, { headers: as(main) });
    expect([openai.status, await openai.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  it('is refused while the store does not answer, and says when to come back', async () => {
    const down = () => Promise.reject(new StoreUnavailable('down'));
    const gatewayWithoutStore = await gateway.open({
      wrapStore: (store) => ({ ...store, get: down, update: down }),
    });
    const response = await gatewayWithoutStore.get(path, as(main));
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
  });

  it('answers as the description of the API says', async () => {
    const operation = operationOf('GET', `/v1${path.split('?')[0]}`);
    const answers = [
      await gateway.get(path, as(main)),
      await gateway.get(path, as(limitedKey)),
      await gateway.get(path, as(newKey())),
      await gateway.get(path, { ...as(main), traceparent: '?' }),
      await fetch(`${gateway.url}${path}`, { method: 'DELETE' }),
    ];
    for (const answer of answers) expect(await differencesOf(operation, answer)).toEqual([]);
  });
});
