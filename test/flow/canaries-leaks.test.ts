// Secrets that the test plants wherever a secret may occur appear in no answer, no log line and no table, whether calls
// succeed or fail.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const canaries = {
  env: 'sk-canary-env-k3q9Zx81VbT5',
  stored: 'sk-canary-stored-p0Lm7Yw26RfH',
  header: 'sk-canary-header-d8Nc4Uj93SgE',
};
process.env.GW_TEST_CANARY_ENV = canaries.env;
process.env.GW_TEST_CANARY_STORED = canaries.stored;

const upstreams = [
  'echo',
  'error-leak:401',
  'error-leak:400',
  'error-leak:429',
  'error-leak:500',
  'error-after-chunks:3',
  'garbage',
  'reset',
];

/**
 * Two formats run all leaks, because masking comes before parsing; the other formats show that their errors pass
 * through masking.
 */
const upstreamsOf = (api: string) =>
  /^(chat-completions|messages)$/.test(api) ? upstreams : ['error-leak:400', 'error-after-chunks:3'];
const env = 'GW_TEST_CANARY_ENV';
const auths = [
  { api: 'chat-completions', sentIn: 'authorization', scheme: 'Bearer ', auth: { bearer: { env } } },
  { api: 'converse', sentIn: 'authorization', scheme: 'Bearer ', auth: { bearer: { env } } },
  { api: 'messages', sentIn: 'x-api-key', scheme: '', auth: { header: { name: 'x-api-key', env } } },
  { api: 'generate-content', sentIn: 'x-goog-api-key', scheme: '', auth: { header: { name: 'x-goog-api-key', env } } },
] as const;

describe.each(auths)('a secret that is sent in $sentIn to a provider of $api', ({ api, sentIn, scheme, auth }) => {
  let harness: Harness;
  const storedKey = newKey();
  const texts: string[] = [];

  beforeAll(async () => {
    const connections = [
      { provider: 'acme', key: { env: 'GW_TEST_CANARY_STORED' }, policy: 'always', budget_usd: '5' },
    ];
    harness = await startHarness({
      models: Object.fromEntries(
        ['echo', ...upstreamsOf(api)].map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]),
      ),
      providers: { acme: { apis: [api], auth, accepts_byok_header: true } },
      workspace: { features: { byok: true } },
      moreWorkspaces: [
        {
          id: 'stored',
          credit_usd: '1',
          features: { byok: true },
          byok: { connections },
          keys: [{ name: 'k', key: storedKey }],
        },
      ],
    });
  });
  afterAll(() => harness.stop());

  async function keep(response: Response) {
    texts.push([...response.headers].join('\n'), await response.text());
  }

  it('reaches its provider', async () => {
    const header = { 'x-byok-key': canaries.header };
    await keep(await harness.post(hello('acme/echo')));
    await keep(await harness.post(hello('acme/echo', { provider: { only: 'acme' } }), header));
    await keep(await harness.post(hello('acme/echo'), { authorization: `Bearer ${storedKey}` }));
    const { calls } = harness.simulator;
    expect(calls.map(({ headers }) => headers[sentIn])).toEqual(
      [canaries.env, canaries.header, canaries.stored].map((secret) => `${scheme}${secret}`),
    );
    const others = ['authorization', 'x-api-key', 'x-goog-api-key', 'x-byok-key'].filter((name) => name !== sentIn);
    for (const { headers } of calls) for (const name of others) expect(headers).not.toHaveProperty(name);
  });

  it.each(upstreamsOf(api))('is in no answer of a provider that %s', async (upstream) => {
    for (const stream of [false, true]) {
      const body = hello(`acme/${upstream}`, { stream, cache: {}, usage: { include: true } });
      const names = (kind: string) => ({
        'idempotency-key': `${kind}-${upstream}-${stream}`,
        'x-gw-session-id': harness.key,
      });
      await keep(
        await harness.post(body, {
          ...names('env'),
          'x-title': harness.key,
          'http-referer': `https://a.example/?k=${harness.key}`,
        }),
      );
      await keep(
        await harness.post(
          { ...body, provider: { only: 'acme' } },
          { ...names('header'), 'x-byok-key': canaries.header },
        ),
      );
      await keep(await harness.post(body, { ...names('stored'), authorization: `Bearer ${storedKey}` }));
    }
  });

  it('was in the answers of a provider that leaks', () => {
    const leaking = harness.simulator.calls.filter(({ behaviour }) => behaviour === 'error-leak');
    expect(leaking.length).toBeGreaterThanOrEqual(6);
    for (const { headers, answerText } of leaking) expect(answerText).toContain(headers[sentIn]?.slice(scheme.length));
  });

  it('is in no answer to a request that is refused', async () => {
    const header = { 'x-byok-key': canaries.header };
    await keep(await harness.post(hello('acme/echo'), header));
    await keep(await harness.post(hello('nobody/nothing', { provider: { only: 'acme' } }), header));
    await keep(await harness.post(hello('acme/echo'), { ...header, authorization: `Bearer ${storedKey}` }));
    await keep(
      await harness.post(
        hello('acme/echo', { temperature: canaries.header, provider: { only: [canaries.header] } }),
        header,
      ),
    );
    await keep(await harness.post('{', { ...header, 'x-gw-span-id': harness.key, 'x-gw-parent-span-id': harness.key }));
    await keep(await harness.post(hello('acme/echo'), { authorization: `Bearer ${harness.key}x` }));
  });

  it('is in no log line and in no table, nor in any answer so far', async () => {
    await harness.settled();
    const dump = await harness.testStore.dumpTables();
    const log = harness.logLines.join('');
    expect(texts.length).toBeGreaterThan(12 * upstreamsOf(api).length);
    expect(harness.logLines.length).toBeGreaterThan(0);
    for (const secret of [...Object.values(canaries), harness.key, storedKey]) {
      for (const part of [secret, secret.slice(-20), Buffer.from(secret).toString('base64').slice(0, 24)]) {
        expect(log.includes(part)).toBe(false);
        expect(dump.includes(part)).toBe(false);
        expect(texts.filter((text) => text.includes(part))).toEqual([]);
      }
    }
  });
});
