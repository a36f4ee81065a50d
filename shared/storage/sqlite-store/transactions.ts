// One transaction for what one turn of the event loop asks for: it begins when everything that the turn has to serve has
// asked, and each caller is answered behind its commit.
import type { DatabaseSync } from 'node:sqlite';
import { atTurnEnd, type Clock } from '../../foundation/time/index.ts';
import { whileBusy } from './busy.ts';

/** Some 10 ms of work: beyond it other requests have their turn in between. */
const transactionWeightMax = 500;

export interface Work<Value> {
  /** Items that it may write. */
  readonly weight: number;
  /** Throws where it cannot be done, and has then changed nothing. */
  readonly run: () => Value;
  readonly signal?: AbortSignal | undefined;
}

export interface TransactionsOptions {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  /** How long work may wait for a file that another process has locked. */
  readonly limitMs: number;
  /** Once it has begun. Where it throws, nothing of it is done. */
  readonly onBegin: () => void;
  /** Writes what the work made, the transaction's last step. */
  readonly onEnd: () => void;
  /** It was committed. Its callers are answered once what this returns has resolved. */
  readonly onCommitted: () => Promise<void> | undefined;
  /** Nothing of it was. */
  readonly onFailed: () => void;
}

export interface Transactions {
  /** Rejects with the reason of the signal, with what `run` throws, or with SQLite's error. */
  ask<Value>(work: Work<Value>): Promise<Value>;
  /** Resolves when everything that was asked for has its answer. */
  end(): Promise<void>;
}

interface Waiting extends Work<unknown> {
  /** Answers what `run` gave. */
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
  /** Of the last transaction: those before it are answered before it. */
  let unanswered: Promise<void> | undefined;

  /** Those whose transaction is next. */
  function takeNext(): Waiting[] {
    let weight = 0;
    const end = waiting.findIndex((work) => {
      weight += work.weight;
      return weight > transactionWeightMax;
    });
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  /** Each that waits for a locked file ends that for itself. */
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
    ask: <Value>(work: Work<Value>) => {
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

  /** Never throws: what comes next would fail where this does. */
  function undo(): void {
    try {
      // SQLite itself does it where the disk is full.
      if (database.isTransaction) rollback.run();
    } catch {}
  }

  return {
    /** Throws where the file is locked. */
    begin: () => void begin.run(),

    /** Never throws. What it returns resolves once they are answered; undefined: they are. */
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
