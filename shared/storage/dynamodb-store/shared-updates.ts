// Sends updates of the same turn of the event loop to DynamoDB in one request. Each update has its own condition and
// outcome, and uses as many write units as if it were sent alone. Some updates are still sent alone: an update of an
// item that may not exist, because a statement creates no item, and every update on an engine that refuses the
// statements' syntax.
import { createCache } from '../../foundation/cache/index.ts';
import type { NameTable, TableName } from '../../foundation/constants/index.ts';
import { atTurnEnd } from '../../foundation/time/index.ts';
import { type ConditionalResult, holds, type Update } from '../store/index.ts';
import { type ItemAttributes, itemOf } from './attribute-values.ts';
import { type Statement, statementOf } from './statement.ts';

/** Maximum number of statements of a request, which is DynamoDB's limit. */
const statementsMax = 25;
/** Maximum number of items that are remembered as existing; an update of another item is first sent alone. */
const knownItemsMax = 5_000;

/** The outcome of one statement in DynamoDB's answer. */
export interface StatementOutcome {
  readonly Item?: ItemAttributes | undefined;
  readonly Error?: { readonly Code?: string | undefined; readonly Item?: ItemAttributes | undefined } | undefined;
}

interface SharedUpdatesOptions {
  readonly nameOf: NameTable;
  readonly sendOne: (update: Update, signal: AbortSignal) => Promise<ConditionalResult>;
  readonly sendAll: (statements: readonly Statement[], signal: AbortSignal) => Promise<readonly StatementOutcome[]>;
}

interface SharedUpdates {
  /** Makes one attempt. Rejects as if the update were sent alone. */
  send(update: Update, signal: AbortSignal): Promise<ConditionalResult>;
  /** Reports that an answer contained the item. */
  exists(table: TableName, key: string): void;
}

interface Waiting {
  readonly update: Update;
  readonly statement: Statement;
  readonly name: string;
  readonly signal: AbortSignal;
  readonly resolve: (result: ConditionalResult | Promise<ConditionalResult>) => void;
  readonly reject: (error: unknown) => void;
}

export function createSharedUpdates({ nameOf, sendOne, sendAll }: SharedUpdatesOptions): SharedUpdates {
  const known = createCache<true>({ sizeMax: knownItemsMax });
  let waiting: Waiting[] = [];
  /**
   * True once this engine, or the rights of this process, refused a shared request but allowed the same update alone.
   */
  let isRefused = false;

  async function sendAlone(update: Update, name: string, signal: AbortSignal): Promise<ConditionalResult> {
    const result = await sendOne(update, signal);
    // The answer to a write proves the item's existence as a read does.
    if (result.kind === 'written' || result.item !== undefined) known.set(name, true);
    else known.delete(name);
    return result;
  }

  /** Sends an update alone after its syntax was refused. If it is accepted alone, no further updates are shared. */
  async function sendRefused({ update, name, signal }: Waiting): Promise<ConditionalResult> {
    const result = await sendAlone(update, name, signal);
    isRefused = true;
    return result;
  }

  /** Returns the outcome of a statement. Rejects as a single request would. */
  async function resultOf(each: Waiting, { Item, Error: error }: StatementOutcome): Promise<ConditionalResult> {
    if (error === undefined) return { kind: 'written', item: itemOf(Item) };
    const { update, name, signal } = each;
    const { Code: code = '' } = error;
    const item = itemOf(error.Item);
    if (code in errorNames) throw errorOf(code);
    if (code !== 'ConditionalCheckFailed') return sendRefused(each);
    // If no item is returned, the item may be absent. An item that satisfies the condition means that the engine
    // evaluated the statement differently from a single request.
    const isRefusal = item !== undefined && update.condition !== undefined && !holds(update.condition, item);
    return isRefusal ? { kind: 'refused', item } : sendAlone(update, name, signal);
  }

  async function sendTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const statements = batch.map(({ statement }) => statement);
      const outcomes = await sendAll(statements, signalOfAll(batch));
      for (const [at, each] of batch.entries()) each.resolve(resultOf(each, outcomes[at] ?? unanswered));
    } catch (error) {
      const isRefusedWhole = isUnsupported(error);
      for (const each of batch) {
        if (isRefusedWhole) each.resolve(sendRefused(each));
        else each.reject(error);
      }
    }
  }

  function flush(): void {
    const gathered = waiting;
    waiting = [];
    for (const { signal, reject } of gathered) if (signal.aborted) reject(signal.reason);
    for (const batch of batchesOf(gathered.filter(({ signal }) => !signal.aborted))) {
      const [first] = batch;
      if (batch.length === 1 && first !== undefined) first.resolve(sendAlone(first.update, first.name, first.signal));
      else void sendTogether(batch);
    }
  }

  const nameIn = (table: TableName, key: string): string => `${table} ${key}`;

  return {
    send(update, signal) {
      const name = nameIn(update.table, update.key);
      const statement = isRefused || known.get(name) === undefined ? undefined : statementOf(nameOf, update);
      if (statement === undefined) return sendAlone(update, name, signal);
      const { promise, resolve, reject } = Promise.withResolvers<ConditionalResult>();
      if (waiting.push({ update, statement, name, signal, resolve, reject }) === 1) atTurnEnd(flush);
      return promise;
    },
    exists: (table, key) => known.set(nameIn(table, key), true),
  };
}

/** Divides the updates into batches, because DynamoDB accepts one statement per item in a request. */
function batchesOf(open: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = [];
  const namesOf: Set<string>[] = [];
  for (const each of open) {
    let at = batches.findIndex(
      (batch, index) => batch.length < statementsMax && namesOf[index]?.has(each.name) !== true,
    );
    if (at === -1) {
      at = batches.push([]) - 1;
      namesOf.push(new Set());
    }
    batches[at]?.push(each);
    namesOf[at]?.add(each.name);
  }
  return batches;
}

/** Returns a signal that aborts when the last of the callers has aborted. */
function signalOfAll(batch: readonly Waiting[]): AbortSignal {
  const all = new AbortController();
  let open = batch.length;
  for (const { signal } of batch)
    signal.addEventListener(
      'abort',
      () => {
        open -= 1;
        if (open === 0) all.abort(signal.reason);
      },
      { once: true },
    );
  return all.signal;
}

/** Outcome of a statement that is missing in the answer. The statement may have run. */
const unanswered: StatementOutcome = { Error: { Code: 'InternalServerError' } };

/** Names of errors by the code of a statement: the error with which the same write would be refused alone. */
const errorNames: Readonly<Record<string, string>> = {
  ThrottlingError: 'ThrottlingException',
  ProvisionedThroughputExceeded: 'ProvisionedThroughputExceededException',
  RequestLimitExceeded: 'RequestLimitExceeded',
  InternalServerError: 'InternalServerError',
};

function errorOf(code: string): Error {
  const httpStatusCode = code === 'InternalServerError' ? 500 : 400;
  return Object.assign(new Error(`a statement of several: ${code}`), {
    name: errorNames[code],
    $metadata: { httpStatusCode },
  });
}

/** True if the request was refused for its syntax or rights, so that none of its statements ran. */
const isUnsupported = (error: unknown): boolean => error instanceof Error && unsupportedNames.has(error.name);

const unsupportedNames: ReadonlySet<string> = new Set([
  'ValidationException',
  'AccessDeniedException',
  'UnknownOperationException',
]);
