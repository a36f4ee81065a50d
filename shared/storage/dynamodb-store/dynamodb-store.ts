// Implements the Store on DynamoDB: one command per call, and each call bounded in attempts and time.
import {
  BatchExecuteStatementCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { admissionTimeoutMs, storeCallTimeoutMs, tableNaming } from '../../foundation/constants/index.ts';
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import { type CallKind, callWithAttempts, ItemsUnprocessed } from '../aws-clients/index.ts';
import { type CallOptions, type ConditionalResult, type Item, type Store, StoreUnavailable } from '../store/index.ts';
import { itemOf } from './attribute-values.ts';
import type { DynamoClient } from './client.ts';
import {
  type BatchWrites,
  batchInputs,
  deleteInput,
  getInput,
  putInput,
  queryInput,
  scanInput,
  updateInput,
} from './command-inputs.ts';
import { createSharedUpdates, type StatementOutcome } from './shared-updates.ts';
import type { Statement } from './statement.ts';

interface DynamoStoreOptions {
  readonly client: DynamoClient;
  readonly stage: string;
  /** Suffix of restored tables that replace the stage's own. */
  readonly tableSuffix?: string | undefined;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /**
   * Limit of one call with all its attempts; a throttled call is repeated for `admissionTimeoutMs`. Default
   * `storeCallTimeoutMs`.
   */
  readonly callTimeoutMs?: number;
}

interface SendOptions {
  readonly abortSignal: AbortSignal;
}

/**
 * Creates the store. Its calls reject with StoreUnavailable, whatever the reason: no connection, no answer in time, a
 * throttle that lasts, a table that is missing, an expression or an item that DynamoDB does not accept.
 */
export function createDynamoStore(options: DynamoStoreOptions): Store {
  const { client, stage, tableSuffix, clock = systemClock, randomness = systemRandomness } = options;
  const { callTimeoutMs: limitMs = storeCallTimeoutMs } = options;
  const nameOf = tableNaming(stage, tableSuffix);

  async function call<Value>(
    kind: CallKind,
    { signal: callerSignal }: CallOptions,
    send: (options: SendOptions) => Promise<Value>,
  ): Promise<Value> {
    const throttledMaxMs = Math.max(limitMs, admissionTimeoutMs);
    const attempts = { clock, randomness, limitMs, throttledMaxMs, kind, callerSignal };
    try {
      return await callWithAttempts(attempts, (abortSignal) => send({ abortSignal }));
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  const updates = createSharedUpdates({
    nameOf,
    sendOne: (update, abortSignal) =>
      conditional(async () => {
        const { Attributes } = await client.send(new UpdateItemCommand(updateInput(nameOf, update)), { abortSignal });
        return itemOf(Attributes);
      }),
    sendAll: async (statements, abortSignal) => outcomesOf(await client.send(batchOf(statements), { abortSignal })),
  });

  return {
    get: async (table, key, callOptions = {}) =>
      call('repeatable', callOptions, async (sending) => {
        const input = getInput(nameOf, table, key, callOptions.sortKey);
        const { Item } = await client.send(new GetItemCommand(input), sending);
        if (Item !== undefined) updates.exists(table, key);
        return itemOf(Item);
      }),

    put: async (put, callOptions = {}) =>
      call(kindOf(put), callOptions, (sending) =>
        conditional(async () => {
          const { Attributes } = await client.send(new PutItemCommand(putInput(nameOf, put)), sending);
          return put.returnOld === true ? itemOf(Attributes) : put.item;
        }),
      ),

    update: async (update, callOptions = {}) =>
      call(kindOf(update), callOptions, ({ abortSignal }) => updates.send(update, abortSignal)),

    async batchPut(puts, callOptions = {}) {
      const batches = batchInputs(nameOf, puts).map((writes) => {
        let unsent: BatchWrites = writes;
        return call('repeatable', callOptions, async (sending) => {
          const write = new BatchWriteItemCommand({ RequestItems: unsent });
          const { UnprocessedItems = {} } = await client.send(write, sending);
          if (Object.keys(UnprocessedItems).length === 0) return;
          unsent = UnprocessedItems as BatchWrites;
          throw new ItemsUnprocessed();
        });
      });
      await Promise.all(batches);
    },

    // A delete is not repeatable, because between a lost answer and a second attempt another caller may have put an
    // item under this key.
    delete: async (table, key, callOptions = {}) =>
      call('once', callOptions, async (sending) => {
        await client.send(new DeleteCommand(deleteInput(nameOf, table, key)), sending);
      }),

    scan: (table, callOptions = {}) =>
      itemsOf((startAfter) =>
        call('repeatable', callOptions, (sending) =>
          client.send(new ScanCommand(scanInput(nameOf, table, startAfter)), sending),
        ),
      ),

    query: (table, key, { from, to, attributes, ...callOptions } = {}) =>
      itemsOf((startAfter) =>
        call('repeatable', callOptions, (sending) =>
          client.send(new QueryCommand(queryInput(nameOf, table, key, { from, to, attributes }, startAfter)), sending),
        ),
      ),
  };
}

const batchOf = (statements: readonly Statement[]) => new BatchExecuteStatementCommand({ Statements: [...statements] });

const outcomesOf = ({ Responses = [] }: { readonly Responses?: StatementOutcome[] | undefined }) => Responses;

const kindOf = ({ repeatable = false }: { repeatable?: boolean }): CallKind => (repeatable ? 'repeatable' : 'once');

async function conditional(write: () => Promise<Item | undefined>): Promise<ConditionalResult> {
  try {
    return { kind: 'written', item: await write() };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { kind: 'refused', item: itemOf(error.Item) };
  }
}

interface Page {
  readonly Items?: Item[] | undefined;
  /** Position of the next page; DynamoDB omits it on the last page. */
  readonly LastEvaluatedKey?: Item | undefined;
}

async function* itemsOf(readPage: (startAfter: Item | undefined) => Promise<Page>): AsyncGenerator<Item> {
  let startAfter: Item | undefined;
  do {
    const { Items = [], LastEvaluatedKey }: Page = await readPage(startAfter);
    yield* Items;
    startAfter = LastEvaluatedKey;
  } while (startAfter !== undefined);
}
