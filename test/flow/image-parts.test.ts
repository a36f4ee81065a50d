// Images that their provider makes one by one: a paid part that the gateway cannot pass on.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { fullOfAnswers } from '../support/full-memory.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const maxBytes = 3 * 1024 * 1024;
/** On this clock the wait for memory takes almost no time. */
const fastClock: Clock = {
  nowMs: systemClock.nowMs,
  after: (delayMs, callback) => systemClock.after(delayMs / 50, callback),
};
const tooLong = 600_000;
const micro = 1_000_000n;
const free = { input_price_per_million: '0', output_price_per_million: '0' };
const byImage = { ...free, output_price_per_image: '0.03', apis: ['images'], max_output_tokens: 2_000 };
const byToken = {
  input_price_per_million: '1',
  output_price_per_million: '30',
  apis: ['images'],
  max_output_tokens: 2_000,
};
/** The model list does not have this name, so it adds no prices of its own. */
const upstream = 'gemini-unlisted-image';

describe('images in parts', () => {
  let provider: ScriptedProvider;
  let gateway: Harness;
  let answers: readonly number[] = [];

  const budget = createMemoryBudget(fastClock, { maxBytes });

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      const [characters = 0, ...rest] = answers;
      answers = rest;
      const data = 'a'.repeat(characters);
      const parts = [{ inlineData: { mimeType: 'image/png', data } }];
      const counts = { promptTokenCount: 10, candidatesTokenCount: 1_290, totalTokenCount: 1_300 };
      sendJson(
        outgoing,
        JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata: counts }),
      );
    });
    gateway = await startHarness({
      models: {
        image: [{ provider: 'google', upstream, more: byImage }],
        token: [
          { provider: 'google', upstream, more: byToken },
          { provider: 'other', upstream: 'echo', more: { ...byToken, output_price_per_million: '90' } },
        ],
      },
      providers: {
        google: { kind: 'google', apis: ['images', 'generate-content'], base_url: provider.url },
        other: { apis: ['images'] },
      },
      replace: () => ({ memory: budget }),
    });
  });
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    expect(gateway.composition.memory.bytesInUse()).toBe(0);
    await gateway.stop();
    await provider.stop();
  });

  async function chargeOf(model: string, n: number, lengths: readonly number[]): Promise<bigint> {
    answers = lengths;
    // Another call uses all memory, even the part that may go beyond the bound.
    const other = await fullOfAnswers(budget, maxBytes);
    const { available } = await gateway.credit();
    const response = await gateway.postTo('/images/generations', { model, prompt: 'p', n });
    const { message } = await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(message).toContain('memory');
    await gateway.settled();
    other.end();
    return available - (await gateway.credit()).available;
  }

  it('that find no memory are charged by the image, those that were made and no others, and no other provider is called', async () => {
    expect(await chargeOf('image', 1, [tooLong])).toBe(30_000n * micro);
    expect(await chargeOf('image', 2, [100, tooLong])).toBe(60_000n * micro);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('that find no memory are estimated at the bound of each if they are priced by the token', async () => {
    const bound = 2_000n * 30n * micro;
    const charge = await chargeOf('token', 2, [100, tooLong]);
    expect(charge).toBeGreaterThanOrEqual(2n * bound);
    expect(charge).toBeLessThan(2n * bound + 1_000n * micro);
    expect(gateway.simulator.calls).toEqual([]);
  });
});
