// The prices by which calls are compared are the prices that are charged: none of the charged ones is higher, whatever
// a provider reports.
import fc from 'fast-check';
import { expect, it } from '#jest';
import type { Candidate, ModelProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { CallSize, MediaKind, UsageReport } from '../../../shared/protocol/wire/index.ts';
import { callPrices, openBill, worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { catalogueOf, entryOf, modelOf, providerOf } from '../../support/planning.ts';

const price = fc.constantFrom('0', '1', '3', '8');
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const tokenPrices = {
  input_price_per_million: price,
  output_price_per_million: price,
  cached_input_price_per_million: maybe(price),
  cache_write_input_price_per_million: maybe(price),
  cache_write_1h_input_price_per_million: maybe(price),
  audio_input_price_per_million: maybe(price),
  image_input_price_per_million: maybe(price),
  audio_output_price_per_million: maybe(price),
  image_output_price_per_million: maybe(price),
};
const anyEntry: fc.Arbitrary<Partial<ModelProviderDocument>> = fc.record({
  ...tokenPrices,
  output_price_per_image: maybe(price),
  input_price_per_character: maybe(price),
  input_price_per_second: maybe(price),
  price_per_request: maybe(price),
  price_tiers: maybe(
    fc
      .array(fc.record({ above_prompt_tokens: fc.integer({ min: 1, max: 1_500 }), ...tokenPrices }), { maxLength: 3 })
      .map((tiers) => tiers.toSorted((a, b) => a.above_prompt_tokens - b.above_prompt_tokens)),
  ),
});

/** The media tokens of the input: media of one kind, of any kind, or none. */
const anyMedia = fc.constantFrom<Pick<CallSize, 'mediaTokens' | 'mediaKind'>>(
  { mediaTokens: 0 },
  { mediaTokens: 500 },
  { mediaTokens: 500, mediaKind: 'audioInput' },
  { mediaTokens: undefined },
);
const anySize: fc.Arbitrary<CallSize> = fc
  .record({
    media: anyMedia,
    units: maybe(
      fc.record({
        images: maybe(fc.record({ count: fc.integer({ min: 1, max: 4 }) })),
        characters: maybe(fc.nat(99)),
        seconds: maybe(fc.nat(99)),
      }),
    ),
    maxOutputTokens: fc.constantFrom(0, 700),
  })
  .map(({ media, units, maxOutputTokens }) => ({
    ...media,
    units,
    maxOutputTokens,
    isOutputOpen: false,
    choices: 1,
    predictionBytes: 0,
    textBytes: 1_000,
    claudeToolTokens: 0,
    hasMediaElsewhere: false,
    contexts: 1,
    answersMax: 1,
  }));

const count = fc.nat(1_000);
const anyReport: fc.Arbitrary<UsageReport | undefined> = maybe(
  fc
    .record({
      input: maybe(count),
      output: maybe(count),
      cached: count,
      cacheWrite: count,
      cacheWrite1h: count,
      media: fc.record({ audioInput: count, imageInput: count, audioOutput: count, imageOutput: count }),
    })
    .map((tokens) => ({ tokens: { ...tokens, reasoning: 0 }, members: {} })),
);

/** Returns the kinds of input that the request has. */
const kindsOf = ({ mediaTokens, mediaKind }: CallSize): readonly MediaKind[] => {
  if (mediaTokens === undefined) return ['audioInput', 'imageInput'];
  return mediaTokens === 0 ? [] : [mediaKind ?? 'imageInput'];
};

function candidateOf(entry: Partial<ModelProviderDocument>): Candidate {
  const { models } = catalogueOf([modelOf('m', { providers: [entryOf('acme', entry)] })], [providerOf('acme')]);
  const candidate = models.get('m')?.candidates[0];
  if (candidate === undefined) throw new Error('no candidate');
  return candidate;
}

it.each([true, false])('no charge is above them, with cache writes: %s', (writes) => {
  let dearest = 0;
  fc.assert(
    fc.property(anyEntry, anySize, anyReport, (entry, size, report) => {
      const candidate = candidateOf(entry);
      const { media = {}, ...tokens } = report?.tokens ?? {};
      const kinds = [...kindsOf(size), 'audioOutput', 'imageOutput'] as const;
      // The provider reports only kinds that the request has, and writes only if it marks its prompt.
      const reported = report && {
        ...report,
        tokens: {
          ...report.tokens,
          ...tokens,
          ...(writes ? {} : { cacheWrite: 0, cacheWrite1h: 0 }),
          media: Object.fromEntries(kinds.map((kind) => [kind, media[kind] ?? 0])),
        },
      };
      const { usage, cost } = openBill().charge({
        candidate,
        reported,
        output: { outputBytes: 100 },
        payer: 'workspace',
        size,
      });
      const { input, output, units } = callPrices(candidate, size, () => writes);
      const tokensCost = BigInt(usage.promptTokens) * (input ?? 0n) + BigInt(usage.completionTokens) * (output ?? 0n);
      const unitsCost = Object.values(units).reduce((sum, unit) => sum + (unit?.total ?? 0n), 0n);
      expect(cost.total <= tokensCost + unitsCost).toBe(true);
      if (cost.total > 0n && cost.total === tokensCost + unitsCost) dearest += 1;
      expect(cost.total <= worstCaseCost([candidate], size)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  // Some bills reach the highest price, so that price is no higher than it must be.
  expect(dearest).toBeGreaterThan(20);
});
