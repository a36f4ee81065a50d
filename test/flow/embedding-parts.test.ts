// A list of texts for a provider that accepts one text a request: the gateway sends four texts at a time, within the
// provider's requests a minute.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { watchedClock } from '../support/watched-clock.ts';

it('a list of texts goes out in four concurrent parts, no more and no fewer, and comes back in its order', async () => {
  let inFlight = 0;
  let most = 0;
  const full = Promise.withResolvers<void>();
  const more = { output_price_per_million: '0', max_output_tokens: 1, apis: ['embeddings'] };
  const gateway = await startHarness({
    models: { titan: [{ provider: 'bedrock', upstream: 'amazon.titan-embed-text-v2:0', more }] },
    providers: { bedrock: { kind: 'bedrock' } },
    replace: ({ transport }) => ({
      transport: {
        ...transport,
        async send(request) {
          inFlight += 1;
          most = Math.max(most, inFlight);
          if (inFlight === 4) full.resolve();
          // The first four requests wait for each other.
          await full.promise;
          return transport.send(request).finally(() => {
            inFlight -= 1;
          });
        },
      },
    }),
  });
  const input = Array.from({ length: 12 }, (_, at) => `text number ${at}`);
  const answer = await gateway.postTo('/embeddings', { model: 'titan', input });
  const { data } = (await answer.json()) as { data: { index: number }[] };
  expect(data.map(({ index }) => index)).toEqual(input.map((_, at) => at));
  expect(gateway.simulator.calls).toHaveLength(12);
  expect(most).toBe(4);
  await gateway.stop();
});

const minuteMs = 60_000;

describe('a provider with a limit of requests', () => {
  const clock = watchedClock(20_832 * 24 * 60 * minuteMs);
  /** The number of requests that are still rate limited, by a word in their text. */
  const requestsLeft = new Map<string, number>();
  let gateway: Harness;
  beforeAll(async () => {
    const more = { output_price_per_million: '0', max_output_tokens: 1, rate_limit_rpm: 10 };
    const titan = { provider: 'bedrock', upstream: 'amazon.titan-embed-text-v2:0' };
    gateway = await startHarness({
      clock,
      service: { queue_ms: 0 },
      models: {
        ten: [{ ...titan, more: { ...more, apis: ['embeddings'] } }],
        more: [{ ...titan, more: { ...more, rate_limit_rpm: 1_000, apis: ['embeddings'] } }],
        draws: [
          {
            provider: 'google',
            upstream: 'gemini-2.5-flash-image',
            more: { ...more, rate_limit_rpm: 3, apis: ['images'] },
          },
        ],
      },
      providers: { bedrock: { kind: 'bedrock' }, google: { kind: 'google' } },
      replace: ({ transport }) => ({
        transport: {
          ...transport,
          async send(request) {
            const word = [...requestsLeft.keys()].find((name) => String(request.body).includes(name));
            const remaining = word === undefined ? 0 : (requestsLeft.get(word) ?? 0);
            const answer = await transport.send(request);
            if (word === undefined || remaining === 0) return answer;
            requestsLeft.set(word, remaining - 1);
            return { ...answer, status: 429, headers: { ...answer.headers, 'retry-after': '7' } };
          },
        },
      }),
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await gateway.settled();
    clock.advance(minuteMs - (clock.nowMs() % minuteMs));
    clock.advance(minuteMs);
    gateway.simulator.clear();
  });
  const texts = (count: number, word = 'text') => Array.from({ length: count }, (_, at) => `${word} number ${at}`);
  const embed = (model: string, input: readonly string[]) => gateway.postTo('/embeddings', { model, input });
  /** Makes a call and returns its answer after the clock has twice passed the wait that the provider asked for. */
  async function embedAfterTwoPauses(input: readonly string[]): Promise<Response> {
    clock.forget();
    const answering = embed('more', input);
    for (const pauses of [1, 2]) {
      await clock.waitsFor((delayMs) => delayMs === 7_000, pauses);
      clock.advance(7_000);
    }
    return answering;
  }

  it('is asked for all that a call will send to it, before anything is paid', async () => {
    expect((await embed('ten', texts(6))).status).toBe(200);
    await gateway.settled();
    const { spent } = await gateway.credit();
    const refusal = await embed('ten', texts(6));
    expect(refusal.headers.get('retry-after')).not.toBeNull();
    expect(refusal.headers.get('x-should-retry')).not.toBe('false');
    await expectError(refusal, 429, 'rate_limited');
    await gateway.settled();
    expect((await gateway.credit()).spent).toBe(spent);
    expect(gateway.simulator.calls).toHaveLength(6);
    expect((await embed('ten', texts(4))).status).toBe(200);
    expect(gateway.simulator.calls).toHaveLength(10);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['texts', '/embeddings', { model: 'ten', input: texts(30) }, 'bedrock 10 requests a minute'],
    ['images', '/images/generations', { model: 'draws', prompt: 'a cat', n: 4 }, 'google 3 requests a minute'],
  ])(
    'never gets a call of more %s than a whole minute has, and the refusal is final',
    async (_name, path, body, limit) => {
      await gateway.settled();
      const { spent } = await gateway.credit();
      const refusal = await gateway.postTo(path, body);
      expect(refusal.headers.get('x-should-retry')).toBe('false');
      expect(refusal.headers.get('retry-after')).toBeNull();
      const { message } = (await refusal.json()) as { message: string };
      expect([refusal.status, message]).toEqual([429, expect.stringContaining(limit)]);
      await gateway.settled();
      expect(gateway.simulator.calls).toEqual([]);
      expect((await gateway.credit()).spent).toBe(spent);
    },
  );

  it('is asked once more for a part that it limited, so that the others are not lost', async () => {
    requestsLeft.set('twice number 3', 2);
    const answer = await embedAfterTwoPauses(texts(6, 'twice'));
    const { data } = (await answer.json()) as { data: { index: number }[] };
    expect([answer.status, data.map(({ index }) => index)]).toEqual([200, [0, 1, 2, 3, 4, 5]]);
    expect(gateway.simulator.calls).toHaveLength(8);
  });

  it('is not asked for ever: what was used is charged', async () => {
    requestsLeft.set('always number 3', 1_000);
    const before = await gateway.credit();
    await expectError(await embedAfterTwoPauses(texts(6, 'always')), 429, 'rate_limited');
    await gateway.settled();
    const calls = gateway.simulator.calls.filter(({ body }) => JSON.stringify(body).includes('number 3'));
    expect(calls).toHaveLength(3);
    expect((await gateway.credit()).spent).toBeGreaterThan(before.spent);
    await expectBalancedBooks(gateway);
  });
});
