import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { formatUsd, parsePricePerMillion } from '../../../shared/foundation/money/index.ts';
import { readUsageReport } from '../../../shared/protocol/interfaces/chat-completions/read-usage.ts';
import { toBilledUsage } from '../../../shared/routing/billing/billed-usage.ts';
import { costOf } from '../../../shared/routing/billing/cost.ts';
import { mergeUsage, unseenOutputTokens } from '../../../shared/routing/billing/index.ts';
import { entryOf, planFactsOf } from '../../support/planning.ts';

const servedCall = { provider: 'acme', model: 'acme/large', attempts: 1, isByok: false, cacheHit: false };

const pricedAt = (price: bigint | null) => ({
  input: price,
  cachedInput: price,
  cacheWrite: price,
  cacheWrite1h: price,
  media: {},
  output: price,
  tiers: [],
});

/** Returns a decimal string as a fraction of two integers. */
function fractionOf(text: string): [numerator: bigint, denominator: bigint] {
  const [whole = '0', decimals = ''] = text.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

describe('the cost of a call', () => {
  const price = fc
    .tuple(fc.nat(5_000), fc.nat(999_999), fc.integer({ min: 0, max: 6 }))
    .map(([whole, fraction, decimals]) =>
      decimals === 0 ? String(whole) : `${whole}.${String(fraction).padStart(6, '0').slice(0, decimals)}`,
    );
  const tokens = fc.nat(10_000_000);

  it('equals the fraction that pen and paper give', () => {
    fc.assert(
      fc.property(
        fc.tuple(tokens, tokens, tokens, tokens, tokens),
        fc.tuple(price, price, price, price, price),
        (counts, texts) => {
          const [prompt, cached, writtenTokens, hour, completion] = counts;
          const [input, hit, write, keep, output] = texts;
          const prices = {
            input: parsePricePerMillion(input) ?? null,
            cachedInput: parsePricePerMillion(hit) ?? null,
            cacheWrite: parsePricePerMillion(write) ?? null,
            cacheWrite1h: parsePricePerMillion(keep) ?? null,
            output: parsePricePerMillion(output) ?? null,
            media: {},
            tiers: [],
          };
          const reportedTokens = {
            input: prompt,
            cached,
            cacheWrite: writtenTokens,
            cacheWrite1h: hour,
            output: completion,
            reasoning: 0,
          };
          const usage = toBilledUsage(reportedTokens, 'included', { promptTokens: 0, outputBytes: 0 });
          const cost = costOf(usage, prices);
          const hits = Math.min(cached, prompt);
          const writes = Math.min(writtenTokens, prompt - hits);
          const hourWrites = Math.min(hour, writes);
          const terms: [number, string][] = [
            [prompt - hits - writes, input],
            [hits, hit],
            [writes - hourWrites, write],
            [hourWrites, keep],
            [completion, output],
          ];
          const denominator = 10n ** 12n;
          const expected = terms.reduce((sum, [count, text]) => {
            const [top, bottom] = fractionOf(text);
            return sum + (BigInt(count) * top * denominator) / (bottom * 1_000_000n);
          }, 0n);
          const [top, bottom] = fractionOf(formatUsd(cost.total));
          expect(top * denominator).toBe(expected * bottom);
          expect(cost.total).toBe(cost.prompt + cost.completion);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is reported as numbers that equal their decimal string', () => {
    fc.assert(
      fc.property(tokens, tokens, price, (prompt, completion, text) => {
        const perToken = parsePricePerMillion(text) ?? null;
        const reportedUsage = { prompt_tokens: prompt, completion_tokens: completion };
        const billed = toBilledUsage(readUsageReport(reportedUsage)?.tokens, 'included', {
          promptTokens: 0,
          outputBytes: 0,
        });
        const cost = costOf(billed, pricedAt(perToken));
        const merged = mergeUsage(reportedUsage, billed, { total: cost.total, upstream: cost }, servedCall) as {
          cost: unknown;
          cost_usd: string;
          cost_details: object;
        };
        expect(typeof merged.cost).toBe('number');
        expect(merged.cost).toBe(Number(merged.cost_usd));
        expect(merged.cost_usd).toBe(formatUsd(cost.total));
        for (const part of Object.values(merged.cost_details)) expect(typeof part).toBe('number');
        expect(JSON.stringify(merged)).not.toContain('null');
      }),
    );
  });

  it('is that of the input for what is written into a cache, if its entry names no other price', () => {
    const pricesOf = (more: object) => {
      const entry = { ...entryOf('acme'), input_price_per_million: '2', ...more };
      return planFactsOf([entry]).catalogue.models.get('m')?.candidates[0]?.prices;
    };
    expect(pricesOf({})).toMatchObject({ cachedInput: 2_000_000n, cacheWrite: 2_000_000n, cacheWrite1h: 2_000_000n });
    expect(pricesOf({ cache_write_input_price_per_million: '3' })).toMatchObject({
      input: 2_000_000n,
      cacheWrite: 3_000_000n,
      cacheWrite1h: 3_000_000n,
    });
    expect(pricesOf({ cache_write_1h_input_price_per_million: '4' })).toMatchObject({
      cacheWrite: 2_000_000n,
      cacheWrite1h: 4_000_000n,
    });
  });

  it('is nothing for an entry without a price', () => {
    const { tokens } = readUsageReport({ prompt_tokens: 9, completion_tokens: 9 }) ?? {};
    const usage = toBilledUsage(tokens, 'included', { promptTokens: 0, outputBytes: 0 });
    expect(costOf(usage, pricedAt(null)).total).toBe(0n);
  });
});

const observed = { promptTokens: 100, outputBytes: 81 };
const read = (usage: Record<string, unknown> | undefined, style: 'included' | 'additive' = 'included') =>
  toBilledUsage(readUsageReport(usage)?.tokens, style, observed);

describe('what a call is billed for', () => {
  it('is nothing if the provider reports nothing used: zero is a count', () => {
    expect(read({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      promptTokens: 0,
      completionTokens: 0,
      estimated: false,
    });
  });

  it('is estimated from bytes if the provider reports nothing', () => {
    const estimate = {
      promptTokens: 100,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      completionTokens: 21,
      media: expect.anything(),
      estimated: true,
    };
    expect(read(undefined)).toEqual(estimate);
    expect(read({})).toEqual(estimate);
  });

  it('is estimated only for the count that is missing', () => {
    expect(read({ prompt_tokens: 7 })).toMatchObject({ promptTokens: 7, completionTokens: 21, estimated: true });
    expect(read({ completion_tokens: 5 })).toMatchObject({ promptTokens: 100, completionTokens: 5, estimated: true });
  });

  it('is what was written unseen too, if the client left', () => {
    const observation = { ...observed, bytesAfterUsage: 4, unseenTokens: unseenOutputTokens(15_000) };
    const readLeft = (usage: Record<string, unknown> | undefined) =>
      toBilledUsage(readUsageReport(usage)?.tokens, 'included', observation);
    expect(readLeft(undefined)).toMatchObject({ completionTokens: 521, estimated: true });
    expect(readLeft({ prompt_tokens: 7, completion_tokens: 5 })).toMatchObject({
      promptTokens: 7,
      completionTokens: 506,
      estimated: true,
    });
    expect([-1, 0, 5_000, 5_001, 65_000].map(unseenOutputTokens)).toEqual([0, 0, 0, 1, 3_000]);
  });

  it('never takes more tokens from a cache than the prompt has, nor fewer than none', () => {
    const cached = (count: unknown) =>
      read({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: count } }).cachedTokens;
    expect([4, 10, 11, -1, 2.5, '4', null, 1e300].map(cached)).toEqual([4, 10, 10, 0, 0, 0, 0, 0]);
  });

  it('never takes more tokens for written into a cache than the prompt has beside those read from one', () => {
    const billedFor = (count: unknown) => {
      const details = { cached_tokens: 4, cache_write_tokens: count };
      return read({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: details });
    };
    expect([3, 6, 7, -1, 2.5, '4', null, 1e300].map((count) => billedFor(count).cacheWriteTokens)).toEqual([
      3, 6, 6, 0, 0, 0, 0, 0,
    ]);
    expect(billedFor(7)).toMatchObject({ promptTokens: 10, cachedTokens: 4, cacheWrite1hTokens: 0 });
  });

  it('counts reasoning once: in the completion, or on top if the provider says so', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 30 } };
    expect(read(usage).completionTokens).toBe(5);
    expect(read(usage, 'additive').completionTokens).toBe(35);
    expect(read({ ...usage, completion_tokens: undefined }, 'additive').completionTokens).toBe(21);
  });

  it('never credits anyone and never charges a fortune, whatever a provider reports', () => {
    const reportedUsage = fc.record({
      prompt_tokens: fc.anything(),
      completion_tokens: fc.anything(),
      prompt_tokens_details: fc.oneof(
        fc.anything(),
        fc.record({ cached_tokens: fc.anything(), cache_write_tokens: fc.anything() }),
      ),
      completion_tokens_details: fc.oneof(fc.anything(), fc.record({ reasoning_tokens: fc.anything() })),
    });
    fc.assert(
      fc.property(reportedUsage, fc.constantFrom('included' as const, 'additive' as const), (usage, style) => {
        const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = read(usage, style);
        for (const count of [promptTokens, cachedTokens, cacheWriteTokens, completionTokens]) {
          expect(Number.isSafeInteger(count) && count >= 0 && count <= 2_000_000_000).toBe(true);
        }
        expect(cachedTokens + cacheWriteTokens).toBeLessThanOrEqual(promptTokens);
      }),
    );
  });
});
