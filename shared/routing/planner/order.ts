// The order in which candidates are tried. Ties keep catalogue order.
import { accountOf, type Candidate } from '../../configuration/catalogue/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { ProviderPreferences, SortOrder } from '../../protocol/wire/index.ts';

/** Live statistics of a candidate. */
interface CandidateStats {
  /** Undefined when nothing succeeded lately. */
  readonly medianLatencyMs: number | undefined;
  readonly throughputRpm: number;
}

export interface OrderInput {
  /** Undefined when nothing was measured lately. */
  readonly statsOf: (candidate: Candidate) => CandidateStats | undefined;
  readonly isCooling: (candidate: Candidate) => boolean;
  /** Calls with the same text go to the same entry of several with a weight, and to the same credential. */
  readonly session: () => string;
}

/** Candidates without measurements come last, because a client that asks for speed gets measured speed. */
const sortRanks: Record<SortOrder, (stats: CandidateStats | undefined) => number> = {
  price: () => 0,
  latency: (stats) => stats?.medianLatencyMs ?? Number.POSITIVE_INFINITY,
  throughput: (stats) => -(stats?.throughputRpm ?? 0),
};

/** Compared place by place; the lower is tried first. */
type Rank = readonly (number | bigint)[];

/** How the candidates of one call compare. */
interface CandidateRanking {
  /** May not fit the prompt. */
  readonly isDoubtful: (candidate: Candidate) => boolean;
  /** Compares what the call costs: the cheapest comes first. */
  readonly priceOf: (candidate: Candidate) => bigint;
}

/**
 * Named providers as named, then by `sort`, then those with a weight, as they are drawn, then the cheapest. Cooling
 * candidates come last, under `sort` too: only a named order is kept as it is. Candidates that may not fit come just
 * before cooling ones, where a request asks for neither. Credentials of an entry follow each other, as they are drawn.
 * Without fallbacks and without names, the first entry alone.
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
  // `auto` compares models by price: what an entry weighs among those of its model says nothing about others.
  const drawsEntries = isDefault && candidates.every(({ model }) => model === candidates[0]?.model);
  const entryPlaces = new Map(candidates.map(({ entry }, index) => [entry, index] as const).toReversed());
  const rankOf = (candidate: Candidate): Rank => [
    Number(!namesOrder && input.isCooling(candidate)),
    Number(isDefault && isDoubtful(candidate)),
    placeOf(candidate.provider.id),
    statsRank(candidate),
    drawsEntries ? drawEntry(candidate, input) : 0,
    // An unknown price is no low price.
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

/** Behind every one with a weight. */
const drawEntry = ({ entry: { weight }, provider: { id } }: Candidate, { session }: OrderInput): number =>
  weight === undefined ? Number.POSITIVE_INFINITY : draw(session(), id) / weight;

/** A cooling credential comes behind the others of its entry, whatever a request names. */
const drawCredential = (candidate: Candidate, { session, isCooling }: OrderInput): Rank =>
  candidate.provider.credential === undefined
    ? []
    : [Number(isCooling(candidate)), draw(session(), accountOf(candidate.provider))];

const drawDigits = 12;

/**
 * An exponentially distributed number that session and name determine. The least of several, each divided by its weight, is
 * drawn with a chance in proportion to the weight; where one is taken out, all sessions of the others stay.
 */
function draw(session: string, name: string): number {
  const drawn = Number.parseInt(sha256Hex(`${name} ${session}`).slice(0, drawDigits), 16);
  return -Math.log((drawn + 1) / 16 ** drawDigits);
}

/** The place of a provider in `order`; behind all of them where it is not named. Its first mention counts. */
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

// Estimates whether a prompt fits, which only the provider's tokenizer knows. So no candidate is refused here: one that
// most likely cannot fit the prompt is called last, and a prompt that fits none gets the providers' own answer.

/** Today's tokenizers take three to five bytes of prose or code into a token: beyond this a prompt hardly ever fits. */
const bytesPerToken = 5;

export const probablyFits = ({ entry }: Candidate, promptBytes: number): boolean =>
  promptBytes <= entry.context_length * bytesPerToken;

/** Nothing can be billed without both prices, so such an entry serves BYOK calls only. */
export const isBillable = ({ prices }: Candidate): boolean => prices.input !== null && prices.output !== null;
