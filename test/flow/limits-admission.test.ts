// Limits of providers through the front door: who is let in, who waits, who is told when to come back.
import { afterEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, type HarnessOptions, startHarness } from '../support/harness.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import { eventually, type WatchedClock, watchedClock } from '../support/watched-clock.ts';

/** The first millisecond of a minute, and of a day. */
const dayStartMs = 20_833 * 86_400_000;
const started: Harness[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

describe.each([...spokenInterfaces, ...translatedInterfaces])('in $name', ({ hello, ...speaks }) => {
  async function start(
    more: Record<string, unknown>,
    options: Partial<HarnessOptions> = {},
  ): Promise<{ gateway: Harness; clock: WatchedClock }> {
    const clock = watchedClock(dayStartMs);
    const gateway = await startHarness({
      clock,
      speaks,
      models: { 'acme/model': [{ provider: 'acme', upstream: 'usage:10:20', more }] },
      ...options,
    });
    started.push(gateway);
    return { gateway, clock };
  }

  const ask = async (gateway: Harness, more: Record<string, unknown> = {}): Promise<number> => {
    const response = await gateway.post(hello('acme/model', more));
    await response.text();
    return response.status;
  };
  /** Slots that other gateways took of a limit of 60. */
  async function take({ composition }: Harness, slots: number): Promise<void> {
    const entry = { provider: 'acme', model: 'acme/model' };
    for (let slot = 1; slot <= slots; slot += 1)
      await composition.limiter.admit(entry, { rpm: 60, tpm: null, tpd: null }, 1);
  }
  const counters = (gateway: Harness) => gateway.testStore.store.get('limits', 'provider#acme#acme/model#0');
  const settled = (gateway: Harness, tokens: number) =>
    eventually(async () => (await counters(gateway))?.minute_tokens_total === tokens);

  /** The two headers that tell clients when to come back. */
  const retryOf = ({ headers }: Response) => [headers.get('retry-after'), headers.get('x-should-retry')];

  describe('a limit of requests per minute', () => {
    it('lets in as many as it says, and tells the next one the true time', async () => {
      const { gateway, clock } = await start({ rate_limit_rpm: 3 });
      clock.advance(15_000);
      for (let call = 1; call <= 3; call += 1) expect(await ask(gateway)).toBe(200);
      const refused = await gateway.post(hello('acme/model'));
      await expectError(refused, 429, 'rate_limited');
      expect(retryOf(refused)).toEqual(['60', null]);
      clock.advance(45_000);
      const early = await gateway.post(hello('acme/model'));
      await expectError(early, 429, 'rate_limited');
      expect(retryOf(early)).toEqual(['15', null]);
      expect(gateway.simulator.calls).toHaveLength(3);
      clock.advance(15_000);
      expect(await ask(gateway)).toBe(200);
      expect(gateway.simulator.calls).toHaveLength(4);
    });

    it('holds a call back until its slot is free, and not a millisecond less', async () => {
      const { gateway, clock } = await start({ rate_limit_rpm: 60 });
      await take(gateway, 60);
      clock.advance(58_500);
      clock.forget();
      const answer = gateway.post(hello('acme/model'));
      await clock.waitsFor((delayMs) => delayMs === 1_500);
      clock.advance(1_499);
      expect(gateway.simulator.calls).toHaveLength(0);
      clock.advance(1);
      const response = await answer;
      expect(response.status).toBe(200);
      await response.text();
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('lets one of many who wait have the one slot; the others hear of the next one', async () => {
      const { gateway, clock } = await start({ rate_limit_rpm: 60 }, { service: { queue_ms: 1_500 } });
      await take(gateway, 1);
      clock.advance(5_000);
      await take(gateway, 59);
      clock.advance(53_500);
      clock.forget();
      const answers = [1, 2, 3].map(() => gateway.post(hello('acme/model')));
      await clock.waitsFor((delayMs) => delayMs === 1_500, 3);
      clock.advance(1_500);
      const responses = await Promise.all(answers);
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 429, 429]);
      for (const response of responses) {
        if (response.status === 429) expect(retryOf(response)).toEqual(['5', null]);
        await response.text();
      }
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('turns to a provider that is free before it makes a call wait', async () => {
      const dear = { output_price_per_million: '9' };
      const { gateway } = await start(
        {},
        {
          models: {
            'acme/model': [
              { provider: 'acme', upstream: 'echo', more: { rate_limit_rpm: 1 } },
              { provider: 'bolt', upstream: 'echo', more: { ...dear, rate_limit_rpm: 1 } },
              { provider: 'core', upstream: 'echo', more: { output_price_per_million: '99' } },
            ],
          },
        },
      );
      for (const provider of ['acme', 'bolt', 'core', 'core']) {
        const response = await gateway.post(hello('acme/model'));
        expect(response.headers.get('x-gw-provider')).toBe(provider);
        await response.text();
      }
      expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme', 'bolt', 'core', 'core']);
    });

    it('counts no call that was refused before its provider was called', async () => {
      const { gateway } = await start({ rate_limit_rpm: 1 }, { workspace: { credit_usd: '0' } });
      await expectError(await gateway.post(hello('acme/model')), 402, 'PAYMENT_REQUIRED');
      await eventually(async () => (await counters(gateway))?.requests_total === 0);
      expect(gateway.simulator.calls).toHaveLength(0);
    });
  });

  describe('a limit of tokens', () => {
    it('takes an estimate, and is corrected to what the provider counted', async () => {
      const { gateway } = await start({ rate_limit_tpm: 1_000 });
      // Five letters are two tokens; 900 may come out.
      expect(await ask(gateway, { max_tokens: 900 })).toBe(200);
      await settled(gateway, 30);
      // Without the correction 902 of 1,000 would be taken.
      expect(await ask(gateway, { max_tokens: 900 })).toBe(200);
      await settled(gateway, 60);
      const refused = await gateway.post(hello('acme/model', { max_tokens: 939 }));
      await expectError(refused, 429, 'rate_limited');
      expect(gateway.simulator.calls).toHaveLength(2);
    });

    it('is corrected after a stream, and after a provider that failed', async () => {
      const { gateway } = await start(
        {},
        {
          models: {
            'acme/model': [{ provider: 'acme', upstream: 'usage:10:20', more: { rate_limit_tpm: 1_000 } }],
            'acme/failing': [{ provider: 'acme', upstream: 'error-500', more: { rate_limit_tpm: 1_000 } }],
          },
        },
      );
      expect(await ask(gateway, { stream: true })).toBe(200);
      await settled(gateway, 30);
      await expectError(await gateway.post(hello('acme/failing')), 502, 'no_available_provider');
      const failed = () => gateway.testStore.store.get('limits', 'provider#acme#acme/failing#0');
      await eventually(async () => (await failed())?.minute_tokens_total === 0);
    });

    const countsChoices = speaks.api === 'chat-completions' ? it : null;
    countsChoices?.('counts every choice that is asked for', async () => {
      const { gateway } = await start({ rate_limit_tpm: 1_000 });
      expect(await ask(gateway, { max_tokens: 20 })).toBe(200);
      await settled(gateway, 30);
      const five = hello('acme/model', { n: 5, max_tokens: 200 });
      await expectError(await gateway.post(five), 429, 'rate_limited');
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('is not taken whole by a call that asks for more than the provider ever writes', async () => {
      const limits = { rate_limit_tpd: 10_000, rate_limit_tpm: 10_000, max_output_tokens: 100 };
      const silent = { provider: 'acme', upstream: 'silent', more: limits };
      const { gateway, clock } = await start({}, { models: { 'acme/model': [silent] } });
      const greedy = gateway.post(hello('acme/model', { max_tokens: 1_000_000 }));
      await gateway.simulator.until((calls) => calls.length === 1);
      const modest = gateway.post(hello('acme/model', { max_tokens: 10 }));
      await gateway.simulator.until((calls) => calls.length === 2);
      clock.advance(55_000);
      for (const answer of [greedy, modest]) await (await answer).text();
    });

    it('that is used up for the day tells clients not to come back by themselves', async () => {
      const { gateway, clock } = await start({ rate_limit_tpd: 40 });
      expect(await ask(gateway, { max_tokens: 20 })).toBe(200);
      await eventually(async () => (await counters(gateway))?.day_tokens_total === 30);
      clock.advance(120_000);
      const refused = await gateway.post(hello('acme/model', { max_tokens: 20 }));
      await expectError(refused, 429, 'rate_limited');
      expect(retryOf(refused)).toEqual(['60', 'false']);
      expect(gateway.simulator.calls).toHaveLength(1);
    });
  });

  describe('a provider without limits', () => {
    it('costs no write in the table of limits', async () => {
      const { gateway } = await start({});
      for (const stream of [false, true]) expect(await ask(gateway, { stream })).toBe(200);
      const tables = JSON.parse(await gateway.testStore.dumpTables()) as Record<string, unknown[]>;
      expect(tables.limits).toEqual([]);
      expect(tables.statistics?.length).toBeGreaterThan(0);
    });
  });
});
