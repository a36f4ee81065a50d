// The model list is that of the caller's workspace.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const [strict, open, connected, bound, off] = Array.from({ length: 5 }, newKey) as [
  string,
  string,
  string,
  string,
  string,
];
const byokVariable = 'GW_TEST_LISTED_BYOK_KEY';
const withConnection = (id: string, policy: string) => ({
  id,
  credit_usd: '1',
  byok: { connections: [{ provider: 'careful', key: { env: byokVariable }, policy }] },
});
const unpriced = { input_price_per_million: null, output_price_per_million: null };

let gateway: Harness;
beforeAll(async () => {
  process.env[byokVariable] = 'sk-key-of-the-client';
  gateway = await startHarness({
    models: {
      'acme/mixed': [
        { provider: 'careful', upstream: 'echo' },
        { provider: 'cheap', upstream: 'echo', more: { input_price_per_million: '0.10' } },
      ],
      'acme/cheap-only': [{ provider: 'cheap', upstream: 'echo' }],
      'acme/unpriced': [{ provider: 'careful', upstream: 'echo', more: unpriced }],
      'acme/by-header': [{ provider: 'taking', upstream: 'echo', more: unpriced }],
    },
    providers: { careful: { data_policy: { zdr: true } }, taking: { accepts_byok_header: true } },
    moreWorkspaces: [
      { id: 'strict', credit_usd: '1', data_policy: { zdr: true }, keys: [{ name: 'k', key: strict }] },
      { id: 'open', credit_usd: '1', features: { byok: true }, keys: [{ name: 'k', key: open }] },
      { ...withConnection('connected', 'allowed'), features: { byok: true }, keys: [{ name: 'k', key: connected }] },
      { ...withConnection('bound', 'always'), features: { byok: true }, keys: [{ name: 'k', key: bound }] },
      { ...withConnection('off', 'allowed'), keys: [{ name: 'k', key: off }] },
    ],
  });
});
afterAll(async () => {
  delete process.env[byokVariable];
  await gateway.stop();
});

interface Listed {
  readonly id: string;
  readonly routable: boolean;
  readonly input_price_per_million: string;
  readonly providers: readonly { readonly provider: string; readonly routable: boolean }[];
}

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const listOf = async (key: string): Promise<readonly Listed[]> => {
  const { data } = (await (await gateway.get('/models', as(key))).json()) as { data: Listed[] };
  return data.slice(1);
};

describe('the model list of a workspace', () => {
  it('leaves out a model that its data policy excludes, and marks the entries that it excludes', async () => {
    const list = await listOf(strict);
    expect(list.map(({ id, routable }) => [id, routable])).toEqual([
      ['acme/mixed', true],
      ['acme/unpriced', false],
    ]);
    expect(list[0]?.providers.map(({ provider, routable }) => [provider, routable])).toEqual([
      ['careful', true],
      ['cheap', false],
    ]);
    // The price of the cheapest entry that it can use.
    expect(list[0]?.input_price_per_million).toBe('1.00');
  });

  it.each<[string, () => string, unpriced: boolean, byHeader: boolean]>([
    ['BYOK is not enabled', () => gateway.key, false, false],
    ['BYOK is not enabled, though a connection is stored', () => off, false, false],
    ['only a header may bring a key', () => open, false, true],
    ['a stored connection serves one provider', () => connected, true, true],
    ['stored connections alone may be used', () => bound, true, false],
  ])('counts an entry without prices as routable where a key can be brought: %s', async (_name, key, ...routable) => {
    const list = await listOf(key());
    const found = ['acme/unpriced', 'acme/by-header'].map((id) => list.find((model) => model.id === id));
    expect(found.map((model) => [model?.routable, model?.providers[0]?.routable])).toEqual(
      routable.map((isRoutable) => [isRoutable, isRoutable]),
    );
  });

  it('has the object of one model under its id, slashes included, and auto', async () => {
    const [listed] = await listOf(open);
    for (const path of ['/models/acme/mixed', '/models/acme%2Fmixed']) {
      expect(await (await gateway.get(path, as(open))).json()).toEqual(listed);
    }
    const auto = await (await gateway.get('/models/auto')).json();
    expect(auto).toEqual({ id: 'auto', object: 'model', created: 0, owned_by: 'gw' });
  });

  it('gives unknown_model for an id that the workspace does not have, with the nearest one', async () => {
    await expectError(await gateway.get('/models/acme/cheap-only', as(strict)), 400, 'unknown_model');
    const { message } = (await (await gateway.post(hello('acme/mixd'))).json()) as { message: string };
    expect(message).toContain('"acme/mixd"');
    expect(message).toContain('"acme/mixed"');
    expect(gateway.simulator.calls).toEqual([]);
  });
});
