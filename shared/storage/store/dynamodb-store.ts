// The Store on DynamoDB: single items only, one command per call.

import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import { type CallKind, callWithAttempts } from '../aws-calls/index.ts';
import { type AttributeMap, fromAttributes } from './attribute-values.ts';
import { type BatchWrites, batchInputs, unprocessedOf } from './batch-put.ts';
import { deleteInput, getInput, putInput, queryInput, scanInput, updateInput } from './command-inputs.ts';
import type { DynamoAnswer, DynamoClient, DynamoInput, DynamoOutput } from './dynamodb-client.ts';
import { type CallOptions, type ConditionalResult, type Item, type Store, StoreUnavailable } from './store.ts';

export interface DynamoStoreOptions {
  readonly client: DynamoClient;
  readonly stage: string;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/**
 * Rejects with StoreUnavailable, whatever the reason: no connection, no answer in time, a throttle that lasts, a table
 * that is missing, an expression that DynamoDB does not accept. An item that cannot be stored at all throws a TypeError
 * or Error of its own: that is a mistake of the caller, not a state of the store.
 */
export function createDynamoStore(options: DynamoStoreOptions): Store {
  const { client, stage, clock = systemClock, randomness = systemRandomness } = options;

  /** `read`: whatever is wrong with an answer, the write it answers may have been done. */
  async function call<Value>(
    operation: string,
    input: DynamoInput,
    kind: CallKind,
    { signal: callerSignal }: CallOptions,
    read: (answer: DynamoAnswer) => Value,
  ): Promise<Value> {
    const attempts = { clock, randomness, limitMs: storeCallTimeoutMs, kind, callerSignal };
    try {
      return read(await callWithAttempts(attempts, (signal) => client.send(operation, input, signal)));
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  return {
    get: async (table, key, callOptions = {}) =>
      call('GetItem', getInput(stage, table, key), 'repeatable', callOptions, (answer) =>
        fromAttributes(outputOf(answer).Item as AttributeMap | undefined),
      ),

    async put(put, callOptions = {}) {
      const input = putInput(stage, put);
      return call('PutItem', input, kindOf(put), callOptions, (answer) =>
        resultOf(answer, ({ Attributes }) => (put.returnOld === true ? Attributes : input.Item)),
      );
    },

    update: async (update, callOptions = {}) =>
      call('UpdateItem', updateInput(stage, update), kindOf(update), callOptions, (answer) =>
        resultOf(answer, ({ Attributes }) => Attributes),
      ),

    async batchPut(puts, callOptions = {}) {
      await Promise.all(
        batchInputs(stage, puts).map(async (batch) => {
          let left: BatchWrites = batch;
          for (let tried = 0; tried < batchTriesMax && Object.keys(left).length > 0; tried += 1) {
            const read = (answer: DynamoAnswer) => unprocessedOf(outputOf(answer));
            left = await call('BatchWriteItem', { RequestItems: left }, 'repeatable', callOptions, read);
          }
          if (Object.keys(left).length > 0) throw new StoreUnavailable(new Error('items of a batch were not written'));
        }),
      );
    },

    // Not repeatable: between a lost answer and a second try somebody else may have put an item under this key.
    delete: async (table, key, callOptions = {}) =>
      call('DeleteItem', deleteInput(stage, table, key), 'once', callOptions, () => undefined),

    scan(table, callOptions = {}) {
      return itemsOf((startAfter) =>
        call('Scan', scanInput(stage, table, startAfter), 'repeatable', callOptions, pageOf),
      );
    },

    query(table, key, { from, to, ...callOptions } = {}) {
      return itemsOf((startAfter) => {
        const input = queryInput(stage, table, key, { from, to }, startAfter);
        return call('Query', input, 'repeatable', callOptions, pageOf);
      });
    },
  };
}

/** DynamoDB returns what it did not write when it throttles. */
const batchTriesMax = 3;

interface Page {
  readonly items: readonly Item[];
  /** DynamoDB leaves it out on the last one. */
  readonly lastKey: AttributeMap | undefined;
}

function pageOf(answer: DynamoAnswer): Page {
  const { Items = [], LastEvaluatedKey } = outputOf(answer);
  return {
    items: (Items as AttributeMap[]).map((attributes) => fromAttributes(attributes) ?? {}),
    lastKey: LastEvaluatedKey as AttributeMap | undefined,
  };
}

async function* itemsOf(readPage: (startAfter: AttributeMap | undefined) => Promise<Page>): AsyncGenerator<Item> {
  let startAfter: AttributeMap | undefined;
  do {
    const { items, lastKey }: Page = await readPage(startAfter);
    yield* items;
    startAfter = lastKey;
  } while (startAfter !== undefined);
}

const kindOf = ({ repeatable = false }: { repeatable?: boolean }): CallKind => (repeatable ? 'repeatable' : 'once');

function resultOf(answer: DynamoAnswer, attributesOf: (output: DynamoOutput) => unknown): ConditionalResult {
  if (answer.kind === 'refused') return { kind: 'refused', item: fromAttributes(answer.item) };
  return { kind: 'written', item: fromAttributes(attributesOf(answer.output) as AttributeMap | undefined) };
}

function outputOf(answer: DynamoAnswer): DynamoOutput {
  if (answer.kind === 'done') return answer.output;
  throw new Error('an operation without a condition was refused by one');
}
