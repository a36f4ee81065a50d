// A pooled socket has died: the call is made once more, and records and metrics count both calls.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

describe('a kept socket that breaks as soon as it is used', () => {
  let provider: ScriptedProvider;
  let gateway: Harness;
  /** The number of requests, from the next request on, that end without an answer. */
  let dying = 0;

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      dying -= 1;
      if (dying >= 0) return void outgoing.socket?.destroy();
      sendJson(outgoing, completionOf({ content: 'served' }));
    });
    gateway = await startHarness({
      models: {
        'acme/model': [
          { provider: 'acme', upstream: 'scripted', more: { rate_limit_rpm: 100 } },
          { provider: 'other', upstream: 'echo', more: { input_price_per_million: '9' } },
        ],
      },
      providers: { acme: { base_url: provider.url } },
    });
  });
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    await gateway.stop();
    await provider.stop();
  });

  async function call(deaths: number) {
    dying = 0;
    await (await gateway.post(hello('acme/model'))).text();
    await gateway.settled();
    const [callsBefore, lines] = [provider.bodies.length, gateway.logLines.length];
    dying = deaths;
    const response = await gateway.post(hello('acme/model'));
    await gateway.settled();
    const logged = gateway.logLines.slice(lines).map((line) => JSON.parse(line) as Record<string, unknown>);
    return { response, seen: provider.bodies.length - callsBefore, logged };
  }

  it('costs a second call of the same provider, and both are counted', async () => {
    // Three failures would cool a provider.
    for (let round = 0; round < 3; round += 1) {
      const { response, seen, logged } = await call(1);
      expect(response.headers.get('x-gw-provider')).toBe('acme');
      expect(await response.json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
      expect(seen).toBe(2);
      expect(logged.filter(({ event }) => event === 'attempt_failed')).toMatchObject([
        { provider: 'acme', outcome: 'connection' },
      ]);
      expect(logged.find(({ event }) => event === 'request')).toMatchObject({ attempts: 2 });
    }
    expect((await gateway.records()).filter(({ attempts }) => attempts === 2)).toHaveLength(3);
  });

  it('is left if the second one fails too: the next provider serves, and no third call is made', async () => {
    const { response, seen } = await call(2);
    expect(await response.json()).toMatchObject({ usage: { provider: 'other', attempts: 3 } });
    expect(seen).toBe(2);
  });
});
