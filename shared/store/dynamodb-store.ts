// The Store on DynamoDB: single items only, one command per call.
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type Randomness, systemRandomness } from '../ids/index.ts';
import { type Clock, systemClock } from '../time/index.ts';
import { type CallKind, callWithAttempts } from './attempts.ts';
import { type AttributeMap, fromAttributes } from './attribute-values.ts';
import { deleteInput, getInput, putInput, queryInput, scanInput, updateInput } from './command-inputs.ts';
import { type CallOptions, type ConditionalResult, type Item, type Store, StoreUnavailable } from './store.ts';

export interface DynamoStoreOptions {
  readonly client: DynamoDBClient;
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

  const call = <Output>(kind: CallKind, callOptions: CallOptions, send: (abort: Abort) => Promise<Output>) =>
    callWithAttempts({ clock, randomness }, kind, callOptions.signal, (abortSignal) => send({ abortSignal }));

  return {
    async get(table, key, callOptions = {}) {
      const input = getInput(stage, table, key);
      const answer = call('repeatable', callOptions, (abort) => client.send(new GetItemCommand(input), abort));
      return fromAttributes((await orUnavailable(answer)).Item);
    },

    async put(put, callOptions = {}) {
      const input = putInput(stage, put);
      const answer = call(kindOf(put), callOptions, (abort) => client.send(new PutItemCommand(input), abort));
      return resultOf(answer, ({ Attributes }) => (put.returnOld === true ? Attributes : input.Item));
    },

    async update(update, callOptions = {}) {
      const input = updateInput(stage, update);
      const answer = call(kindOf(update), callOptions, (abort) => client.send(new UpdateItemCommand(input), abort));
      return resultOf(answer, ({ Attributes }) => Attributes);
    },

    async delete(table, key, callOptions = {}) {
      const input = deleteInput(stage, table, key);
      // Not repeatable: between a lost answer and a second try somebody else may have put an item under this key.
      await orUnavailable(call('once', callOptions, (abort) => client.send(new DeleteItemCommand(input), abort)));
    },

    scan(table, callOptions = {}) {
      return itemsOf((startAfter) => {
        const input = scanInput(stage, table, startAfter);
        return call('repeatable', callOptions, (abort) => client.send(new ScanCommand(input), abort));
      });
    },

    query(table, key, { from, to, ...callOptions } = {}) {
      return itemsOf((startAfter) => {
        const input = queryInput(stage, table, key, { from, to }, startAfter);
        return call('repeatable', callOptions, (abort) => client.send(new QueryCommand(input), abort));
      });
    },
  };
}

interface Abort {
  readonly abortSignal: AbortSignal;
}

interface Page {
  readonly Items?: AttributeMap[] | undefined;
  readonly LastEvaluatedKey?: AttributeMap | undefined;
}

/** As many pages as there are; DynamoDB leaves LastEvaluatedKey out on the last one. */
async function* itemsOf(readPage: (startAfter: AttributeMap | undefined) => Promise<Page>): AsyncGenerator<Item> {
  let startAfter: AttributeMap | undefined;
  do {
    const page: Page = await orUnavailable(readPage(startAfter));
    for (const attributes of page.Items ?? []) yield fromAttributes(attributes) ?? {};
    startAfter = page.LastEvaluatedKey;
  } while (startAfter !== undefined);
}

const kindOf = ({ repeatable = false }: { repeatable?: boolean }): CallKind => (repeatable ? 'repeatable' : 'once');

async function resultOf<Output>(
  answer: Promise<Output>,
  attributesOf: (output: Output) => AttributeMap | undefined,
): Promise<ConditionalResult> {
  try {
    return { kind: 'written', item: fromAttributes(attributesOf(await answer)) };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { kind: 'refused', item: fromAttributes(error.Item) };
    throw new StoreUnavailable(error);
  }
}

async function orUnavailable<Output>(answer: Promise<Output>): Promise<Output> {
  try {
    return await answer;
  } catch (error) {
    throw new StoreUnavailable(error);
  }
}
