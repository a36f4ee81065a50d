// Effect of one write on one kind of amount in an item, money or slots: settlements and expired reservations release
// it, new reservations take it. Both kinds are in one item and change in the same instant.
import { absent, atLeast, equals, exists, or } from '../../storage/store/index.ts';
import {
  amountAtLeast,
  type Balance,
  type HeldKind,
  readAmount,
  readAvailable,
  readHeld,
  readTimed,
  type SeenItem,
} from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';

interface BucketAmount {
  readonly bucket: string;
  readonly amount: bigint;
}

export class BalanceChange {
  readonly #kind: HeldKind;
  readonly #draft: UpdateDraft;
  readonly #seen: SeenItem | undefined;
  /** All balances of a kind move alike. */
  #returned = 0n;
  #taken = 0n;
  /** By the item; the same for each reservation of the write. */
  #expired: bigint | undefined;
  #releases = false;
  readonly #outOfBuckets = new Map<string, bigint>();
  readonly #floors = new Map<string, bigint>();

  constructor(kind: HeldKind, draft: UpdateDraft, seen: SeenItem | undefined) {
    this.#kind = kind;
    this.#draft = draft;
    this.#seen = seen;
  }

  /** Whether expired reservations are released, whatever else is requested. */
  get releases(): boolean {
    return this.#releases;
  }

  /** By the item's state after the reservation; if unknown, the bucket is expected to have it. */
  settle(
    balances: readonly Balance[],
    { bucket, amount: held }: BucketAmount,
    actual: bigint,
  ): 'covered' | 'late' | 'gone' {
    const draft = this.#draft;
    const item = this.#seen?.item;
    if (item !== undefined && balances.some(({ attribute }) => item[attribute] === undefined)) return 'gone';
    const takenOut = this.#outOfBuckets.get(bucket) ?? 0n;
    const isLate = item !== undefined && readAmount(item[bucket]) < takenOut + held;
    const returned = isLate ? -actual : held - actual;
    if (isLate) {
      for (const { attribute } of balances) draft.require(exists(attribute));
    } else {
      this.#outOfBuckets.set(bucket, takenOut + held);
      draft.add(bucket, -held);
    }
    for (const { attribute } of balances) draft.add(attribute, returned);
    this.#returned += returned;
    return isLate ? 'late' : 'covered';
  }

  /** Nothing was reserved for it. */
  charge(balances: readonly Balance[], amount: bigint): void {
    for (const { attribute } of balances) this.#draft.add(attribute, -amount);
    this.#returned -= amount;
  }

  /**
   * Releases buckets that had expired when the item was seen; those that others may have changed since wait for a newer
   * copy.
   */
  releaseExpired(attributes: ReadonlySet<string>, bucketsInUse: readonly (string | undefined)[]): void {
    if (this.#seen === undefined) return;
    const draft = this.#draft;
    const { item, atMs: seenAtMs } = this.#seen;
    for (const { name, atMs, value } of readTimed(item, this.#kind)) {
      const amount = readAmount(value);
      if (atMs > seenAtMs || bucketsInUse.includes(name) || this.#outOfBuckets.has(name)) continue;
      if (amount !== 0n && attributes.size === 0) continue;
      draft.remove(name);
      draft.require(amount === 0n ? or(absent(name), equals(name, amount)) : equals(name, amount));
      for (const attribute of attributes) draft.add(attribute, amount);
      this.#returned += amount;
      this.#releases ||= amount !== 0n;
    }
  }

  /** The rest by the item, expired amounts included, and the rest after those of this write. Null: no limit. */
  available(balances: readonly Balance[]): { readonly now: bigint; readonly here: bigint } | null {
    if (this.#seen === undefined) return null;
    const available = readAvailable(balances, this.#seen.item);
    if (available === null) return null;
    this.#expired ??= expiredIn(this.#seen, this.#kind);
    return { now: available + this.#expired, here: available + this.#returned - this.#taken };
  }

  take(balances: readonly Balance[], { bucket, amount }: BucketAmount): void {
    const draft = this.#draft;
    this.#taken += amount;
    draft.add(bucket, amount);
    for (const { attribute, limit } of balances) {
      draft.add(attribute, -amount);
      if (limit === null) continue;
      const floor = this.#taken - this.#returned - limit;
      const known = this.#floors.get(attribute);
      this.#floors.set(attribute, known === undefined || floor > known ? floor : known);
    }
  }

  /** Conditions cannot add, so a number is compared with its minimum. */
  finish(): void {
    const draft = this.#draft;
    for (const [bucket, amount] of this.#outOfBuckets) draft.require(atLeast(bucket, amount));
    for (const [attribute, floor] of this.#floors) draft.require(amountAtLeast(attribute, floor));
  }
}

const expiredIn = ({ item, atMs }: SeenItem, kind: HeldKind): bigint =>
  readHeld(item, kind).reduce((sum, { amount, expiresAtMs }) => (expiresAtMs <= atMs ? sum + amount : sum), 0n);
