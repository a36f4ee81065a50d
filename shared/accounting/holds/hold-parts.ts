// The rules of holds as parts of writes. Pure: executors, and rules of other rooms, put them into one UpdateItem.
//
// What is true of a counter after every write, whoever stops in between:
//   1. balance + held + spent = what was put in, where held is the sum of the amounts of its entries. Each write moves
//      an amount from one term to another, so a crash between two writes loses nothing and creates nothing.
//   2. A hold is taken only where limit + balance covers it in the same instant: no number of takers at once can hold
//      and spend more than the limit. Only real costs go beyond it: above the amount held, or late.
//   3. The entry is the right to settle. The write that settles removes it, so a second settlement finds no entry and
//      charges nothing.
//   4. Giving back an expired hold sets its entry to 0 and leaves it there. Its owner, if it was only late, still
//      settles once, without cover: the provider was really paid, so the balance takes it and may fall below 0.
//   5. `lateSettlementMs` after its expiry an entry is removed by the next settlement that meets it.
import { balanceChanges, balanceNames, sumOf } from './balance-parts.ts';
import { type Counter, type Hold, holdAttribute, holdEntry } from './counter.ts';
import { emptyParts } from './reclaim-parts.ts';
import type { WriteParts } from './write-parts.ts';

/** Takes a hold; the same write gives back expired ones that still stand as they were seen. */
export function takeParts(counter: Counter, hold: Hold, reclaimed: readonly Hold[], nowMs: number): WriteParts {
  const net = hold.amount - sumOf(reclaimed);
  const entries = emptyParts(reclaimed, nowMs);
  const floors = counter.balances.flatMap(({ limit }, index) =>
    limit === null ? [] : [{ balance: `#balance${index}`, placeholder: `:floor${index}`, floor: net - limit }],
  );
  return {
    ...entries,
    set: [...(entries.set ?? []), '#hold = :hold', ...balanceChanges(counter, '-', ':net')],
    conditions: [
      ...(entries.conditions ?? []),
      'attribute_not_exists(#hold)',
      // Conditions cannot add, so a balance is compared with what it must be at least. An absent one is 0.
      ...floors.map(({ balance, placeholder, floor }) =>
        floor > 0n
          ? `${balance} >= ${placeholder}`
          : `attribute_not_exists(${balance}) OR ${balance} >= ${placeholder}`,
      ),
    ],
    names: { ...entries.names, ...balanceNames(counter), '#hold': holdAttribute(hold.owner) },
    values: {
      ...entries.values,
      ':hold': holdEntry(hold),
      ':net': net,
      ':zero': 0n,
      ...Object.fromEntries(floors.map(({ placeholder, floor }) => [placeholder, floor])),
    },
  };
}

/** Ends a hold whose entry shows `held` (0: it was given back) at its real cost. */
export function settleParts(counter: Counter, owner: string, held: bigint, actual: bigint): WriteParts {
  const spent = spentParts(counter, actual);
  return {
    set: [...balanceChanges(counter, '+', ':returned'), ...(spent.set ?? [])],
    remove: ['#hold'],
    conditions: ['#hold.#amount = :held'],
    names: { ...balanceNames(counter), ...spent.names, '#hold': holdAttribute(owner), '#amount': 'amount' },
    values: { ...spent.values, ':returned': held - actual, ':held': held, ':zero': 0n },
  };
}

const spentParts = ({ spentAttribute }: Counter, actual: bigint): WriteParts =>
  spentAttribute === undefined
    ? {}
    : {
        set: ['#spent = if_not_exists(#spent, :zero) + :actual'],
        names: { '#spent': spentAttribute },
        values: { ':actual': actual },
      };
