// A transaction whose writes come from several callers: each adds its own, and learns after the commit what became of it.
import type { Store, TransactionItems } from './store.ts';

export interface StoreTransaction {
  /**
   * `write` runs with the others in the order of their additions, does not wait, and leaves nothing of any of them where it
   * throws. Rejects where the transaction was not made. Throws once the transaction is begun.
   */
  add<Value>(write: (items: TransactionItems) => Value): Promise<Value>;
  /** Begins it. Its outcome is that of the additions. */
  commit(): void;
}

/** Runs one addition, and returns what tells its caller the result once the commit is made. */
type Addition = (items: TransactionItems) => () => void;

export function openTransaction(transact: NonNullable<Store['transact']>): StoreTransaction {
  const additions: Addition[] = [];
  const rejections: ((error: unknown) => void)[] = [];
  let isBegun = false;
  return {
    add<Value>(write: (items: TransactionItems) => Value) {
      if (isBegun) throw new Error('a write was added to a transaction that is begun');
      const { promise, resolve, reject } = Promise.withResolvers<Value>();
      additions.push((items) => {
        const value = write(items);
        return () => resolve(value);
      });
      rejections.push(reject);
      return promise;
    },
    commit() {
      isBegun = true;
      transact((items) => additions.map((addition) => addition(items))).then(
        (answers) => {
          for (const answer of answers) answer();
        },
        (error: unknown) => {
          for (const reject of rejections) reject(error);
        },
      );
    },
  };
}
