// The Store on DynamoDB: single items only, one command per call.
import { type CallKind, callWithAttempts } from '../aws-calls/index.ts';
import { type Randomness, systemRandomness } from '../ids/index.ts';
import { storeCallTimeoutMs } from '../names/index.ts';
import { type Clock, systemClock } from '../time/index.ts';
import { type AttributeMap, fromAttributes } from './attribute-values.ts';
import { deleteInput, getInput, putInput, queryInput, scanInput, updateInput } from './command-inputs.ts';
import type { DynamoAnswer, DynamoClient, DynamoInput, DynamoOutput } from './dynamodb-client.ts';
import { type CallOptions, type ConditionalResult, type Store, StoreUnavailable } from './store.ts';

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

  async function call(operation: string, input: DynamoInput, kind: CallKind, { signal: callerSignal }: CallOptions) {
    const attempts = { clock, randomness, limitMs: storeCallTimeoutMs, kind, callerSignal };
    try {
      return await callWithAttempts(attempts, (signal) => client.send(operation, input, signal));
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  }

  return {
    async get(table, key, callOptions = {}) {
      const answer = await call('GetItem', getInput(stage, table, key), 'repeatable', callOptions);
      return fromAttributes(outputOf(answer).Item as AttributeMap | undefined);
    },

    async put(put, callOptions = {}) {
      const input = putInput(stage, put);
      const answer = await call('PutItem', input, kindOf(put), callOptions);
      return resultOf(answer, ({ Attributes }) => (put.returnOld === true ? Attributes : input.Item));
    },

    async update(update, callOptions = {}) {
      const answer = await call('UpdateItem', updateInput(stage, update), kindOf(update), callOptions);
      return resultOf(answer, ({ Attributes }) => Attributes);
    },

    async delete(table, key, callOptions = {}) {
      // Not repeatable: between a lost answer and a second try somebody else may have put an item under this key.
      await call('DeleteItem', deleteInput(stage, table, key), 'once', callOptions);
    },

    scan(table, callOptions = {}) {
      return itemsOf((startAfter) => call('Scan', scanInput(stage, table, startAfter), 'repeatable', callOptions));
    },

    query(table, key, { from, to, ...callOptions } = {}) {
      return itemsOf((startAfter) => {
        const input = queryInput(stage, table, key, { from, to }, startAfter);
        return call('Query', input, 'repeatable', callOptions);
      });
    },
  };
}

/** As many pages as there are; DynamoDB leaves LastEvaluatedKey out on the last one. */
async function* itemsOf(readPage: (startAfter: AttributeMap | undefined) => Promise<DynamoAnswer>) {
  let startAfter: AttributeMap | undefined;
  do {
    const page: DynamoOutput = outputOf(await readPage(startAfter));
    for (const attributes of (page.Items ?? []) as AttributeMap[]) yield fromAttributes(attributes) ?? {};
    startAfter = page.LastEvaluatedKey as AttributeMap | undefined;
  } while (startAfter !== undefined);
}

const kindOf = ({ repeatable = false }: { repeatable?: boolean }): CallKind => (repeatable ? 'repeatable' : 'once');

function resultOf(answer: DynamoAnswer, attributesOf: (output: DynamoOutput) => unknown): ConditionalResult {
  if (answer.kind === 'refused') return { kind: 'refused', item: fromAttributes(answer.item) };
  return { kind: 'written', item: fromAttributes(attributesOf(answer.output) as AttributeMap | undefined) };
}

function outputOf(answer: DynamoAnswer): DynamoOutput {
  if (answer.kind === 'done') return answer.output;
  throw new StoreUnavailable(new Error('an operation without a condition was refused by one'));
}
