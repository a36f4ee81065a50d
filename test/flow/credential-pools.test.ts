// One provider with several credentials, and entries with weights. A client does not notice a credential that cannot
// serve, a conversation stays where its prompt is cached, and sessions spread by weight.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Account, type AccountProvider, startAccountProvider } from '../support/account-provider.ts';
import { expectError } from '../support/expect-error.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

const secrets = ['pool-secret-one', 'pool-secret-two', 'pool-secret-three'] as const;
const names = secrets.map((_, index) => `GW_TEST_POOL_${index + 1}`);
const credentials = names.map((env) => ({ env }));
/** This time is longer than any cooldown, and than the life of a stored cooldown. */
const forgottenMs = 2 * 3_600_000;

describe('a provider with three credentials', () => {
  const clock = manualClock();
  let provider: AccountProvider;
  let harness: Harness;

  beforeAll(async () => {
    for (const [index, name] of names.entries()) process.env[name] = secrets[index];
    provider = await startAccountProvider(Object.fromEntries(secrets.map((secret) => [secret, 200 as Account])));
    const pooled = { provider: 'pool', upstream: 'scripted' };
    const dear = { input_price_per_million: '9', output_price_per_million: '9' };
    harness = await startHarness({
      clock,
      service: { queue_ms: 0 },
      models: {
        'acme/model': [pooled],
        'acme/backed': [pooled, { provider: 'backup', upstream: 'echo', more: dear }],
        'acme/limited': [{ ...pooled, more: { rate_limit_rpm: 1 } }],
        'acme/weighed': [
          { provider: 'light', upstream: 'echo', more: { ...dear, weight: 250 } },
          { provider: 'heavy', upstream: 'echo', more: { ...dear, weight: 750 } },
          { provider: 'backup', upstream: 'echo' },
        ],
        'acme/one-down': [
          { provider: 'light', upstream: 'error-500', more: { weight: 1 } },
          { provider: 'heavy', upstream: 'echo', more: { weight: 1 } },
        ],
        'acme/equal': [{ provider: 'backup', upstream: 'echo' }, pooled],
      },
      providers: {
        pool: {
          base_url: provider.url,
          apis: ['chat-completions', 'responses'],
          auth: { bearer: credentials[0] },
          credentials,
          accepts_byok_header: true,
        },
      },
      workspace: {
        features: { byok: true },
        functions: [promptFunction('ask', 'acme/model')],
      },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
    for (const name of names) delete process.env[name];
  });
  beforeEach(() => {
    clock.advance(forgottenMs);
    provider.calls.length = 0;
    harness.simulator.clear();
  });
  afterEach(() => setAccounts(200, 200, 200));

  const setAccounts = (...accounts: readonly Account[]) => {
    for (const [index, account] of accounts.entries()) provider.accounts.set(secrets[index] ?? '', account);
  };
  const ask = (model = 'acme/model', headers: Record<string, string> = {}, more = {}) =>
    harness.post(hello(model, more), headers);
  const inSession = (session: string | number) => ({ 'x-gw-session-id': `session-${session}` });
  const usedKeys = () => provider.calls.map(({ key }) => key);
  const attempts = async () => (await harness.records()).map(({ attemptLog = [] }) => attemptLog);
  /** Returns a session that goes to this credential while all credentials serve. */
  async function sessionAt(secret: string): Promise<Record<string, string>> {
    for (let session = 0; ; session += 1) {
      expect((await ask('acme/model', inSession(session))).status).toBe(200);
      if (provider.calls.at(-1)?.key !== secret) continue;
      clock.advance(forgottenMs);
      provider.calls.length = 0;
      return inSession(session);
    }
  }

  it('serves every client while one is at its limit and one is refused, and records which were asked', async () => {
    setAccounts(429, 401, 200);
    for (let session = 0; session < 20; session += 1) {
      const answer = await ask('acme/model', inSession(session));
      expect(answer.status).toBe(200);
      await answer.text();
    }
    await harness.settled();
    // Each failing credential is tried once, then comes after the credential that serves.
    const accountKeys = usedKeys();
    expect(accountKeys.filter((key) => key === secrets[0])).toHaveLength(1);
    expect(accountKeys.filter((key) => key === secrets[1])).toHaveLength(1);
    expect(accountKeys.filter((key) => key === secrets[2])).toHaveLength(20);
    const loggedAttempts = (await attempts()).slice(-20).flat();
    expect(loggedAttempts).toContainEqual(
      expect.objectContaining({ provider: 'pool', credential: 1, outcome: 'status_429' }),
    );
    expect(loggedAttempts).toContainEqual(
      expect.objectContaining({ provider: 'pool', credential: 2, outcome: 'status_401' }),
    );
    expect(loggedAttempts.filter(({ credential, outcome }) => credential === 3 && outcome === 'ok')).toHaveLength(20);
  });

  it('answers with the failure of all if none serves: limited by all is rate_limited', async () => {
    setAccounts(429, 429, 429);
    await expectError(await ask(), 429, 'rate_limited');
    expect(new Set(usedKeys())).toEqual(new Set(secrets));
    setAccounts(401, 402, 401);
    clock.advance(forgottenMs);
    await expectError(await ask(), 502, 'no_available_provider');
  });

  it('asks no second credential for what the provider rejects', async () => {
    setAccounts(400, 400, 400);
    await expectError(await ask(), 400, 'invalid_request');
    expect(provider.calls).toHaveLength(1);
  });

  it('is called with another credential after other providers if it fails for other reasons', async () => {
    setAccounts(500, 500, 500);
    expect((await ask('acme/backed')).status).toBe(200);
    expect(provider.calls).toHaveLength(1);
    expect(harness.simulator.calls.map((call) => call.provider)).toEqual(['backup']);
    clock.advance(forgottenMs);
    await expectError(await ask(), 502, 'no_available_provider');
    expect(provider.calls).toHaveLength(1 + secrets.length);
  });

  it('is tried whole before another provider if credentials cannot serve, and without fallbacks too', async () => {
    setAccounts(429, 429, 200);
    const pinned = { provider: { allow_fallbacks: false } };
    for (let session = 0; session < 4; session += 1) {
      clock.advance(forgottenMs);
      expect((await ask('acme/backed', inSession(session))).status).toBe(200);
      clock.advance(forgottenMs);
      expect((await ask('acme/backed', inSession(session), pinned)).status).toBe(200);
    }
    expect(harness.simulator.calls).toEqual([]);
  });

  it('comes in its place of the catalogue beside an entry of the same price', async () => {
    for (let session = 0; session < 10; session += 1) await ask('acme/equal', inSession(session));
    expect(provider.calls).toEqual([]);
  });

  it.each([
    ['its session id', inSession('agent'), {}],
    ['its prompt_cache_key', {}, { prompt_cache_key: 'thread-7' }],
    ['its user', {}, { user: 'ada' }],
  ])(
    'keeps a conversation on one credential by %s: nine tenths of its prompts are read from the cache',
    async (_by, headers, more) => {
      const messages = [{ role: 'system', content: 'You work in a repository. '.repeat(400) }];
      for (let turn = 0; turn < 12; turn += 1) {
        messages.push({ role: 'user', content: `Turn ${turn}: go on` });
        const answer = await harness.post(
          { model: 'acme/model', messages, ...more },
          headers as Record<string, string>,
        );
        expect(answer.status).toBe(200);
        messages.push({ role: 'assistant', content: 'done' });
        // Calls of other sessions come in between.
        await ask();
      }
      const ownCalls = provider.calls.filter(({ promptTokens }) => promptTokens > 1_000);
      expect(new Set(ownCalls.map(({ key }) => key)).size).toBe(1);
      const sum = (of: (call: (typeof ownCalls)[number]) => number) =>
        ownCalls.reduce((total, call) => total + of(call), 0);
      expect(sum(({ cachedTokens }) => cachedTokens)).toBeGreaterThan(0.9 * sum(({ promptTokens }) => promptTokens));
    },
  );

  it('asks another credential for a conversation while its own cools, and its own again afterwards', async () => {
    const session = await sessionAt(secrets[1]);
    setAccounts(200, 429, 200);
    expect((await ask('acme/model', session)).status).toBe(200);
    expect((await ask('acme/model', session)).status).toBe(200);
    const [first, other, third, ...more] = usedKeys();
    expect([first, other === third, more]).toEqual([secrets[1], true, []]);
    setAccounts(200, 200, 200);
    clock.advance(forgottenMs);
    await ask('acme/model', session);
    expect(usedKeys().at(-1)).toBe(secrets[1]);
  });

  it('keeps a stored response on the credential that made it', async () => {
    for (let call = 0; call < 6; call += 1) {
      const first = await harness.postTo('/responses', { model: 'acme/model', input: 'Hello' });
      const { id } = (await first.json()) as { readonly id: string };
      const key = provider.calls.at(-1)?.key;
      const next = await harness.postTo('/responses', {
        model: 'acme/model',
        input: 'Go on',
        previous_response_id: id,
      });
      expect([next.status, provider.calls.at(-1)?.key]).toEqual([200, key]);
    }
    expect(new Set(usedKeys()).size).toBeGreaterThan(1);
  });

  it('is asked with a key of the client for what a response of any of its credentials began', async () => {
    for (const secret of secrets) {
      const session = await sessionAt(secret);
      const first = await harness.postTo('/responses', { model: 'acme/model', input: 'Hello' }, session);
      const { id } = (await first.json()) as { readonly id: string };
      expect(usedKeys()).toEqual([secret]);
      const next = { model: 'acme/model', input: 'Go on', previous_response_id: id, provider: { only: 'pool' } };
      provider.accounts.set('client-key', 200);
      const answer = await harness.postTo('/responses', next, { 'x-byok-key': 'client-key' });
      provider.accounts.delete('client-key');
      expect([answer.status, usedKeys()]).toEqual([200, [secret, 'client-key']]);
    }
  });

  it('is limited by the limits of an entry once per credential', async () => {
    for (const _secret of secrets) expect((await ask('acme/limited')).status).toBe(200);
    expect(new Set(usedKeys())).toEqual(new Set(secrets));
    await expectError(await ask('acme/limited'), 429, 'rate_limited');
    expect(provider.calls).toHaveLength(secrets.length);
  });

  it('is asked once with a key of the client, whatever credentials it has', async () => {
    const headers = { 'x-byok-key': 'client-key' };
    await expectError(await ask('acme/model', headers, { provider: { only: 'pool' } }), 502, 'no_available_provider');
    expect(usedKeys()).toEqual(['client-key']);
    await harness.settled();
    // The client's key is none of the gateway's credentials.
    const loggedAttempts = (await attempts()).at(-1);
    expect(loggedAttempts).toEqual([expect.objectContaining({ provider: 'pool', outcome: 'status_401' })]);
    expect(loggedAttempts?.[0]?.credential).toBeUndefined();
    const lines = harness.logLines.filter((line) => line.includes('attempt_failed'));
    expect(JSON.parse(lines.at(-1) ?? '')).not.toHaveProperty('credential');
  });

  it('is never asked with a credential that is not set', async () => {
    delete process.env[names[0] as string];
    try {
      for (let session = 0; session < 6; session += 1)
        expect((await ask('acme/model', inSession(session))).status).toBe(200);
      expect(usedKeys()).not.toContain(secrets[0]);
    } finally {
      process.env[names[0] as string] = secrets[0];
    }
  });

  it('is asked by a function with the credential of its session', async () => {
    const session = await sessionAt(secrets[2]);
    for (const call of [1, 2, 3]) {
      const headers = { 'idempotency-key': `00000000-0000-4000-8000-00000000000${call}` };
      expect((await harness.post(hello('gw/function/ask'), { ...session, ...headers })).status).toBe(200);
    }
    expect(new Set(usedKeys())).toEqual(new Set([secrets[2]]));
  });

  it('has one entry in the list of models', async () => {
    const { data } = (await (await harness.get('/models')).json()) as {
      readonly data: readonly { readonly id: string; readonly providers: readonly unknown[] }[];
    };
    expect(data.find(({ id }) => id === 'acme/model')?.providers).toHaveLength(1);
  });

  it('leaves no secret in tables and log lines', async () => {
    const dump = (await harness.testStore.dumpTables()) + harness.logLines.join('\n');
    for (const secret of secrets) expect(dump).not.toContain(secret);
    expect(dump).toContain(names[0]);
  });

  describe('beside entries with weights', () => {
    const calledProviders = () => harness.simulator.calls.map((call) => call.provider);
    const inParallel = 50;

    it('shares a thousand sessions by weight, within a twentieth, each of which stays where it is', async () => {
      const sessions = Array.from({ length: 1_000 }, (_, session) => session);
      const servedBy = async (session: number) => {
        const answer = await ask('acme/weighed', inSession(session));
        await answer.text();
        return answer.headers.get('x-gw-provider');
      };
      const servedProviders: (string | null)[] = [];
      for (let at = 0; at < sessions.length; at += inParallel) {
        servedProviders.push(...(await Promise.all(sessions.slice(at, at + inParallel).map(servedBy))));
      }
      const shareOf = (provider: string) => servedProviders.filter((one) => one === provider).length / sessions.length;
      expect(Math.abs(shareOf('heavy') - 0.75)).toBeLessThan(0.05);
      expect(shareOf('light') + shareOf('heavy')).toBe(1);
      for (const session of sessions.slice(0, 20)) expect(await servedBy(session)).toBe(servedProviders[session]);
    });

    it('goes on with the rest of them if one fails', async () => {
      for (let session = 0; session < 20; session += 1) {
        expect((await ask('acme/one-down', inSession(session))).status).toBe(200);
      }
      expect(calledProviders().filter((one) => one === 'heavy')).toHaveLength(20);
      expect(calledProviders()).toContain('light');
    });
  });
});
