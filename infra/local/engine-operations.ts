// DynamoDB's operations as the engine's tools take them: the same values under other names, and for a refused condition
// the item that stood in its way, which the engine leaves out.
import { tableDefinitions } from '../../shared/foundation/constants/index.ts';
import type { EngineConnection } from './engine-connection.ts';

type Input = Readonly<Record<string, unknown>>;
type Item = Readonly<Record<string, unknown>>;
type Key = Item;

export type EngineResult =
  | { readonly error?: undefined; readonly output: string }
  | {
      readonly error: { readonly __type: string; readonly message: string; readonly Item?: unknown };
      readonly output?: undefined;
    };

interface OperationOptions {
  /** Of the input as JSON. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

type RunOperation = (operation: string, input: Input, options: OperationOptions) => Promise<EngineResult>;

export function createEngineOperations(engine: EngineConnection): RunOperation {
  const inTurn = createTurns();

  async function run(operation: string, input: Input): Promise<EngineResult> {
    const { isError, text } = await engine.call(snakeCase(operation), toolInput(operation, input));
    if (!isError) return { output: text };
    const { error_type: __type, message } = JSON.parse(text) as { error_type: string; message: string };
    return { error: { __type, message } };
  }
  const runTogether = createSharedTransactions(run);

  /** Alone on its item, so that the item read after a refusal is the one that was refused. */
  const write = (operation: string, input: Input, key: Key, signal: AbortSignal | undefined): Promise<EngineResult> =>
    inTurn(`${input.TableName} ${JSON.stringify(key)}`, async () => {
      signal?.throwIfAborted();
      const result = await (isShareable(operation, input) ? runTogether : run)(operation, input);
      const isRefused = result.error?.__type === 'ConditionalCheckFailedException';
      if (!isRefused || input.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return result;
      const standing = await run('GetItem', { TableName: input.TableName, Key: key });
      if (standing.error !== undefined) return standing;
      return { error: { ...result.error, ...JSON.parse(standing.output) } };
    });

  return async (operation, input, { bytes, signal }) => {
    const key = keyOf(operation, input);
    if (key !== undefined) return write(operation, input, key, signal);
    if (operation !== 'BatchWriteItem') return run(operation, input);
    const bulk = bytes <= bulkMaxBytes ? bulkPut(input) : undefined;
    return bulk === undefined ? runTogether(operation, input) : run('BulkPutItems', bulk);
  };
}

/** Of the one item that is written; undefined for every other operation. */
function keyOf(operation: string, { TableName, Key, Item }: Input): Key | undefined {
  if (operation === 'UpdateItem' || operation === 'DeleteItem') return Key as Key;
  return operation === 'PutItem' ? keyOfItem(String(TableName), Item as Item) : undefined;
}

function keyOfItem(TableName: string, item: Item): Key {
  const { partitionKey, sortKey }: { partitionKey: string; sortKey?: string } = definitionOf(TableName);
  const key = { [partitionKey]: item[partitionKey] };
  return sortKey === undefined ? key : { ...key, [sortKey]: item[sortKey] };
}

function definitionOf(physicalName: string) {
  const name = physicalName.slice(physicalName.lastIndexOf('-') + 1);
  return tableDefinitions[name as keyof typeof tableDefinitions];
}

/** `raw`: the answer of DynamoDB, not a summary of it. */
function toolInput(operation: string, input: Input): Input {
  const renamed: Record<string, unknown> = operation === 'DescribeTable' ? { raw: true } : {};
  for (const name of Object.keys(input)) renamed[snakeCase(name)] = input[name];
  return renamed;
}

/** Of operations and their members: some hundred names. */
const snakeCased = new Map<string, string>();

function snakeCase(name: string): string {
  const known = snakeCased.get(name);
  if (known !== undefined) return known;
  const made = name.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
  snakeCased.set(name, made);
  return made;
}

/** Its answer is empty. */
const isShareable = (operation: string, { ReturnValues }: Input): boolean =>
  operation === 'UpdateItem' && ReturnValues === 'NONE';

type BatchedWrites = Readonly<Record<string, readonly BatchedWrite[]>>;
type BatchedWrite = {
  readonly PutRequest?: { readonly Item: Item };
  readonly DeleteRequest?: { readonly Key: Key };
};

/** Fewer go with other writes: a call costs the engine as much as some puts. */
const bulkItemsMin = 4;
/** Of all items together: what DynamoDB lets one have, which the engine does not look at in bulk. */
const bulkMaxBytes = 400_000;

/**
 * What puts items into one table, as the engine takes them in two thirds of the time: it looks neither for keys that
 * stand there twice nor at the size of an item. Undefined: it is no such batch.
 */
function bulkPut({ RequestItems }: Input): Input | undefined {
  const [[TableName, writes] = [], ...others] = Object.entries(RequestItems as BatchedWrites);
  if (TableName === undefined || writes === undefined || others.length > 0 || writes.length < bulkItemsMin) return;
  const Items = writes.flatMap(({ PutRequest }): Item[] => (PutRequest === undefined ? [] : [PutRequest.Item]));
  const keys = new Set(Items.map((item) => JSON.stringify(keyOfItem(TableName, item))));
  const isPlain = Items.length === writes.length && keys.size === Items.length;
  return isPlain ? { TableName, Items } : undefined;
}

/** What DynamoDB takes in one transaction. */
const transactionItemsMax = 100;

type Run = (operation: string, input: Input) => Promise<EngineResult>;

/**
 * Writes with empty answers. Those of one turn of the event loop are one transaction: most of what a write costs the
 * engine is the call. Where a transaction fails, because one of them is refused, nothing of it was written, and each goes alone.
 */
function createSharedTransactions(run: Run): Run {
  let waiting: (readonly TransactWrite[])[] = [];
  let shared: Promise<EngineResult | undefined> | undefined;

  /** Undefined: there is nothing to share. */
  async function runShared(): Promise<EngineResult | undefined> {
    // Behind all that this turn still asks for.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const TransactItems = waiting.flat();
    const isShared = waiting.length > 1 && TransactItems.length <= transactionItemsMax;
    waiting = [];
    shared = undefined;
    return isShared ? run('TransactWriteItems', { TransactItems }) : undefined;
  }

  return async (operation, input) => {
    waiting.push(transactWrites(operation, input));
    shared ??= runShared();
    const result = await shared;
    return result === undefined || result.error !== undefined ? run(operation, input) : result;
  };
}

type TransactWrite = Readonly<Partial<Record<'Put' | 'Update' | 'Delete', unknown>>>;

function transactWrites(operation: string, { RequestItems, ReturnValues: _none, ...update }: Input): TransactWrite[] {
  if (operation === 'UpdateItem') return [{ Update: update }];
  return Object.entries(RequestItems as BatchedWrites).flatMap(([TableName, writes]) =>
    writes.map(({ PutRequest, DeleteRequest }) =>
      PutRequest === undefined ? { Delete: { TableName, ...DeleteRequest } } : { Put: { TableName, ...PutRequest } },
    ),
  );
}

type InTurn = <Value>(name: string, run: () => Promise<Value>) => Promise<Value>;

/** Runs what has the same name one after the other. */
function createTurns(): InTurn {
  const lastByName = new Map<string, Promise<unknown>>();
  return async (name, run) => {
    const former = lastByName.get(name);
    const turn = former === undefined ? run() : former.then(run, run);
    lastByName.set(name, turn);
    try {
      return await turn;
    } finally {
      if (lastByName.get(name) === turn) lastByName.delete(name);
    }
  };
}
