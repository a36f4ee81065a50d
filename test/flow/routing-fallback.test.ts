// The provider loop under time: each provider's share of a call's budget, and the rest for the providers after it.

import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '#jest';
import { createProviderLimiter, type ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, type HarnessOptions, hello, startHarness } from '../support/harness.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { startMuteServer } from '../support/socket-server.ts';
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts';

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.stop();
});

async function start(options: HarnessOptions): Promise<{ gateway: Harness; clock: WatchedClock }> {
  const clock = watchedClock();
  const gateway = await startHarness({ clock, ...options });
  started.push(gateway);
  return { gateway, clock };
}

/** Returns a provider that comes later in the catalogue and costs more, so it is called after the one before it. */
const nth = (provider: string, upstream: string, place: number) => ({
  provider,
  upstream,
  more: { input_price_per_million: String(place), output_price_per_million: String(place) },
});
const calledProviders = ({ simulator }: Harness) => simulator.calls.map(({ provider }) => provider);
const usageOf = async (response: Response) => ((await response.json()) as { usage: Record<string, unknown> }).usage;

describe('a budget of 55 seconds', () => {
  it('is shared evenly if ten seconds for each would be more than there is', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const routes = names.map((name, place) => nth(name, name === 'g' ? 'echo' : 'silent', place + 1));
    const { gateway, clock } = await start({ models: { 'acme/model': routes } });
    const answer = gateway.post(hello('acme/model'));
    for (let place = 1; place < names.length; place += 1) {
      await gateway.simulator.until((calls) => calls.length === place);
      // Seven providers share 55 s, then six share the rest, and so on: each has a seventh.
      clock.advance(Math.ceil(55_000 / 7));
    }
    const response = await answer;
    expect(response.status).toBe(200);
    expect(await usageOf(response)).toMatchObject({ provider: 'g', attempts: 7 });
    expect(calledProviders(gateway)).toEqual(names);
  });

  it('covers queueing and every attempt: what the queue took, no provider gets', async () => {
    const { gateway, clock } = await start({
      models: {
        'acme/model': [{ provider: 'slow', upstream: 'silent', more: { rate_limit_rpm: 1 } }],
      },
      service: { queue_ms: 60_000 },
    });
    const { limiter } = gateway.composition;
    const limits = { rpm: 1, tpm: null, tpd: null };
    // This call was half a minute before, so its window ends in 30 s.
    const entry = { provider: 'slow', model: 'acme/model' };
    expect(await limiter.admit(entry, limits, { tokens: 1, requests: 1 })).toMatchObject({ kind: 'admitted' });
    clock.advance(30_000);
    clock.forget();
    const answer = gateway.post(hello('acme/model'));
    await clock.waitsFor((delayMs) => delayMs === 30_000);
    expect(calledProviders(gateway)).toEqual([]);
    clock.advance(30_000);
    await gateway.simulator.until((calls) => calls.length === 1);
    clock.advance(24_999);
    expect(gateway.simulator.calls[0]?.ended).toBe(false);
    clock.advance(1);
    await expectError(await answer, 504, 'request_deadline_exceeded');
  });

  it('is not spent on a queue that ends after it: the client hears of the limit at once', async () => {
    const { gateway, clock } = await start({
      models: { 'acme/model': [{ provider: 'busy', upstream: 'echo', more: { rate_limit_rpm: 1 } }] },
      service: { queue_ms: 600_000 },
    });
    await (await gateway.post(hello('acme/model'))).text();
    clock.advance(1_000);
    const response = await gateway.post(hello('acme/model'));
    await expectError(response, 429, 'rate_limited');
    expect([response.headers.get('retry-after'), response.headers.get('x-should-retry')]).toEqual(['59', null]);
    expect(calledProviders(gateway)).toEqual(['busy']);
  });
});

describe('a provider entry', () => {
  it('bounds the time to connect', async () => {
    const wall = await startMuteServer();
    started.push(wall);
    const { gateway, clock } = await start({
      models: { 'acme/model': [nth('wall', 'echo', 1), nth('good', 'echo', 2)] },
      providers: { wall: { base_url: `https://127.0.0.1:${wall.port}/v1`, connect_timeout_ms: 700 } },
    });
    for (const stream of [false, true]) {
      // The second call finds the provider cooling.
      clock.advance(60_000);
      clock.forget();
      const answer = gateway.post(hello('acme/model', { stream, usage: { include: true } }));
      await clock.waitsFor((delayMs) => delayMs === 700);
      await wall.connected;
      expect(calledProviders(gateway)).toHaveLength(stream ? 1 : 0);
      clock.advance(700);
      const response = await answer;
      expect(response.headers.get('x-gw-provider')).toBe('good');
      expect(await response.text()).toContain('"attempts":2');
    }
  });

  it('bounds the time to the first chunk, of a JSON answer too if it says so', async () => {
    const { gateway, clock } = await start({
      models: { 'acme/model': [nth('slow', 'silent', 1), nth('good', 'echo', 2)] },
      providers: { slow: { first_chunk_timeout_ms: 1_234 } },
    });
    for (const stream of [true, false]) {
      gateway.simulator.clear();
      const answer = gateway.post(hello('acme/model', { stream }));
      await gateway.simulator.until((calls) => calls.length === 1);
      clock.advance(1_233);
      expect(gateway.simulator.calls[0]?.ended).toBe(false);
      clock.advance(1);
      const response = await answer;
      expect(response.headers.get('x-gw-provider')).toBe('good');
      await response.text();
      clock.advance(60_000);
    }
  });

  it('holds for the last candidate too if it is written', async () => {
    const { gateway, clock } = await start({
      models: { 'acme/model': [nth('slow', 'silent', 1)] },
      providers: { slow: { first_chunk_timeout_ms: 1_234 } },
    });
    for (const stream of [true, false]) {
      gateway.simulator.clear();
      const answer = gateway.post(hello('acme/model', { stream }));
      await gateway.simulator.until((calls) => calls.length === 1);
      clock.advance(1_233);
      expect(gateway.simulator.calls[0]?.ended).toBe(false);
      clock.advance(1);
      await expectError(await answer, 502, 'no_available_provider');
      expect(gateway.simulator.calls).toHaveLength(1);
      clock.advance(60_000);
    }
  });

  it('that drips blanks in place of an answer still leaves ten seconds to the one behind it', async () => {
    let outgoing: ServerResponse | undefined;
    const dripping = await startScriptedProvider((response) => {
      outgoing = response;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('\n');
    });
    started.push(dripping);
    const { gateway, clock } = await start({
      models: { 'acme/model': [nth('dripping', 'echo', 1), nth('good', 'echo', 2)] },
      providers: { dripping: { base_url: dripping.url, idle_timeout_ms: 14_000 } },
    });
    const answer = gateway.post(hello('acme/model'));
    for (let drop = 1; drop <= 3; drop += 1) {
      await clock.waitsFor((delayMs) => delayMs === 14_000);
      clock.forget();
      clock.advance(13_000);
      outgoing?.write('\n');
    }
    // 39 s have passed, so the fourth byte may extend the wait by six seconds only.
    await clock.waitsFor((delayMs) => delayMs === 6_000);
    clock.advance(6_000);
    expect(await usageOf(await answer)).toMatchObject({ provider: 'good', attempts: 2 });
  });
});

describe('what providers say together', () => {
  it('is a limit only if all are limited, our own limits included: the smallest wait counts', async () => {
    const limitedEntry = { ...nth('ours', 'echo', 1), more: { ...nth('ours', 'echo', 1).more, rate_limit_rpm: 1 } };
    const { gateway, clock } = await start({
      models: {
        'acme/limited': [limitedEntry, nth('theirs', 'error-429:x:25', 2)],
        'acme/mixed': [limitedEntry, nth('down', 'error-500', 2)],
        'acme/refused': [limitedEntry, nth('strict', 'error-400', 2)],
      },
      service: { queue_ms: 0 },
    });
    for (const model of ['acme/limited', 'acme/mixed', 'acme/refused']) await (await gateway.post(hello(model))).text();
    clock.advance(20_000);
    gateway.simulator.clear();
    const response = await gateway.post(hello('acme/limited'));
    await expectError(response, 429, 'rate_limited');
    expect([response.headers.get('retry-after'), response.headers.get('x-should-retry')]).toEqual(['25', null]);
    await expectError(await gateway.post(hello('acme/mixed')), 502, 'no_available_provider');
    await expectError(await gateway.post(hello('acme/refused')), 502, 'no_available_provider');
    expect(calledProviders(gateway)).toEqual(['theirs', 'down', 'strict']);
  });

  it('is no reason of the caller’s if providers reject it for different ones, or one says none', async () => {
    const context = 'error-400:context_length_exceeded';
    const { gateway } = await start({
      models: {
        'acme/agree': [nth('a', context, 1), nth('b', context, 2), nth('c', context, 3)],
        'acme/differ': [nth('a', context, 1), nth('b', 'error-400:invalid_image_url', 2), nth('c', context, 3)],
        'acme/silent': [nth('a', context, 1), nth('b', 'error-422:flat', 2)],
      },
    });
    const agreed = { reason: 'context_length_exceeded' };
    await expectError(await gateway.post(hello('acme/agree')), 400, 'invalid_request', agreed);
    await expectError(await gateway.post(hello('acme/differ')), 400, 'invalid_request');
    const streamBody = hello('acme/differ', { stream: true });
    await expectError(await gateway.post(streamBody), 400, 'invalid_request');
    await expectError(await gateway.post(hello('acme/silent')), 400, 'invalid_request');
    expect(calledProviders(gateway)).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b']);
  });
});

describe('a limiter that fails after a provider that failed', () => {
  async function startWith(admitBackup: () => Promise<never>) {
    let real: ProviderLimiter | undefined;
    const limiter = (): ProviderLimiter => {
      if (real === undefined) throw new Error('the gateway is not ready');
      return real;
    };
    const run = await start({
      models: { 'acme/model': [nth('down', 'error-500', 1), nth('backup', 'echo', 2)] },
      replace: () => ({
        limiter: {
          admit: (owner, ...rest) =>
            'provider' in owner && owner.provider === 'backup' ? admitBackup() : limiter().admit(owner, ...rest),
          settle: (...permit) => limiter().settle(...permit),
          release: (...permit) => limiter().release(...permit),
        },
      }),
    });
    const { counters, clock, randomness } = run.gateway.composition;
    real = createProviderLimiter({ writer: counters.writer, clock, randomness });
    return run;
  }

  it('and does not answer is waited for no longer than two seconds: RATE_LIMITER_UNAVAILABLE', async () => {
    const asking = Promise.withResolvers<void>();
    const { gateway, clock } = await startWith(() => {
      asking.resolve();
      return new Promise(() => {});
    });
    const answer = gateway.post(hello('acme/model'));
    await asking.promise;
    clock.advance(2_000);
    const response = await answer;
    await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(response.headers.get('retry-after')).toBe('1');
    expect(calledProviders(gateway)).toEqual(['down']);
  });
});
