// Builds one write from independent rules. Conditions in one write are checked in the same instant and cost one write.
// Amounts that several rules move on one attribute are summed.
import { isDeepStrictEqual } from 'node:util';
import { and, type Changes, type Condition, type Item, type Update } from '../../storage/store/index.ts';

export type DraftedWrite = Pick<Update, 'changes' | 'condition'>;

export class UpdateDraft {
  readonly #sums = new Map<string, bigint>();
  readonly #assigned: Item = {};
  readonly #copied: Record<string, string> = {};
  readonly #removed: string[] = [];
  readonly #conditions: Condition[] = [];

  /** Adds an amount to a number. An absent number is 0. */
  add(attribute: string, amount: bigint): void {
    this.#sums.set(attribute, (this.#sums.get(attribute) ?? 0n) + amount);
  }

  set(attribute: string, value: unknown): void {
    this.#assigned[attribute] = value;
  }

  copyIfAbsent(attribute: string, source: string): void {
    this.#copied[attribute] = source;
  }

  remove(attribute: string): void {
    if (!this.#removed.includes(attribute)) this.#removed.push(attribute);
  }

  /** Requires a condition; many requests of one write require the same condition, which is written once. */
  require(condition: Condition): void {
    if (!this.#conditions.some((known) => isSame(known, condition))) this.#conditions.push(condition);
  }

  finish(): DraftedWrite {
    const add: Record<string, bigint> = {};
    this.#sums.forEach((amount, attribute) => {
      if (amount !== 0n) add[attribute] = amount;
    });
    const changes: Changes = { add, set: this.#assigned, copyIfAbsent: this.#copied, remove: this.#removed };
    return { changes, condition: this.#conditions.length === 0 ? undefined : and(...this.#conditions) };
  }
}

function isSame(one: Condition, other: Condition): boolean {
  if (one.kind !== other.kind) return false;
  // Most conditions are about different attributes.
  if ('at' in one && 'at' in other && typeof one.at === 'string' && typeof other.at === 'string' && one.at !== other.at)
    return false;
  return isDeepStrictEqual(one, other);
}
