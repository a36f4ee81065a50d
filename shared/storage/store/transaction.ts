// Defines a transaction whose writes come from several callers. Each caller adds its own writes, and gets the outcome
// after the commit.
import type { Store, TransactionItems } from './store.ts';

export interface StoreTransaction {
  /**
   * Adds a write. The writes run in the order of their additions, and do not wait. If one write throws, no write is
   * made. Rejects if the transaction was not made. Throws once the transaction has begun.
   */
  add<Value>(write: (items: TransactionItems) => Value, end?: TransactionEnd<Value>): Promise<Value>;
  /** Begins the transaction. The promises of `add` report its outcome. */
  commit(): void;
}

/** Called before the caller of an addition continues. */
interface TransactionEnd<Value> {
  readonly committed: (value: Value) => void;
  readonly failed: () => void;
}

/** Runs one addition, and returns a function that reports the result to its caller once the commit is made. */
type Addition = (items: TransactionItems) => () => void;

export function openTransaction(transact: NonNullable<Store['transact']>): StoreTransaction {
  const additions: Addition[] = [];
  const rejections: ((error: unknown) => void)[] = [];
  let isBegun = false;
  return {
    add<Value>(write: (items: TransactionItems) => Value, end?: TransactionEnd<Value>) {
      if (isBegun) throw new Error('a write was added to a transaction that is begun');
      const { promise, resolve, reject } = Promise.withResolvers<Value>();
      additions.push((items) => {
        const value = write(items);
        return () => {
          end?.committed(value);
          resolve(value);
        };
      });
      rejections.push((error) => {
        end?.failed();
        reject(error);
      });
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
