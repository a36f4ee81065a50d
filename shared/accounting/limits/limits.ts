// The words of this room: whose limits, which limits, and what one call asks of them.

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

export type CounterName = 'minuteRequests' | 'minuteTokens' | 'dayTokens';
export const counterNames: readonly CounterName[] = ['minuteRequests', 'minuteTokens', 'dayTokens'];

/** What a call asks of one counter. Without a limit nothing is counted: `need` is 0. */
export interface Demand {
  readonly need: number;
  readonly limit: number | null;
}
export type Demands = Readonly<Record<CounterName, Demand>>;

export const hasNoLimit = ({ rpm, tpm, tpd }: EntryLimits): boolean => rpm === null && tpm === null && tpd === null;

/** An estimate above a limit is cut to it, so that a large call passes when its window is empty. */
export function demandsOf({ rpm, tpm, tpd }: EntryLimits, estimatedTokens: number): Demands {
  const tokens = Math.max(1, Math.ceil(estimatedTokens));
  return { minuteRequests: demandOf(1, rpm), minuteTokens: demandOf(tokens, tpm), dayTokens: demandOf(tokens, tpd) };
}

const demandOf = (need: number, limit: number | null): Demand =>
  limit === null ? { need: 0, limit } : { need: Math.min(need, limit), limit };
