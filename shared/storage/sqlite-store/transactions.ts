// Runs the calls of one turn of the event loop in one transaction. The transaction begins after all calls were made,
// and each caller gets its answer after the commit.
import type { DatabaseSync } from 'node:sqlite';
import { atTurnEnd, type Clock } from '../../foundation/time/index.ts';
import { whileBusy } from './busy.ts';

/** Maximum weight of a transaction, some 10 ms of work, so that other requests run between two transactions. */
const transactionWeightMax = 500;

interface StoreWork<Value> {
  /** Number of items that the work may write. */
  readonly weight: number;
  /** Does the work. If it throws, it has changed nothing. */
  readonly run: () => Value;
  readonly signal?: AbortSignal | undefined;
  /** Converts the cause to the error with which the call rejects. */
  readonly toError?: (cause: unknown) => Error;
}

interface TransactionsOptions {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  /** Time for which work may wait for a file that another process has locked. */
  readonly limitMs: number;
  /** Called once the transaction has begun. If it throws, the transaction is not made. */
  readonly onBegin: () => void;
  /** Writes the results of the work, as the last step of the transaction. */
  readonly onEnd: () => void;
  /** Called after the commit. Its callers are answered once the returned promise has resolved. */
  readonly onCommitted: () => Promise<void> | undefined;
  /** Called when the transaction failed and no part of it was written. */
  readonly onFailed: () => void;
}

export interface Transactions {
  /** Queues the work. The cause of a rejection is the reason of the signal, the error of `run`, or SQLite's error. */
  ask<Value>(work: StoreWork<Value>): Promise<Value>;
  /** Resolves when all queued work has its answer. */
  end(): Promise<void>;
}

interface Waiting extends Omit<StoreWork<unknown>, 'toError'> {
  /** Resolves with the result of `run`. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
  /** Time at which the work first found the file locked. */
  metBusyAtMs?: number;
}

export function createTransactions(options: TransactionsOptions): Transactions {
  const { clock, limitMs } = options;
  const transact = openTransact(options);
  let waiting: Waiting[] = [];
  let serving: Promise<void> | undefined;
  /** The answers of the last transaction, which come after the answers of earlier transactions. */
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

  /** Returns false once the callers' own limits for a locked file are passed. */
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
      const { weight, run, signal, toError } = work;
      const rejectWith = (cause: unknown) => reject(toError === undefined ? cause : toError(cause));
      waiting.push({ weight, run, signal, resolve: resolve as (value: unknown) => void, reject: rejectWith });
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

  /** Rolls back. Never throws, because the next transaction would fail in the same way. */
  function undo(): void {
    try {
      // SQLite rolls back by itself if the disk is full.
      if (database.isTransaction) rollback.run();
    } catch {}
  }

  return {
    /** Begins the transaction. Throws if the file is locked. */
    begin: () => void begin.run(),

    /**
     * Runs the work. Never throws. Returns a promise that resolves once the callers have their answers, or undefined
     * when they have them already.
     */
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
