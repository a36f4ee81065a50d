// The facts by which the totals are judged. Below every fault, the witness sees the store's writes, because nothing
// above can know the effect of an unanswered write. Above, it sees which settlements were requested, and which were
// answered.
import type { CreditHold, CreditLedger } from '../../shared/accounting/credit/index.ts';
import type { StoreCommand } from './faulty-client.ts';

export interface WitnessedSettlement {
  readonly workspace: string;
  readonly owner: string;
  readonly actual: bigint;
  /** False if the settlement was requested and its process did not learn the outcome. */
  isAnswered: boolean;
}

export interface Witness {
  readonly see: (command: StoreCommand) => void;
  /** Returns a ledger that notes its settlements. */
  readonly watch: (ledger: CreditLedger) => CreditLedger;
  readonly settlements: () => readonly WitnessedSettlement[];
  /** Settlements, and marks of settlements, that were done a second time. */
  readonly twice: readonly string[];
  /** Owners that claimed an idempotency record, in their order, by the record's key. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
  /** The number of commands that the store ran. */
  readonly commands: () => number;
}

/** Returns the elements that an update adds to sets; the same clause adds numbers. */
export function addedMarks({ UpdateExpression, ExpressionAttributeValues }: StoreCommand['input']): string[] {
  const values = (ExpressionAttributeValues ?? {}) as Readonly<Record<string, unknown>>;
  const [, additions = ''] = /\bADD (.*?)(?: DELETE |$)/.exec(String(UpdateExpression)) ?? [];
  return [...additions.matchAll(/:\w+/g)].flatMap(([placeholder]) => {
    const value = values[placeholder];
    return value instanceof Set ? [...value] : [];
  });
}

export function createWitness(): Witness {
  const settlements = new Map<string, WitnessedSettlement>();
  const marks = new Set<string>();
  const twice: string[] = [];
  const claims = new Map<string, string[]>();
  let commands = 0;

  function see({ name, table, input }: StoreCommand): void {
    commands += 1;
    if (name === 'PutItem' && table === 'idempotency') {
      const { pk, owner } = input.Item as { pk: string; owner: string };
      claims.set(pk, [...(claims.get(pk) ?? []), owner]);
    }
    if (name !== 'UpdateItem' || (table !== 'ledger' && table !== 'keys')) return;
    const { pk } = input.Key as { pk: string };
    for (const mark of addedMarks(input)) {
      if (marks.has(`${pk} ${mark}`)) twice.push(`${pk} ${mark}`);
      marks.add(`${pk} ${mark}`);
    }
  }

  async function settle(ledger: CreditLedger, hold: CreditHold, actual: bigint) {
    const { account, owner } = hold;
    const name = `${account.workspace} ${owner}`;
    const settlement = settlements.get(name) ?? { workspace: account.workspace, owner, actual, isAnswered: false };
    settlements.set(name, settlement);
    const result = await ledger.settle(hold, actual);
    if (result.kind === 'settled' && settlement.isAnswered) twice.push(name);
    settlement.isAnswered ||= result.kind === 'settled';
    return result;
  }

  return {
    see,
    watch: (ledger) => ({
      ...ledger,
      settle: (hold, actual) => settle(ledger, hold, actual),
      release: (hold) => settle(ledger, hold, 0n),
    }),
    settlements: () => [...settlements.values()],
    twice,
    claims,
    commands: () => commands,
  };
}
