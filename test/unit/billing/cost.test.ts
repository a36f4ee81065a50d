import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { formatUsd, parsePricePerMillion } from '../../../shared/foundation/money/index.ts';
import { readUsageReport } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { costOf, mergeUsage, readUsage } from '../../../shared/routing/billing/index.ts';
import { entryOf, planFactsOf } from '../../support/planning.ts';

const served = { provider: 'acme', model: 'acme/large', attempts: 1, isByok: false, cacheHit: false };

const pricedAt = (price: bigint | null) => ({
  input: price,
  cachedInput: price,
  cacheWrite: price,
  cacheWrite1h: price,
  output: price,
});

/** A decimal string as a fraction of two integers. */
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
          const [prompt, cached, written, hour, completion] = counts;
          const [input, hit, write, keep, output] = texts;
          const prices = {
            input: parsePricePerMillion(input) ?? null,
            cachedInput: parsePricePerMillion(hit) ?? null,
            cacheWrite: parsePricePerMillion(write) ?? null,
            cacheWrite1h: parsePricePerMillion(keep) ?? null,
            output: parsePricePerMillion(output) ?? null,
          };
          const reported = {
            input: prompt,
            cached,
            cacheWrite: written,
            cacheWrite1h: hour,
            output: completion,
            reasoning: 0,
          };
          const usage = readUsage(reported, 'included', { promptTokens: 0, outputBytes: 0 });
          const cost = costOf(usage, prices);
          const hits = Math.min(cached, prompt);
          const writes = Math.min(written, prompt - hits);
          const kept = Math.min(hour, writes);
          const terms: [number, string][] = [
            [prompt - hits - writes, input],
            [hits, hit],
            [writes - kept, write],
            [kept, keep],
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

  it('is told as numbers that equal their decimal string', () => {
    fc.assert(
      fc.property(tokens, tokens, price, (prompt, completion, text) => {
        const perToken = parsePricePerMillion(text) ?? null;
        const reported = { prompt_tokens: prompt, completion_tokens: completion };
        const billed = readUsage(readUsageReport(reported)?.tokens, 'included', { promptTokens: 0, outputBytes: 0 });
        const cost = costOf(billed, pricedAt(perToken));
        const merged = mergeUsage(reported, billed, { total: cost.total, upstream: cost }, served) as {
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

  it('is that of the input for what is written into a cache, where its entry names no other price', () => {
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
    const usage = readUsage(tokens, 'included', { promptTokens: 0, outputBytes: 0 });
    expect(costOf(usage, pricedAt(null)).total).toBe(0n);
  });
});
