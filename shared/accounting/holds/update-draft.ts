// One UpdateItem, put together by rules that do not know each other: what is checked together is checked in the same
// instant and costs one write. Amounts that several of them move on one attribute are summed.
import type { TableName } from '../../foundation/constants/index.ts';
import type { Item, Update } from '../../storage/store/index.ts';
import { readAmount } from './counter.ts';

export class UpdateDraft {
  readonly #names = new Map<string, string>();
  /** By kind and text, so that equal values, and with them equal conditions, stand there once. */
  readonly #values = new Map<string, { readonly placeholder: string; readonly value: unknown }>();
  readonly #sums = new Map<string, bigint>();
  readonly #assigned = new Map<string, unknown>();
  readonly #sources = new Map<string, string>();
  readonly #removals = new Set<string>();
  readonly #elements = { ADD: new Map<string, string>(), DELETE: new Map<string, string>() };
  readonly #conditions = new Set<string>();

  /** The placeholder of an attribute. */
  name(attribute: string): string {
    const placeholder = this.#names.get(attribute) ?? `#n${this.#names.size}`;
    this.#names.set(attribute, placeholder);
    return placeholder;
  }

  /** The placeholder of a value. */
  value(value: unknown): string {
    const text = typeof value === 'object' ? `object ${this.#values.size}` : `${typeof value} ${String(value)}`;
    const known = this.#values.get(text) ?? { placeholder: `:v${this.#values.size}`, value };
    this.#values.set(text, known);
    return known.placeholder;
  }

  /** Moves a number by an amount. An absent one is 0. */
  add(attribute: string, amount: bigint): void {
    this.#sums.set(attribute, (this.#sums.get(attribute) ?? 0n) + amount);
  }

  set(attribute: string, value: unknown): void {
    this.#assigned.set(attribute, value);
  }

  /** Takes over the value that another attribute had before this write, unless it has one itself. */
  setOnceFrom(attribute: string, source: string): void {
    this.#sources.set(attribute, source);
  }

  remove(attribute: string): void {
    this.#removals.add(attribute);
  }

  addElement(attribute: string, element: string): void {
    this.#elements.ADD.set(attribute, element);
  }

  deleteElement(attribute: string, element: string): void {
    this.#elements.DELETE.set(attribute, element);
  }

  /** A condition that must hold, written with `name` and `value`. */
  require(condition: string): void {
    this.#conditions.add(`(${condition})`);
  }

  /** What the write makes of an item, where its conditions hold. Attributes that the item does not have are absent. */
  applyTo(item: Item): Item {
    const made: Item = { ...item };
    for (const attribute of this.#removed()) delete made[attribute];
    for (const [attribute, amount] of this.#sums)
      if (amount !== 0n) made[attribute] = readAmount(item[attribute]) + amount;
    for (const [attribute, source] of this.#sources) made[attribute] = item[attribute] ?? item[source];
    for (const [attribute, value] of this.#assigned) made[attribute] = value;
    for (const [clause, elements] of Object.entries(this.#elements)) {
      for (const [attribute, element] of elements) {
        if (this.#removals.has(attribute)) continue;
        const set = new Set(item[attribute] as ReadonlySet<string> | undefined);
        if (clause === 'ADD') set.add(element);
        else set.delete(element);
        if (set.size > 0) made[attribute] = set;
        // The store has no empty sets.
        else delete made[attribute];
      }
    }
    return made;
  }

  /**
   * `repeatable`: a write whose answer was lost may be sent again by the store. `returnsNoItem`: its answer does not say
   * what the item is then.
   */
  toUpdate(
    table: TableName,
    key: string,
    options: { readonly repeatable: boolean; readonly returnsNoItem?: boolean },
  ): Update {
    const expression = this.#clauses().join(' ');
    const condition = [...this.#conditions].join(' AND ');
    return {
      table,
      key,
      expression,
      ...(condition === '' ? {} : { condition }),
      names: Object.fromEntries([...this.#names].map(([attribute, placeholder]) => [placeholder, attribute])),
      values: Object.fromEntries(this.#values.values().map(({ placeholder, value }) => [placeholder, value])),
      ...options,
    };
  }

  #clauses(): string[] {
    const sums = [...this.#sums].filter(([, amount]) => amount !== 0n);
    const zero = sums.length === 0 ? '' : this.value(0n);
    const summed = sums.map(([attribute, amount]) => {
      const name = this.name(attribute);
      return `${name} = if_not_exists(${name}, ${zero}) + ${this.value(amount)}`;
    });
    const assigned = [...this.#assigned].map(([attribute, value]) => `${this.name(attribute)} = ${this.value(value)}`);
    const copied = [...this.#sources].map(([attribute, source]) => {
      const name = this.name(attribute);
      return `${name} = if_not_exists(${name}, ${this.name(source)})`;
    });
    const elementsOf = (clause: 'ADD' | 'DELETE') =>
      [...this.#elements[clause]]
        .filter(([attribute]) => !this.#removals.has(attribute))
        .map(([attribute, element]) => `${this.name(attribute)} ${this.value(new Set([element]))}`);
    const clauses = {
      SET: [...summed, ...assigned, ...copied],
      REMOVE: this.#removed().map((attribute) => this.name(attribute)),
      ADD: elementsOf('ADD'),
      DELETE: elementsOf('DELETE'),
    };
    return Object.entries(clauses).flatMap(([clause, parts]) =>
      parts.length === 0 ? [] : `${clause} ${parts.join(', ')}`,
    );
  }

  /** DynamoDB refuses to set and remove one attribute; what is set is still in use. */
  #removed(): string[] {
    return [...this.#removals].filter((attribute) => !this.#sums.has(attribute) && !this.#assigned.has(attribute));
  }
}
