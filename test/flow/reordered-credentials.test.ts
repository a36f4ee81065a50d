// A provider with several credentials whose list is written in another order: each credential keeps its cooling, its
// limits, its conversations and its stored answers.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { type Account, type AccountProvider, startAccountProvider } from '../support/account-provider.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

const secrets = ['order-secret-one', 'order-secret-two', 'order-secret-three'] as const;
const names = secrets.map((_, index) => `GW_TEST_ORDER_${index + 1}`);

describe('a pool whose credentials are reordered', () => {
  const clock = manualClock();
  let provider: AccountProvider;
  let harness: Harness;

  const fileOf = (order: readonly number[]) => {
    const credentials = order.map((index) => ({ env: names[index] ?? '' }));
    const one = { base_url: provider.url, apis: ['chat-completions', 'responses'], auth: { bearer: credentials[0] } };
    return {
      service: { queue_ms: 0 },
      models: {
        'acme/model': [{ provider: 'pool', upstream: 'scripted' }],
        'acme/limited': [{ provider: 'pool', upstream: 'scripted', more: { rate_limit_rpm: 1 } }],
      },
      providers: { pool: credentials.length > 1 ? { ...one, credentials } : one },
    };
  };
  beforeEach(async () => {
    for (const [index, name] of names.entries()) process.env[name] = secrets[index];
    provider = await startAccountProvider(Object.fromEntries(secrets.map((secret) => [secret, 200 as Account])));
    harness = await startHarness({ clock, ...fileOf([0, 1, 2]) });
  });
  afterEach(async () => {
    await harness.stop();
    await provider.stop();
    for (const name of names) delete process.env[name];
  });

  /** Opens a gateway whose file has this order; the store has the counts of the first gateway. */
  async function reordered(order: readonly number[]) {
    await harness.settled();
    await harness.apply(fileOf(order));
    const gateway = await harness.open({ clock });
    provider.calls.length = 0;
    return gateway;
  }
  const usedKeys = () => provider.calls.map(({ key }) => key);
  const inSession = (session: number) => ({ 'x-gw-session-id': `session-${session}` });

  it('asks one that cools of no call, whatever its position, and the others as before', async () => {
    provider.accounts.set(secrets[0], 429);
    for (let session = 0; session < 12; session += 1)
      expect((await harness.post(hello('acme/model'), inSession(session))).status).toBe(200);
    expect(usedKeys().filter((key) => key === secrets[0])).toHaveLength(1);
    const { post } = await reordered([1, 2, 0]);
    for (let session = 0; session < 12; session += 1)
      expect((await post(hello('acme/model'), inSession(session))).status).toBe(200);
    expect(new Set(usedKeys())).toEqual(new Set([secrets[1], secrets[2]]));
  });

  it('counts what each has served in the minute: one call each is one call each', async () => {
    expect((await harness.post(hello('acme/limited'))).status).toBe(200);
    const [first = ''] = usedKeys();
    const { post } = await reordered([1, 2, 0]);
    const answers = [
      await post(hello('acme/limited')),
      await post(hello('acme/limited')),
      await post(hello('acme/limited')),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(usedKeys()).not.toContain(first);
  });

  it('leaves each conversation at its credential, where its prompt is cached', async () => {
    const at = async ({ post }: Pick<Harness, 'post'>) => {
      provider.calls.length = 0;
      for (let session = 0; session < 12; session += 1) await post(hello('acme/model'), inSession(session));
      return usedKeys();
    };
    const before = await at(harness);
    expect(new Set(before).size).toBe(3);
    expect(await at(await reordered([2, 0, 1]))).toEqual(before);
  });

  it.each([
    ['reordered', [2, 0, 1]],
    ['the only one that is left', undefined],
  ])('continues a stored response at the credential that made it: %s', async (_title, order) => {
    const answer = await harness.postTo('/responses', { model: 'acme/model', input: 'Hello', store: true });
    const { id } = (await answer.json()) as { id: string };
    const [maker = ''] = usedKeys();
    const { postTo } = await reordered(order ?? [secrets.indexOf(maker as (typeof secrets)[0])]);
    const next = await postTo('/responses', { model: 'acme/model', input: 'Go on', previous_response_id: id });
    expect([next.status, usedKeys()]).toEqual([200, [maker]]);
  });
});
