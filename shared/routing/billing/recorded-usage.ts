// Writes the usage of a call for its record: the tokens, and the other units that were counted.
import type { CountedUnits } from '../../foundation/constants/index.ts';
import type { Bill } from './bill.ts';
import { type BilledUsage, sumBilledUsage } from './billed-usage.ts';

type RecordedUsage = Pick<
  BilledUsage,
  'promptTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'completionTokens' | 'estimated'
> & { readonly units: CountedUnits | undefined };

export function recordedUsage({ charges }: Pick<Bill, 'charges'>): RecordedUsage {
  const usages = charges.map(({ usage }) => usage);
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, estimated } = sumBilledUsage(
    usages.map((usage) => (isByUnits(usage) ? withoutGuesses(usage) : usage)),
  );
  return { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, estimated, units: unitsOf(usages) };
}

/** True if units determine its exact price. */
const isByUnits = (usage: BilledUsage): boolean => !usage.estimated && unitsOf([usage]) !== undefined;

/** Removes tokens that the provider has not reported, and that no price includes. */
const withoutGuesses = ({ reportedCounts, ...usage }: BilledUsage): BilledUsage => ({
  ...usage,
  promptTokens: reportedCounts?.input === true ? usage.promptTokens : 0,
  completionTokens: reportedCounts?.output === true ? usage.completionTokens : 0,
});

function unitsOf(usages: readonly BilledUsage[]): CountedUnits | undefined {
  const sums: Record<string, number> = {};
  for (const { units } of usages) {
    if (units === undefined) continue;
    const { images, characters, seconds, requests } = units;
    // Calls that only count tokens are billed as no request.
    const counted = { images: images?.count, characters, seconds, search_units: requests || undefined };
    for (const [name, amount] of Object.entries(counted)) {
      if (amount !== undefined) sums[name] = (sums[name] ?? 0) + amount;
    }
  }
  return Object.keys(sums).length === 0 ? undefined : sums;
}
