// Owners of limits, the limits, and one call's demand on them.
import { requestsPerMinute, tokensPerDay, tokensPerMinute, type Window } from '../holds/index.ts';

/** One provider with one model, because limits belong to this pair. */
export interface LimitedEntry {
  readonly provider: string;
  readonly model: string;
}

/** Owner of limits, which is a provider entry, or an owner within the gateway, such as `key#…`. */
export type LimitOwner = LimitedEntry | { readonly owner: string };

/**
 * Requests per minute, tokens per minute, tokens per day; at least 1 each. Null if the entry has no limit of this kind.
 */
export interface EntryLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly tpd: number | null;
}

/** A call's demand on one limit. */
export interface LimitDemand {
  readonly window: Window;
  readonly amount: bigint;
  readonly limit: bigint;
}

/** Returns the key of the item in the table `limits` that counts one shard. */
export const limitItemKey = (limited: LimitOwner, shard: number): string =>
  'owner' in limited ? `${limited.owner}#${shard}` : `provider#${limited.provider}#${limited.model}#${shard}`;

export const hasNoLimit = ({ rpm, tpm, tpd }: EntryLimits): boolean => rpm === null && tpm === null && tpd === null;

/** The demand of one call on all limits. */
export interface CallDemand {
  /** Tokens, an estimate. */
  readonly tokens: number;
  /** Number of requests that the provider gets at once. */
  readonly requests: number;
}

/**
 * Returns the demands. An estimate of tokens above a limit is cut to it, so that a large call passes when its window is
 * empty.
 */
export function demandsOf({ rpm, tpm, tpd }: EntryLimits, call: CallDemand): LimitDemand[] {
  const tokens = Math.max(1, Math.ceil(call.tokens));
  const demands: LimitDemand[] = [];
  if (rpm !== null) demands.push(demandOf(requestsPerMinute, rpm, call.requests));
  if (tpm !== null) demands.push(demandOf(tokensPerMinute, tpm, tokens));
  if (tpd !== null) demands.push(demandOf(tokensPerDay, tpd, tokens));
  return demands;
}

const demandOf = (window: Window, limit: number, amount: number): LimitDemand => ({
  ...{ window, amount: BigInt(Math.min(amount, limit)), limit: BigInt(limit) },
});

// An entry whose limit is above the write rate of one item is counted in several items (shards), each with its exact
// part of every limit. DynamoDB writes one item 1,000 times a second at most; half of that is planned for, the other
// half is for settlements and refusals.

/** Admissions of one shard, which are 500 a second. */
const admissionsPerShardAndMinute = 30_000;
/**
 * Least tokens per admission if only tokens are limited. Calls reserve at least this much on average, for a short
 * prompt and a short answer.
 */
const tokensPerAdmissionMin = 100;
/** Ratio of the busiest minute to the mean, because a day's tokens are not used evenly. */
const peakToMean = 10;
const minutesPerDay = 1_440;
/**
 * Maximum shards, for 50,000 admissions a second. A limit above that means "no limit" and must not make millions of
 * items.
 */
const shardsMax = 100;

/**
 * Returns at least 1. Every shard of several has thousands of requests and millions of tokens, so no part is ever zero.
 */
export function shardCountOf({ rpm, tpm, tpd }: EntryLimits): number {
  const admissionsPerMinute = Math.min(
    rpm ?? Number.POSITIVE_INFINITY,
    (tpm ?? Number.POSITIVE_INFINITY) / tokensPerAdmissionMin,
    ((tpd ?? Number.POSITIVE_INFINITY) * peakToMean) / minutesPerDay / tokensPerAdmissionMin,
  );
  return Math.min(Math.max(1, Math.ceil(admissionsPerMinute / admissionsPerShardAndMinute)), shardsMax);
}

/** Returns the part of one shard; the parts of all shards add up to the limits. */
export function shardLimitsOf({ rpm, tpm, tpd }: EntryLimits, shard: number, shardCount: number): EntryLimits {
  const partOf = (limit: number | null): number | null =>
    limit === null ? null : Math.floor(limit / shardCount) + (shard < limit % shardCount ? 1 : 0);
  return { rpm: partOf(rpm), tpm: partOf(tpm), tpd: partOf(tpd) };
}
