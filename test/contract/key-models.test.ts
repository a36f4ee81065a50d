// A key with a list of models: any other model is unknown to it.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { readKeySpending } from '../../shared/accounting/holds/index.ts';
import { createKeyStore, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const [narrow, wide, none, changing] = [newKey(), newKey(), newKey(), newKey()];
const routes = (upstream: string, price: string) => [
  { provider: 'acme', upstream, more: { input_price_per_million: price } },
];

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/cheap': routes('echo', '0.10'),
      'acme/dear': routes('echo', '5'),
      'acme/other': routes('echo', '1'),
    },
    moreWorkspaces: [
      {
        id: 'some',
        credit_usd: '10',
        models: ['acme/dear', 'acme/other'],
        keys: [
          { name: 'narrow', key: narrow, models: ['acme/dear', 'acme/cheap'] },
          { name: 'wide', key: wide },
          { name: 'none', key: none, models: ['acme/cheap'] },
          { name: 'changing', key: changing, rpm: 100, spend_limit_usd: '5' },
        ],
        features: { presets: true },
        presets: [{ slug: 'other', versions: [{ version: '1', config: { models: ['acme/other'] } }], designated: '1' }],
        functions: [promptFunction('label', 'acme/other', { input: { type: 'text' } })],
      },
    ],
  });
});
afterAll(() => gateway?.stop());

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const listed = async (key: string) => {
  const { data } = (await (await gateway.get('/models', as(key))).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
};
const modelOf = async (body: object, key: string) => {
  const { usage } = (await (await gateway.post(body, as(key))).json()) as { usage: { model: string } };
  return usage.model;
};

describe('a key with a list of models', () => {
  it('lists those that its workspace has too, and auto', async () => {
    expect(await listed(narrow)).toEqual(['auto', 'acme/dear']);
    expect(await listed(wide)).toEqual(['auto', 'acme/dear', 'acme/other']);
    expect(await listed(none)).toEqual(['auto']);
    expect(await listed(gateway.key)).toEqual(['auto', 'acme/cheap', 'acme/dear', 'acme/other']);
  });

  it('is served by a model of its list, and by auto from among them', async () => {
    expect(await modelOf(hello('acme/dear'), narrow)).toBe('acme/dear');
    expect(await modelOf(hello('auto'), narrow)).toBe('acme/dear');
    expect(await modelOf(hello('auto'), wide)).toBe('acme/other');
  });

  it.each([
    ['model', hello('acme/other')],
    ['models', hello('acme/dear', { models: ['acme/other'] })],
    ['a model that its workspace lacks', hello('acme/cheap')],
    ['a preset', hello('acme/dear', { preset: 'other' })],
  ])(
    'gets unknown_model for any other in %s, names no other model, and no provider is called',
    async (_place, body) => {
      await gateway.settled();
      const before = gateway.simulator.calls.length;
      const spent = (await gateway.credit('some')).spent;
      const response = await gateway.post(body, as(narrow));
      const { message } = (await response.clone().json()) as { message: string };
      await expectError(response, 400, 'unknown_model');
      expect(message).not.toMatch(/Did you mean "acme\/(other|cheap)"/);
      await expectError(await gateway.get('/models/acme/other', as(narrow)), 400, 'unknown_model');
      expect(gateway.simulator.calls).toHaveLength(before);
      expect((await gateway.credit('some')).spent).toBe(spent);
    },
  );

  it('cannot call a model any more from the moment it is taken from the list, and pays nothing', async () => {
    const keys = createKeyStore(gateway.testStore.store);
    const record = await keys.read(parseApiKey(changing)?.publicId ?? '');
    if (record === undefined) throw new Error('the key of the test must be stored');
    expect((await gateway.post(hello('acme/dear'), as(changing))).status).toBe(200);
    const dear = { max_tokens: 10_000_000 };
    await expectError(await gateway.post(hello('acme/dear', dear), as(changing)), 402, 'PAYMENT_REQUIRED');
    await gateway.settled();
    const [calls, { spent }] = [gateway.simulator.calls.length, await gateway.credit('some')];
    await keys.write({ ...record, models: ['acme/other'] });
    // It wins over money that does not cover the call.
    await expectError(await gateway.post(hello('acme/dear', dear), as(changing)), 400, 'unknown_model');
    await gateway.settled();
    expect(gateway.simulator.calls).toHaveLength(calls);
    expect(await gateway.credit('some')).toMatchObject({ spent, held: 0n });
    expect(readKeySpending(await gateway.keyItem(changing), Date.now())).toMatchObject({ held: 0n });
    await keys.write({ ...record, models: null });
    expect(await listed(changing)).toContain('acme/dear');
  });

  it.each([
    ['model', hello('acme/other')],
    ['models', hello('acme/dear', { models: ['acme/other'] })],
    ['auto', hello('auto')],
    ['a stream', hello('acme/other', { stream: true })],
  ])('gets no stored answer of a call of another key to other models, by %s, and pays nothing', async (place, body) => {
    const key = { 'idempotency-key': `other models ${place}`.replaceAll(' ', '-') };
    const first = await gateway.post(body, { ...as(wide), ...key });
    const text = await first.text();
    expect(first.status).toBe(200);
    await gateway.settled();
    const [calls, { spent }] = [gateway.simulator.calls.length, await gateway.credit('some')];
    const refusal = await expectError(await gateway.post(body, { ...as(narrow), ...key }), 400, 'unknown_model');
    expect(refusal.message.includes('acme/other')).toBe(place !== 'auto');
    const again = await gateway.post(body, { ...as(wide), ...key });
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
    await gateway.settled();
    expect(gateway.simulator.calls).toHaveLength(calls);
    expect(await gateway.credit('some')).toMatchObject({ spent, held: 0n });
  });

  it('gets the stored answer of a call of another key to a model of its list', async () => {
    const key = { 'idempotency-key': 'a-model-of-both' };
    const text = await (await gateway.post(hello('acme/dear'), { ...as(wide), ...key })).text();
    const again = await gateway.post(hello('acme/dear'), { ...as(narrow), ...key });
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
  });

  it('gets no cached answer of a model from the moment it is taken from the list, and keeps its names', async () => {
    const keys = createKeyStore(gateway.testStore.store);
    const record = await keys.read(parseApiKey(changing)?.publicId ?? '');
    if (record === undefined) throw new Error('the key of the test must be stored');
    const cached = hello('acme/dear', { cache: {} });
    // What was added to the list is known from the second call on.
    await gateway.post(hello('acme/dear'), as(changing));
    expect((await gateway.post(cached, as(changing))).headers.get('x-gw-cache')).toBe('MISS');
    await gateway.settled();
    expect((await gateway.post(cached, as(changing))).headers.get('x-gw-cache')).toBe('HIT');
    const names = { 'idempotency-key': 'taken-from-the-list', 'x-gw-trace-id': 't', 'x-gw-span-id': 'taken' };
    await keys.write({ ...record, models: ['acme/other'] });
    await expectError(await gateway.post(cached, { ...as(changing), ...names }), 400, 'unknown_model');
    await gateway.settled();
    const other = await gateway.post(hello('acme/other'), { ...as(changing), ...names });
    expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, null]);
    await keys.write({ ...record, models: null });
    expect(await listed(changing)).toContain('acme/dear');
  });

  it('gets model_not_routable for auto where its list leaves nothing', async () => {
    await expectError(await gateway.post(hello('auto'), as(none)), 400, 'model_not_routable');
  });

  it('calls a stored function whatever model that is written for: a client does not choose it', async () => {
    const response = await gateway.post(
      { model: 'gw/function/label', messages: [{ role: 'user', content: 'Hello' }] },
      as(narrow),
    );
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ usage: { model: 'acme/other' } });
  });
});
