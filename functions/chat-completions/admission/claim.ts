// What a claim is: something a call takes from the store before its provider is called. As a rule all go out at once;
// what they say is weighed afterwards, in the order of contract 5, and whatever was taken in vain is given back.
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ReadyAnswer } from '../stages.ts';

/** The order in which verdicts win, whatever order they came in (contract 5). */
export const ranks = ['key', 'idempotency', 'span', 'plan', 'cache', 'money', 'capacity', 'slot'] as const;
export type Rank = (typeof ranks)[number];

export type Verdict =
  | { readonly rank: Rank; readonly error: unknown; readonly ready?: undefined }
  | { readonly rank: Rank; readonly ready: ReadyAnswer; readonly error?: undefined };

export interface Claim {
  /** Undefined: nothing stands in the way. */
  readonly verdict: Verdict | undefined;
  /** Gives back what was taken, or may have been; told why. Absent: nothing was. */
  readonly giveBack?: GiveBack | undefined;
}

export type GiveBack = (decided: Verdict | undefined) => Promise<void>;

export const granted = (giveBack?: GiveBack): { verdict: undefined; giveBack: GiveBack | undefined } => ({
  verdict: undefined,
  giveBack,
});

export const refused = (rank: Rank, error: unknown): { verdict: Verdict & { error: unknown } } => ({
  verdict: { rank, error },
});

/**
 * A store that fails is a verdict like any other: a better known reason to refuse may still win over it. What was asked
 * for may have been written all the same, with only its answer lost, so it is given back like what was granted.
 */
export async function heard<Given extends Claim>(
  rank: Rank,
  claim: Promise<Given>,
  giveBack?: GiveBack,
): Promise<Given> {
  try {
    return await claim;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { verdict: { rank, error }, giveBack } as Claim as Given;
  }
}
