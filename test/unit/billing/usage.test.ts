import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { readUsageReport } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { readUsage } from '../../../shared/routing/billing/index.ts';

const observed = { promptTokens: 100, outputBytes: 81 };
const read = (usage: Record<string, unknown> | undefined, style: 'included' | 'additive' = 'included') =>
  readUsage(readUsageReport(usage)?.tokens, style, observed);

describe('what a call is billed for', () => {
  it('is what the provider reports', () => {
    expect(read({ prompt_tokens: 7, completion_tokens: 5 })).toEqual({
      promptTokens: 7,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      completionTokens: 5,
      estimated: false,
    });
  });

  it('is nothing where the provider reports nothing used: zero is a count', () => {
    expect(read({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      promptTokens: 0,
      completionTokens: 0,
      estimated: false,
    });
  });

  it('is estimated from bytes where the provider reports nothing', () => {
    const estimate = {
      promptTokens: 100,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      completionTokens: 21,
      estimated: true,
    };
    expect(read(undefined)).toEqual(estimate);
    expect(read({})).toEqual(estimate);
  });

  it('is estimated only for the count that is missing', () => {
    expect(read({ prompt_tokens: 7 })).toMatchObject({ promptTokens: 7, completionTokens: 21, estimated: true });
    expect(read({ completion_tokens: 5 })).toMatchObject({ promptTokens: 100, completionTokens: 5, estimated: true });
  });

  it('never takes more tokens from a cache than the prompt has, nor fewer than none', () => {
    const cached = (count: unknown) =>
      read({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: count } }).cachedTokens;
    expect([4, 10, 11, -1, 2.5, '4', null, 1e300].map(cached)).toEqual([4, 10, 10, 0, 0, 0, 0, 0]);
  });

  it('never takes more tokens for written into a cache than the prompt has beside those read from one', () => {
    const written = (count: unknown) => {
      const details = { cached_tokens: 4, cache_write_tokens: count };
      return read({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: details });
    };
    expect([3, 6, 7, -1, 2.5, '4', null, 1e300].map((count) => written(count).cacheWriteTokens)).toEqual([
      3, 6, 6, 0, 0, 0, 0, 0,
    ]);
    expect(written(7)).toMatchObject({ promptTokens: 10, cachedTokens: 4, cacheWrite1hTokens: 0 });
  });

  it('counts reasoning once: in the completion, or on top where the provider says so', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 30 } };
    expect(read(usage).completionTokens).toBe(5);
    expect(read(usage, 'additive').completionTokens).toBe(35);
    expect(read({ ...usage, completion_tokens: undefined }, 'additive').completionTokens).toBe(21);
  });

  it('never credits anyone and never charges a fortune, whatever a provider reports', () => {
    const reported = fc.record({
      prompt_tokens: fc.anything(),
      completion_tokens: fc.anything(),
      prompt_tokens_details: fc.oneof(
        fc.anything(),
        fc.record({ cached_tokens: fc.anything(), cache_write_tokens: fc.anything() }),
      ),
      completion_tokens_details: fc.oneof(fc.anything(), fc.record({ reasoning_tokens: fc.anything() })),
    });
    fc.assert(
      fc.property(reported, fc.constantFrom('included' as const, 'additive' as const), (usage, style) => {
        const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = read(usage, style);
        for (const count of [promptTokens, cachedTokens, cacheWriteTokens, completionTokens]) {
          expect(Number.isSafeInteger(count) && count >= 0 && count <= 2_000_000_000).toBe(true);
        }
        expect(cachedTokens + cacheWriteTokens).toBeLessThanOrEqual(promptTokens);
      }),
    );
  });
});
