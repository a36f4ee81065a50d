// What the store really did, seen from below every fault: who claimed, who settled for how much, who was recorded. The
// books are judged against this, because nobody above can know what an unanswered write has done.
import type { StoreCommand } from './faulty-client.ts';

export interface Settlement {
  /** Key of the counter's item: `CREDIT#team`, a key's public id, `SLOTS` … */
  readonly counter: string;
  readonly owner: string;
  /** Pico-USD; 0 where the counter consumes nothing. */
  readonly actual: bigint;
}

export interface Witness {
  readonly see: (command: StoreCommand) => void;
  readonly settlements: readonly Settlement[];
  /** Key of an idempotency record → owners that claimed it, in their order. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
  /** Commands the store ran. */
  readonly commands: () => number;
}

type Values = Readonly<Record<string, unknown>>;

export function createWitness(): Witness {
  const settlements: Settlement[] = [];
  const claims = new Map<string, string[]>();
  let commands = 0;

  function see({ name, table, input }: StoreCommand): void {
    commands += 1;
    if (name === 'PutItem' && table === 'idempotency') {
      const { pk, owner } = input.Item as { pk: string; owner: string };
      claims.set(pk, [...(claims.get(pk) ?? []), owner]);
    }
    if (name !== 'UpdateItem' || (table !== 'ledger' && table !== 'keys')) return;
    const hold = (input.ExpressionAttributeNames as Record<string, string> | undefined)?.['#hold'];
    // The write that settles is the one that removes the entry.
    if (hold === undefined || !/REMOVE .*#hold\b/.test(String(input.UpdateExpression))) return;
    const { ':actual': actual = 0 } = (input.ExpressionAttributeValues ?? {}) as Values;
    const { pk } = input.Key as Values;
    settlements.push({ counter: String(pk), owner: hold.slice('hold#'.length), actual: BigInt(actual as number) });
  }
  return { see, settlements, claims, commands: () => commands };
}
