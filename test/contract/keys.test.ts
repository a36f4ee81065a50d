import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createApiKey, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

describe('a key', () => {
  let gateway: Harness;
  const [revoked, expired] = [newKey(), newKey()];

  beforeAll(async () => {
    gateway = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      moreWorkspaces: [
        {
          id: 'gone',
          keys: [
            { name: 'old', key: revoked, status: 'revoked' },
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
      [`Bearer ${gateway.key}x`, /does not have the form of a key of this gateway/],
      ['Bearer sk-ant-api03-abc', /does not have the form of a key of this gateway/],
      [`Bearer ${other}`, /^This gateway has no such API key\.$/],
      [`Bearer ${revoked}`, /^The API key was revoked\.$/],
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
    expect(await response.text()).toContain('Two different API keys were sent');
  });

  it('that was never given out stays UNAUTHORIZED on a function call', async () => {
    await expectError(await post(`Bearer ${newKey()}`, hello('gw/function/summary')), 401, 'UNAUTHORIZED');
    await expectError(await post('Bearer sk-gw-nonsense', hello('gw/function/summary')), 401, 'UNAUTHORIZED');
  });

  it('of another secret under a known public id is refused', async () => {
    const digits = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
    const [, , publicId = ''] = gateway.key.split('-');
    // Drawn: the public id of the key, then any secret. Its checksum is right.
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
