// The order in which candidates are tried. Ties keep catalogue order.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ProviderPreferences, SortOrder } from '../../protocol/wire/index.ts';
import { isBillable, totalPrice } from './prices.ts';

/** What the live statistics say of a candidate. */
export interface CandidateStats {
  /** Undefined: nothing succeeded lately. */
  readonly medianLatencyMs: number | undefined;
  readonly throughputRpm: number;
}

export interface OrderInput {
  /** Undefined: nothing was measured lately. */
  readonly statsOf: (candidate: Candidate) => CandidateStats | undefined;
  readonly isCooling: (candidate: Candidate) => boolean;
}

/** Candidates without measurements come last: who asks for speed gets speed that was measured. */
const sortRanks: Record<SortOrder, (stats: CandidateStats | undefined) => number> = {
  price: () => 0,
  latency: (stats) => stats?.medianLatencyMs ?? Number.POSITIVE_INFINITY,
  throughput: (stats) => -(stats?.throughputRpm ?? 0),
};

/** Compared place by place; the lower is tried first. */
type Rank = readonly (number | bigint)[];

/**
 * Named providers as named, then by `sort`, then the cheapest. Cooling candidates come last, under `sort` too: only who
 * names an order gets it as it is. Before them stand those with a doubtful chance, where a request asks for neither.
 * Without fallbacks and without names, the first alone.
 */
export function orderCandidates(
  candidates: readonly Candidate[],
  preferences: ProviderPreferences,
  input: OrderInput,
  isDoubtful: (candidate: Candidate) => boolean = () => false,
): readonly Candidate[] {
  const placeOf = readPlaces(preferences.order);
  const namesOrder = preferences.order.length > 0;
  const isDefault = preferences.sort === undefined && !namesOrder;
  const sortRank = sortRanks[preferences.sort ?? 'price'];
  const rankOf = (candidate: Candidate): Rank => [
    Number(!namesOrder && input.isCooling(candidate)),
    Number(isDefault && isDoubtful(candidate)),
    placeOf(candidate.provider.id),
    sortRank(input.statsOf(candidate)),
    // An unknown price is no low price.
    Number(!isBillable(candidate)),
    totalPrice(candidate),
  ];
  const sorted = candidates
    .map((candidate) => ({ candidate, rank: rankOf(candidate) }))
    .toSorted((a, b) => compareRanks(a.rank, b.rank))
    .map(({ candidate }) => candidate);
  return preferences.allowFallbacks || namesOrder ? sorted : sorted.slice(0, 1);
}

/** The place of a provider in `order`; behind all of them where it is not named. Its first mention counts. */
function readPlaces(order: readonly string[]): (providerId: string) => number {
  const places = new Map(order.map((id, place): [string, number] => [id, place]).toReversed());
  return (providerId) => places.get(providerId) ?? order.length;
}

function compareRanks(a: Rank, b: Rank): number {
  for (const [place, left] of a.entries()) {
    const right = b[place] ?? left;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
