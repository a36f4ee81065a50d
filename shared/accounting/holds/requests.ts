// What callers ask of an item, and how they are answered.
import type { Item } from '../../storage/store/index.ts';
import type { Balance, Counter, SeenItem } from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';
import type { Window } from './windows.ts';

/** What a request wants of an item: a hold, counts under a limit, or both or neither. */
export interface Demand {
  readonly hold?: { readonly bucket: string; readonly amount: bigint } | undefined;
  readonly balances?: readonly Balance[];
  readonly counts?: readonly Count[];
  /** Conditions and changes that go along with it. */
  readonly prepare?: (draft: UpdateDraft) => void;
}

export interface Count {
  readonly window: Window;
  readonly amount: bigint;
  readonly limit: bigint;
}

export interface Refusal<Reason> {
  readonly reason: Reason;
  /** No newer copy of the item would change it. */
  readonly isFinal: boolean;
}

export interface Reservation<Reason> {
  readonly kind: 'reserve';
  /** By the item as it was seen; undefined: it is not known. 'look': it must be. */
  readonly assess: (seen: SeenItem | undefined, nowMs: number) => Demand | Refusal<Reason> | 'look';
}

export interface Settlement {
  readonly kind: 'settle';
  readonly counter: Counter;
  readonly bucket: string;
  readonly held: bigint;
  readonly actual: bigint;
  readonly prepare?: ((draft: UpdateDraft, item: Item) => void) | undefined;
}

/** Changes counts that were made at a moment, as far as they may still be changed. */
export interface Correction {
  readonly kind: 'correct';
  readonly countedAtMs: number;
  readonly changes: readonly { readonly window: Window; readonly change: bigint }[];
}

export type Request<Reason> = Reservation<Reason> | Settlement | Correction;

export type Answer<Reason> =
  /** `atMs`: the moment that its counts belong to. */
  | { readonly kind: 'reserved'; readonly item: Item; readonly atMs: number }
  | { readonly kind: 'limited'; readonly item: Item; readonly retryAfterMs: number }
  /** `available` counts what expired holds give back. */
  | { readonly kind: 'insufficient'; readonly item: Item; readonly available: bigint }
  | { readonly kind: 'refused'; readonly item: Item; readonly reason: Reason }
  /** `wasLate`: the hold had expired and was given back, so the cost was charged without cover. */
  | { readonly kind: 'settled'; readonly item: Item; readonly wasLate: boolean }
  /** There is nothing any more that could be settled or corrected. */
  | { readonly kind: 'gone' };
