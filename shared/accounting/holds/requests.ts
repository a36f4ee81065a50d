// Requests to an item, and their outcomes.
import type { Item } from '../../storage/store/index.ts';
import type { Balance, Counter, SeenItem } from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';
import type { Window } from './windows.ts';

/** The demand of a reservation: an amount, a slot, counts under a limit, any of them or none. */
export interface Demand {
  readonly hold?: { readonly bucket: string; readonly amount: bigint } | undefined;
  readonly balances?: readonly Balance[];
  readonly slot?: SlotDemand | undefined;
  readonly counts?: readonly Count[];
  /** Adds conditions and changes to the same write. */
  readonly prepare?: (draft: UpdateDraft) => void;
  /** True if the outcome must contain the item as the store has it after the write, not as this process knows it. */
  readonly needsItem?: boolean;
}

/** A demand for a slot. Null means that any number of slots may be used, and that they are counted. */
interface SlotDemand {
  readonly bucket: string;
  readonly limit: number | null;
}

export interface Count {
  readonly window: Window;
  readonly amount: bigint;
  readonly limit: bigint;
  /** Default true. False if another demand is counted for this demand, which is then only checked against the limit. */
  readonly isCounted?: boolean;
}

export interface Refusal<Reason = unknown> {
  readonly reason: Reason;
  /** True if no newer copy of the item would change the refusal. */
  readonly isFinal: boolean;
}

/** 'look' means that the item must be known first. */
export type Assessment = Demand | Refusal | 'look';

/** Returns the demand of a reservation by the item as it was last seen; undefined if it is not known. */
export type Assess<Assessed extends Assessment = Assessment> = (seen: SeenItem | undefined, nowMs: number) => Assessed;

/** `atMs` is the moment to which the counts belong. `item` is described at `needsItem`. */
export interface CounterReserved {
  readonly kind: 'reserved';
  readonly item: Item;
  readonly atMs: number;
}

export interface Limited {
  readonly kind: 'limited';
  readonly item: Item;
  readonly retryAfterMs: number;
}

/** `available` includes expired reservations. A shortage of the amount is reported before a shortage of slots. */
export interface Insufficient {
  readonly kind: 'insufficient';
  readonly item: Item;
  readonly short: 'amount' | 'slots';
  readonly available: bigint;
}

export interface Rejected<Reason = unknown> {
  readonly kind: 'refused';
  readonly item: Item;
  readonly reason: Reason;
}

/**
 * The outcome. A reservation without counts is never limited, a reservation without an amount is never insufficient,
 * and a reservation without reasons is never refused.
 */
export type ReservationOutcome<Assessed extends Assessment = Assessment> = CounterReserved | Obstacle<Assessed>;

type Obstacle<Assessed> =
  Assessed extends Refusal<infer Reason>
    ? Rejected<Reason>
    :
        | ('counts' extends keyof Assessed ? Limited : never)
        | ('hold' extends keyof Assessed ? Insufficient : never)
        | ('slot' extends keyof Assessed ? Insufficient : never);

/** Ends a reservation at its real cost. */
export interface Settlement {
  readonly kind: 'settle';
  readonly counter: Counter;
  readonly bucket: string;
  readonly held: bigint;
  readonly actual: bigint;
  /** Bucket of the slot that was taken together with the amount. */
  readonly slotBucket?: string | undefined;
  readonly prepare?: ((draft: UpdateDraft, item: Item) => void) | undefined;
  readonly needsItem?: boolean | undefined;
}

/** Charges a cost for which nothing was reserved. */
export interface UnreservedCharge {
  readonly kind: 'charge';
  readonly counter: Counter;
  readonly amount: bigint;
  /** Attribute that every item of this kind has, so that a deleted item is not created again. */
  readonly requiredAttribute: string;
  /** The item as the caller has seen it. The item's configuration counts if the writer does not know the item. */
  readonly known: Item;
  readonly prepare?: Settlement['prepare'];
}

/** Changes counts that were made at a moment, as long as they may be changed. */
export interface Correction {
  readonly kind: 'correct';
  readonly countedAtMs: number;
  readonly changes: readonly { readonly window: Window; readonly change: bigint }[];
}

/**
 * `wasLate` means that the reservation had expired and was released, so nothing was reserved for the charged cost.
 * `item` is described at `needsItem`.
 */
interface Settled {
  readonly kind: 'settled';
  readonly item: Item;
  readonly wasLate: boolean;
}

/** The request was settled or corrected before, or is not known to be taken. */
interface Gone {
  readonly kind: 'gone';
}

export type SettlementOutcome = Settled | Gone;

/** A request that is written after a call. */
export type AfterCall = Settlement | UnreservedCharge | Correction;
