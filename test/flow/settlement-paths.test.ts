// Every way a call can end: what it cost is charged exactly once, nothing stays held, and one record says so.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { requestBudgetMs, streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { readUntil } from '../support/read-stream.ts';
import { awaitingClock, eventually } from '../support/watched-clock.ts';

const dear = { input_price_per_million: '3.00', output_price_per_million: '9.00' };
const backed = (upstream: string) => [
  { provider: 'acme', upstream },
  { provider: 'good', upstream: 'usage:1000:500', more: dear },
];
const alone = [
  'error-400',
  'error-429',
  'error-500',
  'error-html',
  'reset',
  'cut',
  'cut-clean',
  'garbage',
  'empty-stream',
  'error-after-role',
  'error-after-chunks:3',
  'endless:1',
  'silent',
  'slow:300',
  'slow-chunks:10',
  'stall:3',
];
const models = {
  ...Object.fromEntries(alone.map((upstream) => [`alone/${upstream}`, [{ provider: 'acme', upstream }]])),
  ...Object.fromEntries(['error-500', 'error-after-role'].map((upstream) => [`backed/${upstream}`, backed(upstream)])),
};
/** 1,000 and 500 tokens at the prices of the provider behind. */
const dearCost = 7_500_000_000n;

describe('a call', () => {
  let harness: Harness;
  const clock = awaitingClock();
  let spentBefore = 0n;

  beforeAll(async () => {
    harness = await startHarness({
      clock,
      models,
      key: { spend_limit_usd: '50' },
      workspace: { spend_limit_usd: '60' },
    });
  });
  afterAll(() => harness.stop());

  /** What one call cost, and its record. */
  async function booked() {
    await harness.settled();
    // The records of two calls must not be of the same millisecond: the last one is the one that is looked at.
    clock.advance(1);
    const spent = await expectBalancedBooks(harness);
    const charged = spent - spentBefore;
    spentBefore = spent;
    const record = (await harness.records()).at(-1);
    expect(record?.costPicoUsd).toBe(charged);
    expect(BigInt(((await harness.keyItem()).spent_pico_usd as number) ?? 0)).toBe(spent);
    return { charged, record };
  }

  it.each([false, true])('that falls back pays the provider that answered: stream %s', async (stream) => {
    const model = stream ? 'backed/error-after-role' : 'backed/error-500';
    expect(await outcomeOf(await harness.post(hello(model, { stream })))).toBe('ok');
    const { charged, record } = await booked();
    expect(charged).toBe(dearCost);
    expect(record).toMatchObject({ outcome: 'ok', provider: 'good', attempts: 2 });
    expect(record?.attemptCauses).toHaveLength(1);
  });

  const failing: [string, string, boolean][] = [
    ['error-400', 'invalid_request', false],
    ['error-400', 'invalid_request', true],
    ['error-429', 'rate_limited', false],
    ['error-500', 'no_available_provider', false],
    ['error-500', 'no_available_provider', true],
    ['error-html', 'no_available_provider', true],
    ['reset', 'no_available_provider', false],
    ['cut', 'no_available_provider', false],
    ['cut-clean', 'no_available_provider', false],
    ['garbage', 'no_available_provider', false],
    ['empty-stream', 'no_available_provider', true],
    ['error-after-role', 'no_available_provider', true],
  ];

  it.each(failing)(
    'that fails before its first output costs nothing: %s, %s, stream %s',
    async (name, code, stream) => {
      expect(await outcomeOf(await harness.post(hello(`alone/${name}`, { stream })))).toBe(code);
      const { charged, record } = await booked();
      expect(charged).toBe(0n);
      expect(record).toMatchObject({ outcome: code, attempts: 1, promptTokens: 0, completionTokens: 0 });
      expect(record).not.toHaveProperty('provider');
    },
  );

  it.each(['error-after-chunks:3', 'cut'])('whose stream breaks pays for what was relayed: %s', async (name) => {
    const text = await (await harness.post(hello(`alone/${name}`, { stream: true }))).text();
    expect(text).toContain('"code":"no_available_provider"');
    const { charged, record } = await booked();
    expect(charged).toBeGreaterThan(0n);
    expect(record).toMatchObject({ outcome: 'cut', cutCode: 'no_available_provider', estimated: true, attempts: 1 });
  });

  const gone = async (body: Record<string, unknown>, model: string) => {
    harness.simulator.clear();
    const client = new AbortController();
    const answer = harness.post(hello(model, body), {}, client.signal);
    await harness.simulator.until((calls) => calls.length === 1);
    client.abort();
    await expect(answer).rejects.toThrow();
    // Answered after the gateway has seen the connection close.
    await (await fetch(`${harness.url}/models`)).text();
  };

  it('whose client leaves before the JSON answer pays for it when it comes', async () => {
    await gone({}, 'alone/slow:300');
    const { charged, record } = await booked();
    expect(charged).toBeGreaterThan(0n);
    expect(record).toMatchObject({ outcome: 'client_gone', provider: 'acme', attempts: 1, estimated: false });
  });

  it('whose client leaves a stream before its last chunk pays what the provider reports, not what was relayed', async () => {
    const client = new AbortController();
    const whole = await (await harness.post(hello('alone/slow-chunks:10'))).json();
    const { charged: price } = await booked();
    const response = await harness.post(hello('alone/slow-chunks:10', { stream: true }), {}, client.signal);
    await readUntil(response, 'content');
    client.abort();
    const { charged, record } = await booked();
    expect(charged).toBe(price);
    expect(record).toMatchObject({ outcome: 'client_gone', estimated: false });
    expect(record?.completionTokens).toBe((whole as { usage: { completion_tokens: number } }).usage.completion_tokens);
  });

  it.each([
    [true, streamReadOnMaxMs],
    [false, requestBudgetMs],
  ])('whose client leaves a provider that never answers costs nothing: stream %s', async (stream, readOnMs) => {
    await gone({ stream }, 'alone/silent');
    // The timers of both run from the request on, so they do not show that the server has seen the client leave.
    for (let round = 0; round < 20; round++) await fetch(new URL('/health', harness.url));
    await eventually(() => clock.isAwaiting(readOnMs));
    clock.advance(readOnMs);
    const { charged, record } = await booked();
    expect(charged).toBe(0n);
    expect(record).toMatchObject({ outcome: 'client_gone', attempts: 1 });
  });
});

describe('a fault of ours', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  const fault = () => {
    throw new TypeError('injected');
  };

  it.each(['limiter', 'transport', 'recorder', 'responseCache', 'cooldowns', 'idempotency'] as const)(
    'leaves the books balanced, whatever part of us it is in: %s',
    async (part) => {
      harness = await startHarness({
        models: {
          'a/ok': [{ provider: 'acme', upstream: 'usage:1000:500' }],
          'a/bad': [{ provider: 'acme', upstream: 'error-500' }],
        },
        key: { spend_limit_usd: '50', rpm: 1_000 },
        replace: (composition) => {
          const faulty = Object.fromEntries(Object.keys(composition[part]).map((name) => [name, fault]));
          // What is asked before anything is taken stays.
          const kept = {
            cooldowns: { ...composition.cooldowns, report: fault, flush: fault },
            transport: { ...composition.transport, send: fault },
          };
          return { [part]: { ...faulty, ...(kept as Record<string, object>)[part] } };
        },
      });
      const headers = (id: string) => ({ 'idempotency-key': id, 'x-gw-span-id': id });
      for (const stream of [false, true]) {
        for (const model of ['a/ok', 'a/bad']) {
          const response = await harness.post(hello(model, { stream, cache: {} }), headers(`${model}-${stream}`));
          expect(await response.text()).not.toContain('injected');
        }
      }
      await harness.settled();
      await expectBalancedBooks(harness);
    },
  );
});
