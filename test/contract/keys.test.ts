import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { createApiKey, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type FileParts, newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { countOutcomes, outcomeOf } from '../support/outcomes.ts';

describe('a key', () => {
  let gateway: Harness;
  const [revokedKey, expired] = [newKey(), newKey()];

  beforeAll(async () => {
    gateway = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      moreWorkspaces: [
        {
          id: 'gone',
          keys: [
            { name: 'old', key: revokedKey, status: 'revoked' },
            { name: 'over', key: expired, expires_at: '2020-01-01' },
          ],
        },
      ],
    });
  });
  afterAll(() => gateway.stop());

  const post = (authorization: string | undefined, body: unknown = hello('acme/echo')) =>
    fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is taken whatever the case of its scheme: %s', async (scheme) => {
    const response = await post(`${scheme} ${gateway.key}`);
    expect(response.status).toBe(200);
    await response.text();
  });

  it('that is missing or malformed is refused, and neither a body is looked at nor a provider called', async () => {
    gateway.simulator.clear();
    const { key } = gateway;
    const flipped = `${key.slice(0, 30)}${key[30] === 'A' ? 'B' : 'A'}${key.slice(31)}`;
    const malformed = [
      undefined,
      '',
      'Bearer',
      key,
      `Basic ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key} x`,
      `Bearer ${key},${key}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer "${key}"`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${flipped}`,
      'Bearer sk-gw-',
      'Bearer null',
      `Bearer ${'a'.repeat(8_000)}`,
    ];
    for (const authorization of malformed) {
      await expectError(await post(authorization, 'not even JSON'), 401, 'UNAUTHORIZED');
    }
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('is refused in words that say why, name no header, and are the same on every route and in the log', async () => {
    const other = newKey();
    const why: readonly [authorization: string | undefined, words: RegExp][] = [
      [undefined, /^No API key was sent\./],
      ['Bearer ', /^No API key was sent\./],
      [gateway.key, /does not begin with `Bearer `/],
      [`Basic ${gateway.key}`, /does not begin with `Bearer `/],
      [`Bearer ${gateway.key}x`, /does not have the form of a key of this gateway/],
      ['Bearer sk-ant-api03-abc', /does not have the form of a key of this gateway/],
      [`Bearer ${other}`, /^This gateway has no such API key\.$/],
      [`Bearer ${revokedKey}`, /^The API key was revoked\.$/],
      [`Bearer ${expired}`, /^The API key expired at 2020-01-01T00:00:00\.000Z\.$/],
    ];
    const base = gateway.url.slice(0, -'/v1'.length);
    const posts = [
      '/v1/chat/completions',
      '/openai/v1/responses',
      '/v1/embeddings',
      '/v1/messages',
      '/v1/messages/count_tokens',
    ];
    for (const [authorization, words] of why) {
      const headers = authorization === undefined ? {} : { authorization };
      const asks = [
        ...posts.map((path) => fetch(base + path, { method: 'POST', headers, body: '{}' })),
        ...['/v1/models', '/v1/key'].map((path) => fetch(base + path, { headers })),
      ];
      for (const response of await Promise.all(asks)) {
        expect({ status: response.status, retry: response.headers.get('x-should-retry') }).toEqual({
          status: 401,
          retry: 'false',
        });
        const text = await response.text();
        const { message, error } = JSON.parse(text);
        expect(message ?? error.message).toMatch(words);
        expect(text.toLowerCase()).not.toContain('x-api-key');
      }
    }
    await gateway.settled();
    const lines = gateway.logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
    for (const [, words] of why)
      expect(lines.some(({ status, message }) => status === 401 && words.test(message))).toBe(true);
    const both = { authorization: `Bearer ${other}`, 'x-api-key': gateway.key };
    const response = await fetch(`${gateway.url}/messages`, { method: 'POST', headers: both, body: '{}' });
    expect(await response.text()).toMatch(
      /Two different API keys of this gateway .* Unset one of the variables ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN/,
    );
  });

  it('that was never given out stays UNAUTHORIZED on a function call', async () => {
    await expectError(await post(`Bearer ${newKey()}`, hello('gw/function/summary')), 401, 'UNAUTHORIZED');
    await expectError(await post('Bearer sk-gw-nonsense', hello('gw/function/summary')), 401, 'UNAUTHORIZED');
  });

  it('of another secret under a known public id is refused', async () => {
    const digits = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
    const [, , publicId = ''] = gateway.key.split('-');
    // The key has a drawn public id and any secret, with a correct checksum.
    const forged = createApiKey({
      ...systemRandomness,
      bytes: (length) =>
        length === publicId.length
          ? Buffer.from([...publicId].map((digit) => digits.indexOf(digit)))
          : systemRandomness.bytes(length),
    });
    expect(parseApiKey(forged)?.publicId).toBe(publicId);
    await expectError(await post(`Bearer ${forged}`), 401, 'UNAUTHORIZED');
    await expectError(await gateway.get('/models', { authorization: `Bearer ${forged}` }), 401, 'UNAUTHORIZED');
  });
});

// Keys on warm instances: their requests per minute are exact across gateways, and a revoked key ends with its next
// request.
const models: FileParts['models'] = { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] };

describe('a key of a warm instance', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('with a limit has exactly that many requests in any minute, across two gateways', async () => {
    const clock = manualClock();
    // This time is in the middle of a period that is counted together.
    clock.advance(3_210);
    harness = await startHarness({ clock, models, key: { rpm: 7 } });
    const doors = [harness, await harness.open()];
    const calls = () =>
      Array.from({ length: 20 }, async (_none, at) => doors[at % 2]?.post(hello('acme/echo')) as never);
    expect(await countOutcomes(calls())).toEqual({ ok: 7, api_key_rate_limit: 13 });
    expect(harness.simulator.calls).toHaveLength(7);
    clock.advance(30_000);
    const refusal = await harness.post(hello('acme/echo'));
    expect(refusal.headers.get('retry-after')).toBe('30');
    expect(refusal.headers.get('x-should-retry')).toBeNull();
    await expectError(refusal, 429, 'api_key_rate_limit');
    clock.advance(29_999);
    expect(await countOutcomes(calls())).toEqual({ api_key_rate_limit: 20 });
    clock.advance(1);
    expect(await countOutcomes(calls())).toEqual({ ok: 7, api_key_rate_limit: 13 });
    expect(harness.simulator.calls).toHaveLength(14);
  });

  it('without a limit has that of its stage if there is one, which refusals name, and any number elsewhere', async () => {
    const clock = manualClock();
    harness = await startHarness({ clock, models });
    const bounded = await harness.open({ clock, keyRequestsPerMinute: 3 });
    const calls = (door: Pick<Harness, 'post'>) =>
      countOutcomes(Array.from({ length: 5 }, () => door.post(hello('acme/echo'))));
    expect(await calls(bounded)).toEqual({ ok: 3, api_key_rate_limit: 2 });
    const refusal = await bounded.post(hello('acme/echo'));
    expect((await expectError(refusal, 429, 'api_key_rate_limit')).message).toContain('may make 3 requests a minute');
    expect(await calls(harness)).toEqual({ ok: 5 });
    expect(harness.simulator.calls).toHaveLength(8);
    await harness.apply({ models, key: { rpm: 9 } });
    clock.advance(60_000);
    expect(await calls(bounded)).toEqual({ ok: 5 });
  });

  it('is counted for every request it makes, also those that are refused or answered from memory', async () => {
    harness = await startHarness({ clock: manualClock(), models, key: { rpm: 6, spend_limit_usd: '0.01' } });
    const once = { 'idempotency-key': 'k' };
    expect(await outcomeOf(await harness.post(hello('acme/echo', { max_tokens: 9 }), once))).toBe('ok');
    expect(await outcomeOf(await harness.post(hello('acme/echo', { max_tokens: 9 }), once))).toBe('ok');
    await expectError(await harness.post('not JSON'), 400, 'invalid_request');
    await expectError(await harness.post(hello('nobody/nothing')), 400, 'unknown_model');
    await expectError(await harness.post(hello('acme/echo', { max_tokens: 10_000 })), 402, 'PAYMENT_REQUIRED');
    await expectError(await harness.post(hello('acme/echo'), { 'x-byok-key': 'mine' }), 403, 'byok_not_enabled');
    await expectError(await harness.post(hello('acme/echo', { max_tokens: 9 })), 429, 'api_key_rate_limit');
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it.each([{}, { rpm: 100 }, { spend_limit_usd: '5' }, { rpm: 100, spend_limit_usd: '5' }])(
    'that is revoked is refused at the next request of a warm instance, and works again when a file says that it is active: %j',
    async (limits) => {
      harness = await startHarness({ clock: manualClock(), models, key: limits });
      expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
      await harness.apply({ models, key: { ...limits, status: 'revoked' } });
      const again = { 'idempotency-key': 'k', 'x-gw-span-id': 's' };
      await expectError(await harness.post(hello('acme/echo'), again), 401, 'UNAUTHORIZED');
      await expectError(await harness.post('not JSON'), 401, 'UNAUTHORIZED');
      await expectError(await harness.post(hello('gw/function/f')), 401, 'api_key_revoked');
      expect(harness.simulator.calls).toHaveLength(1);
      await harness.apply({ models, key: limits });
      await expectError(await harness.post(hello('acme/echo'), again), 401, 'UNAUTHORIZED');
      await harness.apply({ models, key: { ...limits, status: 'active' } });
      expect(await outcomeOf(await harness.post(hello('acme/echo'), again))).toBe('ok');
    },
  );

  it('whose limits change is bound by the new ones at once', async () => {
    harness = await startHarness({ clock: manualClock(), models, key: { rpm: 100 } });
    expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
    await harness.apply({ models, key: { rpm: 1 } });
    await expectError(await harness.post(hello('acme/echo')), 429, 'api_key_rate_limit');
    await harness.apply({ models, key: { rpm: null, spend_limit_usd: '0.000001' } });
    await expectError(await harness.post(hello('acme/echo')), 402, 'PAYMENT_REQUIRED');
    await harness.apply({ models, key: { spend_limit_usd: null } });
    expect(await outcomeOf(await harness.post(hello('acme/echo')))).toBe('ok');
  });
});
