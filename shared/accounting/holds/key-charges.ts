// Spending of keys that nothing limits, which is shown and never refuses: charged behind the call, in a write of its
// own. In a process that lives, calls of one key share a write a second; one that comes alone is written at once. A store
// that has transactions writes it with the call's record.
import { createCache } from '../../foundation/cache/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { coalesceRuns, type Item, retryWrite } from '../../storage/store/index.ts';
import type { ItemWriter, SettlementOptions } from './item-writer.ts';
import { keyCharge } from './key-limits.ts';

/** The spending of a key that is shown lags behind by at most that. */
const chargeEveryMs = 1_000;
/** A key that was forgotten is written at once. */
const chargedKeysMax = 5_000;

export interface KeyCharge {
  readonly publicId: string;
  readonly owner: string;
  /** The item as it was last seen: it has the period of the key. */
  readonly known: Item;
}

interface KeyChargesOptions {
  readonly writer: ItemWriter;
  readonly clock: Clock;
  /** Whether calls share writes. */
  readonly isShared: boolean;
}

/**
 * Returns a function that charges once for each time that it is called; what it throws must not be repeated, but with its
 * transaction.
 */
export function createKeyCharges({ writer, clock, isShared }: KeyChargesOptions) {
  const queues = createCache<(charge: KeyCharge & { readonly amount: bigint }) => Promise<void>>({
    sizeMax: chargedKeysMax,
  });

  const settle = ({ publicId, owner, known }: KeyCharge, amount: bigint, options: SettlementOptions) =>
    writer.settle(
      { table: 'keys', key: publicId, owner },
      { ...keyCharge(publicId, clock.nowMs), known, amount },
      options,
    );

  async function charge(of: KeyCharge, amount: bigint): Promise<void> {
    await retryWrite(clock, () => settle(of, amount, { isAwaited: !isShared })).catch(notRepeatable);
  }

  function queueOf(publicId: string) {
    const known = queues.get(publicId);
    if (known !== undefined) return known;
    let lastAtMs = Number.NEGATIVE_INFINITY;
    const queue = coalesceRuns(
      (charges: readonly (KeyCharge & { readonly amount: bigint })[]) => {
        lastAtMs = clock.nowMs();
        const [first] = charges;
        const amount = charges.reduce((sum, one) => sum + one.amount, 0n);
        return first === undefined ? Promise.resolve() : charge(first, amount);
      },
      { clock, gatherMs: () => Math.max(0, lastAtMs + chargeEveryMs - clock.nowMs()) },
    );
    queues.set(publicId, queue);
    return queue;
  }

  return async (
    of: KeyCharge,
    amount: bigint,
    { transaction }: Pick<SettlementOptions, 'transaction'> = {},
  ): Promise<void> => {
    if (amount === 0n) return;
    if (transaction !== undefined) await settle(of, amount, { transaction });
    else await (isShared ? queueOf(of.publicId)({ ...of, amount }) : charge(of, amount));
  };
}

/** It may have been made; the mark by which it counts once is of these tries. */
function notRepeatable(cause: unknown): never {
  throw new Error('the spending of a key was not counted', { cause });
}
