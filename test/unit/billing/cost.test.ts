import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { formatUsd, parsePricePerMillion } from '../../../shared/foundation/money/index.ts';
import { costOf, mergeUsage, readUsage } from '../../../shared/routing/billing/index.ts';

const served = { provider: 'acme', model: 'acme/large', attempts: 1, isByok: false, cacheHit: false };

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
      fc.property(tokens, tokens, tokens, price, price, price, (prompt, cached, completion, input, hit, output) => {
        const prices = {
          input: parsePricePerMillion(input) ?? null,
          cachedInput: parsePricePerMillion(hit) ?? null,
          output: parsePricePerMillion(output) ?? null,
        };
        const reported = {
          prompt_tokens: prompt,
          completion_tokens: completion,
          prompt_tokens_details: { cached_tokens: cached },
        };
        const usage = readUsage(reported, 'included', { promptTokens: 0, outputBytes: 0 });
        const cost = costOf(usage, prices);
        const hits = Math.min(cached, prompt);
        const terms: [number, string][] = [
          [prompt - hits, input],
          [hits, hit],
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
      }),
      { numRuns: 500 },
    );
  });

  it('is told as numbers that equal their decimal string', () => {
    fc.assert(
      fc.property(tokens, tokens, price, (prompt, completion, text) => {
        const perToken = parsePricePerMillion(text) ?? null;
        const reported = { prompt_tokens: prompt, completion_tokens: completion };
        const billed = readUsage(reported, 'included', { promptTokens: 0, outputBytes: 0 });
        const cost = costOf(billed, { input: perToken, cachedInput: perToken, output: perToken });
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

  it('is nothing for an entry without a price', () => {
    const usage = readUsage({ prompt_tokens: 9, completion_tokens: 9 }, 'included', {
      promptTokens: 0,
      outputBytes: 0,
    });
    expect(costOf(usage, { input: null, cachedInput: null, output: null }).total).toBe(0n);
  });
});
