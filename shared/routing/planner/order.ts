// Orders the candidates in which they are tried. Ties keep catalogue order.
import { accountOf, type Candidate } from '../../configuration/catalogue/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { ProviderPreferences, SortOrder } from '../../protocol/wire/index.ts';

/** Live statistics of a candidate. */
interface CandidateStats {
  /** Undefined when no call succeeded recently. */
  readonly medianLatencyMs: number | undefined;
  readonly throughputRpm: number;
}

export interface OrderInput {
  /** Returns the statistics; undefined when nothing was measured recently. */
  readonly statsOf: (candidate: Candidate) => CandidateStats | undefined;
  readonly isCooling: (candidate: Candidate) => boolean;
  /**
   * Returns a text that identifies the session. Calls with the same text use the same entry among the entries with a
   * weight, and the same credential.
   */
  readonly session: () => string;
}

/**
 * Ranks for `sort`. Candidates without measurements come last, because a client that requests speed gets measured
 * speed.
 */
const sortRanks: Record<SortOrder, (stats: CandidateStats | undefined) => number> = {
  price: () => 0,
  latency: (stats) => stats?.medianLatencyMs ?? Number.POSITIVE_INFINITY,
  throughput: (stats) => -(stats?.throughputRpm ?? 0),
};

/** A rank, which is compared position by position. The candidate with the lower rank is tried first. */
type Rank = readonly (number | bigint)[];

/** The comparison of the candidates of one call. */
interface CandidateRanking {
  /** True if the candidate may not fit the prompt. */
  readonly isDoubtful: (candidate: Candidate) => boolean;
  /** Returns the price by which calls are compared. The cheapest candidate comes first. */
  readonly priceOf: (candidate: Candidate) => bigint;
}

/**
 * Orders the candidates: named providers in their order, then by `sort`, then those with a weight, as they are drawn,
 * then the cheapest. Cooling candidates come last, under `sort` too: only a named order is preserved. Candidates that
 * may not fit come just before cooling ones, if a request has neither a named order nor `sort`. Credentials of an
 * entry follow each other, as they are drawn. Without fallbacks and without names, only the first entry is tried.
 */
export function orderCandidates(
  candidates: readonly Candidate[],
  preferences: ProviderPreferences,
  input: OrderInput,
  { isDoubtful, priceOf }: CandidateRanking,
): readonly Candidate[] {
  const placeOf = readPlaces(preferences.order);
  const namesOrder = preferences.order.length > 0;
  const isDefault = preferences.sort === undefined && !namesOrder;
  const sortRank = sortRanks[preferences.sort ?? 'price'];
  const statsRank = (candidate: Candidate): number =>
    Math.min(...credentialsOf(candidate, candidates).map((one) => sortRank(input.statsOf(one))));
  // `auto` compares models by price, because the weight of an entry within its model does not apply to other models.
  const drawsEntries = isDefault && candidates.every(({ model }) => model === candidates[0]?.model);
  const entryPlaces = new Map(candidates.map(({ entry }, index) => [entry, index] as const).toReversed());
  const rankOf = (candidate: Candidate): Rank => [
    Number(!namesOrder && input.isCooling(candidate)),
    Number(isDefault && isDoubtful(candidate)),
    placeOf(candidate.provider.id),
    statsRank(candidate),
    drawsEntries ? drawEntry(candidate, input) : 0,
    // An unknown price is not a low price.
    Number(!isBillable(candidate)),
    priceOf(candidate),
    entryPlaces.get(candidate.entry) ?? 0,
    ...drawCredential(candidate, input),
  ];
  const sorted = candidates
    .map((candidate) => ({ candidate, rank: rankOf(candidate) }))
    .toSorted((a, b) => compareRanks(a.rank, b.rank))
    .map(({ candidate }) => candidate);
  return preferences.allowFallbacks || namesOrder ? sorted : sorted.filter(({ entry }) => entry === sorted[0]?.entry);
}

const credentialsOf = (candidate: Candidate, all: readonly Candidate[]): readonly Candidate[] =>
  candidate.provider.credential === undefined ? [candidate] : all.filter(({ entry }) => entry === candidate.entry);

/** Ranks an entry by its draw; entries without a weight come after entries with a weight. */
const drawEntry = ({ entry: { weight }, provider: { id } }: Candidate, { session }: OrderInput): number =>
  weight === undefined ? Number.POSITIVE_INFINITY : draw(session(), id) / weight;

/**
 * Ranks a credential. A cooling credential comes after the other credentials of its entry, whatever a request names.
 */
const drawCredential = (candidate: Candidate, { session, isCooling }: OrderInput): Rank =>
  candidate.provider.credential === undefined
    ? []
    : [Number(isCooling(candidate)), draw(session(), accountOf(candidate.provider))];

const drawDigits = 12;

/**
 * Returns an exponentially distributed number that session and name determine. The smallest of several numbers, each
 * divided by its weight, is chosen with a chance in proportion to the weight. If an entry is removed, the sessions of
 * the other entries stay.
 */
function draw(session: string, name: string): number {
  const drawn = Number.parseInt(sha256Hex(`${name} ${session}`).slice(0, drawDigits), 16);
  return -Math.log((drawn + 1) / 16 ** drawDigits);
}

/**
 * Returns the position of a provider in `order`; an unnamed provider comes after all named providers. The first mention
 * of a provider counts.
 */
function readPlaces(order: readonly string[]): (providerId: string) => number {
  const places = new Map(order.map((id, place): [string, number] => [id, place]).toReversed());
  return (providerId) => places.get(providerId) ?? order.length;
}

function compareRanks(a: Rank, b: Rank): number {
  for (let place = 0; place < a.length; place += 1) {
    const left = a[place] ?? 0;
    const right = b[place] ?? left;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

// Estimates whether a prompt fits, which only the provider's tokenizer knows. So no candidate is refused here. A
// candidate that most likely cannot fit the prompt is called last, and a prompt that fits no candidate gets the
// providers' own answer.

/**
 * Bytes of a token above which a prompt hardly ever fits. Today's tokenizers have three to five bytes of prose or code
 * in a token.
 */
const bytesPerToken = 5;

export const probablyFits = ({ entry }: Candidate, promptBytes: number): boolean =>
  promptBytes <= entry.context_length * bytesPerToken;

/** True if both prices are known. Otherwise nothing can be billed, and the entry serves BYOK calls only. */
export const isBillable = ({ prices }: Candidate): boolean => prices.input !== null && prices.output !== null;
