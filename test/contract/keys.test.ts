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

  it('of the right shape that was never given out is refused, also with a body that cannot be read', async () => {
    await expectError(await post(`Bearer ${newKey()}`), 401, 'UNAUTHORIZED');
    await expectError(await post(`Bearer ${newKey()}`, '{"model":'), 401, 'UNAUTHORIZED');
  });

  it('that has expired is UNAUTHORIZED on plain calls and on the model list', async () => {
    await expectError(await post(`Bearer ${expired}`), 401, 'UNAUTHORIZED');
    await expectError(await gateway.get('/models', { authorization: `Bearer ${expired}` }), 401, 'UNAUTHORIZED');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('that is revoked is UNAUTHORIZED on plain calls and on the model list', async () => {
    await expectError(await post(`Bearer ${revoked}`), 401, 'UNAUTHORIZED');
    await expectError(await post(`Bearer ${revoked}`, 'not even JSON'), 401, 'UNAUTHORIZED');
    expect(await (await post(`Bearer ${revoked}`)).json()).toMatchObject({
      message: expect.stringContaining('revoked or expired'),
    });
    await expectError(await gateway.get('/models', { authorization: `Bearer ${revoked}` }), 401, 'UNAUTHORIZED');
  });

  it('that is revoked is api_key_revoked on a function call, whatever else is wrong with its readable body', async () => {
    const model = 'gw/function/summary';
    const bodies = [
      hello(model),
      { model },
      { model, messages: 7 },
      hello(`${model}@r1`, { temperature: 'hot', provider: 3 }),
    ];
    for (const body of bodies) await expectError(await post(`Bearer ${revoked}`, body), 401, 'api_key_revoked');
    expect(await (await post(`Bearer ${revoked}`, hello(model))).json()).toMatchObject({
      message: expect.stringContaining('revoked or expired'),
    });
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
