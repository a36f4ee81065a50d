// One transaction for the calls of one turn of the event loop: it begins after all of them were made, and each caller
// is answered after its commit.
import type { DatabaseSync } from 'node:sqlite';
import { atTurnEnd, type Clock } from '../../foundation/time/index.ts';
import { whileBusy } from './busy.ts';

/** Some 10 ms of work: beyond it other requests have their turn in between. */
const transactionWeightMax = 500;

interface StoreWork<Value> {
  /** Items that it may write. */
  readonly weight: number;
  /** Throws where it cannot be done, and has then changed nothing. */
  readonly run: () => Value;
  readonly signal?: AbortSignal | undefined;
}

interface TransactionsOptions {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  /** How long work may wait for a file that another process has locked. */
  readonly limitMs: number;
  /** Called once it has begun. Where it throws, nothing of it is done. */
  readonly onBegin: () => void;
  /** Writes the results of the work, as the transaction's last step. */
  readonly onEnd: () => void;
  /** Called after the commit. Its callers are answered once the returned promise has resolved. */
  readonly onCommitted: () => Promise<void> | undefined;
  /** Called when it failed: nothing of it was written. */
  readonly onFailed: () => void;
}

export interface Transactions {
  /** Rejects with the reason of the signal, with the error of `run`, or with SQLite's error. */
  ask<Value>(work: StoreWork<Value>): Promise<Value>;
  /** Resolves when everything that was asked for has its answer. */
  end(): Promise<void>;
}

interface Waiting extends StoreWork<unknown> {
  /** Resolves with the result of `run`. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
  /** When it first met a locked file. */
  metBusyAtMs?: number;
}

export function createTransactions(options: TransactionsOptions): Transactions {
  const { clock, limitMs } = options;
  const transact = openTransact(options);
  let waiting: Waiting[] = [];
  let serving: Promise<void> | undefined;
  /** Answers of the last transaction, which come after those of earlier ones. */
  let unanswered: Promise<void> | undefined;

  /** Takes the work of the next transaction. */
  function takeNext(): Waiting[] {
    let weight = 0;
    const end = waiting.findIndex((work) => {
      weight += work.weight;
      return weight > transactionWeightMax;
    });
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  /** Each caller that waits for a locked file has a limit of its own. */
  function isAwaited(error: unknown): boolean {
    const nowMs = clock.nowMs();
    waiting = waiting.filter((work) => {
      work.metBusyAtMs ??= nowMs;
      if (nowMs - work.metBusyAtMs < limitMs) return true;
      work.reject(error);
      return false;
    });
    return waiting.length > 0;
  }

  function transactNext(): void {
    waiting = waiting.filter(isWanted);
    if (waiting.length === 0) return;
    transact.begin();
    unanswered = transact.run(takeNext()) ?? unanswered;
  }

  async function serve(): Promise<void> {
    while (waiting.length > 0) {
      await whileBusy({ clock, isAwaited }, transactNext).catch((error: unknown) =>
        rejectAll(waiting.splice(0), error),
      );
      if (waiting.length > 0) await new Promise<void>(atTurnEnd);
    }
    serving = undefined;
  }

  return {
    ask: <Value>(work: StoreWork<Value>) => {
      const { promise, resolve, reject } = Promise.withResolvers<Value>();
      waiting.push({ ...work, resolve: resolve as (value: unknown) => void, reject });
      serving ??= new Promise<void>(atTurnEnd).then(serve);
      return promise;
    },
    async end() {
      await serving;
      await unanswered;
    },
  };
}

function openTransact({ database, onBegin, onEnd, onCommitted, onFailed }: TransactionsOptions) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  /** Never throws: the next transaction would fail in the same way. */
  function undo(): void {
    try {
      // SQLite itself does it where the disk is full.
      if (database.isTransaction) rollback.run();
    } catch {}
  }

  return {
    /** Throws where the file is locked. */
    begin: () => void begin.run(),

    /** Never throws. Returns a promise that resolves once they are answered, or undefined when they are already. */
    run(taken: readonly Waiting[]): Promise<void> | undefined {
      const answers: (() => void)[] = [];
      try {
        onBegin();
        for (const work of taken) answers.push(answerOf(work));
        onEnd();
        commit.run();
      } catch (error) {
        undo();
        onFailed();
        rejectAll(taken, error);
        return undefined;
      }
      const answerAll = () => {
        for (const answer of answers) answer();
      };
      try {
        const durable = onCommitted();
        if (durable !== undefined) return durable.then(answerAll, (cause) => rejectAll(taken, cause));
        answerAll();
      } catch (error) {
        rejectAll(taken, error);
      }
      return undefined;
    },
  };
}

function isWanted({ signal, reject }: Waiting): boolean {
  if (signal?.aborted !== true) return true;
  reject(signal.reason);
  return false;
}

function rejectAll(works: readonly Waiting[], cause: unknown): void {
  for (const { reject } of works) reject(cause);
}

function answerOf({ run, resolve, reject }: Waiting): () => void {
  try {
    const value = run();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
