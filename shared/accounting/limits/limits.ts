// Whose limits, which limits, and what one call asks of them.
import { requestsPerMinute, tokensPerDay, tokensPerMinute, type Window } from '../holds/index.ts';

/** One provider serving one model: limits belong to this pair. */
export interface LimitedEntry {
  readonly provider: string;
  readonly model: string;
}

/** Requests per minute, tokens per minute, tokens per day; at least 1 each. Null: no such limit. */
export interface EntryLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly tpd: number | null;
}

/** What a call asks of one limit. */
export interface LimitDemand {
  readonly window: Window;
  readonly amount: bigint;
  readonly limit: bigint;
}

/** Of the item in the table `limits` that counts for one shard. */
export const limitItemKey = ({ provider, model }: LimitedEntry, shard: number): string =>
  `provider#${provider}#${model}#${shard}`;

export const hasNoLimit = ({ rpm, tpm, tpd }: EntryLimits): boolean => rpm === null && tpm === null && tpd === null;

/** An estimate above a limit is cut to it, so that a large call passes when its window is empty. */
export function demandsOf({ rpm, tpm, tpd }: EntryLimits, estimatedTokens: number): LimitDemand[] {
  const tokens = Math.max(1, Math.ceil(estimatedTokens));
  const demands = [
    [requestsPerMinute, rpm, 1],
    [tokensPerMinute, tpm, tokens],
    [tokensPerDay, tpd, tokens],
  ] as const;
  return demands.flatMap(([window, limit, amount]) =>
    limit === null ? [] : [{ window, amount: BigInt(Math.min(amount, limit)), limit: BigInt(limit) }],
  );
}
