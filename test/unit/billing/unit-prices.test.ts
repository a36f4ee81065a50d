// Prices of images, characters, seconds and requests: no call is charged more than was reserved.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  imagePriceOf,
  readUnitPrices,
  type UnitPricesDocument,
} from '../../../shared/configuration/catalogue/index.ts';
import type { CallSize, Units, UsageReport } from '../../../shared/protocol/wire/index.ts';
import { openBill, worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { catalogueOf, entryOf, modelOf, providerOf } from '../../support/planning.ts';

const usd = (amount: string) => BigInt(Math.round(Number(amount) * 1e12));
const micro = 1_000_000n;
const unitsOf = (prices: UnitPricesDocument) =>
  readUnitPrices(prices) as NonNullable<ReturnType<typeof readUnitPrices>>;

const size = (units: Units, more: Partial<CallSize> = {}): CallSize => ({
  maxOutputTokens: undefined,
  isOutputOpen: true,
  choices: units.images?.count ?? 1,
  predictionBytes: 0,
  textBytes: 100,
  mediaTokens: 0,
  claudeToolTokens: 0,
  hasMediaElsewhere: false,
  contexts: 1,
  answersMax: 1,
  units,
  ...more,
});

const tokens = (
  input: number | undefined,
  output: number | undefined,
  more: Partial<UsageReport> = {},
): UsageReport => ({
  tokens: { input, output, cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 },
  members: {},
  ...more,
});

interface Called {
  /** Prices of tokens in micro-USD each. */
  readonly prices: UnitPricesDocument & { readonly input?: bigint; readonly output?: bigint };
  readonly units: Units;
  readonly came?: Units | undefined;
  readonly reported?: UsageReport | undefined;
}

function call({ prices, units, came, reported }: Called) {
  const { input = 0n, output: perToken = 0n, ...unitPrices } = prices;
  const tokenPrices = { input_price_per_million: String(input), output_price_per_million: String(perToken) };
  const entry = entryOf('acme', { ...tokenPrices, ...unitPrices });
  const { models } = catalogueOf([modelOf('m', { providers: [entry] })], [providerOf('acme')]);
  const candidate = models.get('m')?.candidates[0];
  if (candidate === undefined) throw new Error('no candidate');
  const callSize = size(units);
  const held = worstCaseCost([candidate], callSize);
  const output = { outputBytes: 0, units: came };
  const charge = openBill().charge({ candidate, reported, output, payer: 'workspace', size: callSize });
  return { held, billed: charge.cost.total, estimated: charge.usage.estimated };
}

describe('the price of an image', () => {
  const prices = unitsOf({
    image_prices: { '1024x1024/high': '0.17', '1024x1024/low': '0.01', '1536x1024': '0.06', default: '0.04' },
    output_price_per_image: '9',
  });
  it.each([
    [{ size: '1024x1024', quality: 'high' }, '0.17'],
    [{ size: '1024x1024', quality: 'low' }, '0.01'],
    // Several prices match; the highest counts.
    [{ size: '1024x1024' }, '0.17'],
    [{ size: 'auto', quality: 'low' }, '0.06'],
    [{ size: '1536x1024', quality: 'low' }, '0.06'],
    // The first row has the size and quality that the provider documents as default; in the second the provider chooses
    // them.
    [{}, '0.04'],
    [{ size: 'auto', quality: 'auto' }, '0.17'],
    [{ size: '1024x1024', quality: 'other' }, '0.04'],
    [{ size: '256x256', quality: 'low' }, '0.04'],
  ])('depends on size and quality: %j costs %s', (image, price) =>
    expect(imagePriceOf(prices, image)).toBe(usd(price)),
  );

  it('of a size that no price fits is the most expensive, and never nothing', () => {
    const imageUnits = unitsOf({ image_prices: { '512x512': '0.018', '1024x1024': '0.02' } });
    expect(imagePriceOf(imageUnits, { size: '2048x2048' })).toBe(usd('0.02'));
    expect(imagePriceOf(unitsOf({ price_per_request: '1' }), {})).toBeUndefined();
  });
});

describe('what is priced by something else than tokens', () => {
  const image = { output_price_per_image: '0.04' };
  const tokenPriced = { input: 5n, output: 40n };

  it('costs what came of what was asked for, exactly, whatever a provider says nothing of', () => {
    const images = { count: 3 };
    const three = call({ prices: image, units: { images } });
    expect(three).toEqual({ held: usd('0.12'), billed: usd('0.12'), estimated: false });
    const two = call({ prices: image, units: { images }, came: { images: { count: 2 } } });
    expect(two).toEqual({ held: usd('0.12'), billed: usd('0.08'), estimated: false });
    const more = call({ prices: image, units: { images }, came: { images: { count: 9 } } });
    expect(more.billed).toBe(usd('0.12'));
  });

  it('is billed by the size that the answer names only if the request left it open', () => {
    const prices = { image_prices: { '1024x1024': '0.04', '1792x1024': '0.08' } };
    const came = { images: { count: 1, size: '1024x1024' } };
    expect(call({ prices, units: { images: { count: 1 } }, came })).toMatchObject({
      held: usd('0.08'),
      billed: usd('0.04'),
    });
    expect(call({ prices, units: { images: { count: 1, size: '1792x1024' } }, came }).billed).toBe(usd('0.08'));
  });

  it('is flagged as a guess if neither request, answer nor price list says which image it is', () => {
    const sized = { '1024x1024/hd': '0.08', '1024x1024/standard': '0.04' };
    const images = { count: 1 };
    const guessed = call({ prices: { image_prices: sized }, units: { images }, came: { images } });
    expect(guessed).toEqual({ held: usd('0.08'), billed: usd('0.08'), estimated: true });
    const usual = call({
      prices: { image_prices: { ...sized, default: '0.04' } },
      units: { images },
      came: { images },
    });
    expect(usual).toEqual({ held: usd('0.04'), billed: usd('0.04'), estimated: false });
    const units = { images: { count: 1, size: '1024x1024', quality: 'standard' } };
    expect(call({ prices: { image_prices: sized }, units: { images }, came: units })).toMatchObject({
      billed: usd('0.04'),
      estimated: false,
    });
  });

  it('is billed by reported tokens if these have prices', () => {
    const prices = { ...image, ...tokenPriced };
    const units = { images: { count: 1 } };
    expect(call({ prices, units, reported: tokens(10, 1_000) }).billed).toBe((10n * 5n + 1_000n * 40n) * micro);
    // Without a price of tokens, tokens add nothing to the price of the image.
    expect(call({ prices: image, units, reported: tokens(10, 1_000) }).billed).toBe(usd('0.04'));
  });

  it('is estimated by the bound of each image that came, if images are priced by the token alone', () => {
    const units = { images: { count: 4 } };
    const { held, billed, estimated } = call({ prices: tokenPriced, units, came: { images: { count: 1 } } });
    // 100 bytes reserve 100 tokens, and are estimated as 25.
    expect(held).toBe((100n * 5n + 4n * 4_096n * 40n) * micro);
    expect(billed).toBe((25n * 5n + 4_096n * 40n) * micro);
    expect(estimated).toBe(true);
  });

  it('costs by characters or seconds all that it costs, and each request its own price', () => {
    expect(call({ prices: { input_price_per_character: '0.000015' }, units: { characters: 1_001 } })).toEqual({
      held: usd('0.015015'),
      billed: usd('0.015015'),
      estimated: false,
    });
    const second = { input_price_per_second: '0.0001' };
    const reported = tokens(undefined, undefined, { seconds: 9.5 });
    expect(call({ prices: second, units: { seconds: 60 }, reported })).toEqual({
      held: usd('0.006'),
      billed: usd('0.00095'),
      estimated: false,
    });
    // A report above the reservation is not believed.
    const longer = tokens(undefined, undefined, { seconds: 61 });
    expect(call({ prices: second, units: { seconds: 60 }, reported: longer }).billed).toBe(usd('0.006'));
    expect(call({ prices: { price_per_request: '0.002' }, units: {} })).toMatchObject({
      held: usd('0.002'),
      billed: usd('0.002'),
    });
  });

  it('never costs more than was reserved, if the provider reports nothing', () => {
    const price = fc.option(fc.constantFrom('0', '0.000001', '0.04', '1'), { nil: undefined });
    const word = fc.option(fc.constantFrom('auto', '1x1', '2x2'), { nil: undefined });
    const images = fc.record({ count: fc.integer({ min: 1, max: 10 }), size: word, quality: word });
    const prices = fc.record({
      output_price_per_image: price,
      image_prices: fc.option(
        fc.dictionary(fc.constantFrom('1x1', '1x1/2x2', '2x2', 'default'), fc.constantFrom('0.1', '3')),
        {
          nil: undefined,
        },
      ),
      input_price_per_character: price,
      input_price_per_second: price,
      price_per_request: price,
      input: fc.bigInt(0n, 9n),
      output: fc.bigInt(0n, 9n),
    });
    const amount = fc.record({
      images: fc.option(images, { nil: undefined }),
      characters: fc.option(fc.nat(1_000), { nil: undefined }),
      seconds: fc.option(fc.nat(1_000), { nil: undefined }),
    });
    fc.assert(
      fc.property(prices, amount, fc.option(amount, { nil: undefined }), (unitPrices, units, came) => {
        const { held, billed } = call({ prices: unitPrices as Called['prices'], units, came });
        expect(billed <= held).toBe(true);
      }),
    );
  });
});
