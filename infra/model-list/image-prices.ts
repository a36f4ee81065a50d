// Prices of images by size and quality, of which LiteLLM's list has a row each: `high/1024-x-1536/gpt-image-1`.
import { costOf, type LitellmList, type LitellmModel, type NamedRow, nameOf } from './litellm-row.ts';
import { exactUsdText } from './usd-text.ts';

interface SizedImages {
  readonly named: NamedRow;
  /** By `SIZE/QUALITY`. */
  readonly prices: Readonly<Record<string, string>>;
  readonly endsOn: unknown;
}

const sizedName = /^(low|medium|high|standard|hd)\/(\d+)-x-(\d+)\/([^/]+)$/;

/** By `KIND NAME` of the model. */
export function readImagePrices(list: LitellmList): ReadonlyMap<string, SizedImages> {
  const found = new Map<string, SizedImages>();
  for (const [listName, model] of Object.entries(list)) {
    const row = nameOf(listName, model);
    const [, quality = '', width = '', height = '', name = ''] = sizedName.exec(row?.name ?? '') ?? [];
    const cost = imageCost(model, Number(width) * Number(height));
    if (row === undefined || name === '' || cost === undefined) continue;
    const key = `${row.kind} ${name}`;
    const former = found.get(key)?.prices;
    found.set(key, {
      named: { kind: row.kind, name, isName: true },
      prices: { ...former, [`${width}x${height}/${quality}`]: exactUsdText(cost) },
      endsOn: model.deprecation_date,
    });
  }
  for (const [key, sized] of found) found.set(key, { ...sized, prices: withoutAliases(sized.prices) });
  return found;
}

/** Nothing means that the list does not know it. */
function imageCost(model: LitellmModel, pixels: number): number | undefined {
  const whole = costOf(model, 'input_cost_per_image') ?? 0;
  // Pixels have fewer digits than the price that they come from.
  const byPixel = Number(((costOf(model, 'input_cost_per_pixel') ?? 0) * pixels).toFixed(6));
  return whole || byPixel || undefined;
}

/** Where others are listed, `standard` is a former name of one of them, which the list prices as the cheapest. */
const withoutAliases = (prices: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.keys(prices).some((name) => name.endsWith('/low'))
    ? Object.fromEntries(Object.entries(prices).filter(([name]) => !name.endsWith('/standard')))
    : prices;
