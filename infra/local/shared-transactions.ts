// Writes of one turn of the event loop go to the engine as one transaction, because most of what a write costs it is the
// call. Those that want their item as it stands then read it together, behind it. Where the transaction fails, nothing of
// it was written, and each goes alone.

export type Input = Readonly<Record<string, unknown>>;
/** As in `{"S": "text"}`, by name. */
export type Item = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
export interface ItemAddress {
  readonly TableName: string;
  readonly Key: Item;
}

export type EngineResult =
  | { readonly error?: undefined; readonly output: string }
  | {
      readonly error: { readonly __type: string; readonly message: string; readonly Item?: unknown };
      readonly output?: undefined;
    };

export type Run = (operation: string, input: Input) => Promise<EngineResult>;

/** What DynamoDB takes in one transaction. */
const transactionItemsMax = 100;

type TransactWrite = Readonly<Partial<Record<'Put' | 'Update' | 'Delete', unknown>>>;

interface WaitingWrite {
  readonly items: readonly TransactWrite[];
  /** What its answer is to hold. */
  readonly read: ItemAddress | undefined;
}

type Outputs = ReadonlyMap<WaitingWrite, string>;

/** `read`: the item that the write answers with. No two writes at a time are of one item. */
export function createSharedTransactions(run: Run) {
  let waiting: WaitingWrite[] = [];
  let shared: Promise<Outputs | undefined> | undefined;

  /** Undefined: each goes alone. */
  async function runShared(): Promise<Outputs | undefined> {
    // Behind all that this turn still asks for.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const writes = worthSharing(waiting);
    waiting = [];
    shared = undefined;
    const TransactItems = writes.flatMap(({ items }) => items);
    if (writes.length < 2 || TransactItems.length > transactionItemsMax) return undefined;
    const { error } = await run('TransactWriteItems', { TransactItems });
    return error === undefined ? readOutputs(run, writes) : undefined;
  }

  return async (operation: string, input: Input, read?: ItemAddress): Promise<EngineResult> => {
    const write = { items: transactWrites(operation, input), read };
    waiting.push(write);
    shared ??= runShared();
    const output = (await shared)?.get(write);
    return output === undefined ? run(operation, input) : { output };
  };
}

/** Reading is one more call, so it takes three writes until that is saved. */
function worthSharing(writes: readonly WaitingWrite[]): readonly WaitingWrite[] {
  const readers = writes.filter(({ read }) => read !== undefined).length;
  return readers > 1 && writes.length > 2 ? writes : writes.filter(({ read }) => read === undefined);
}

async function readOutputs(run: Run, writes: readonly WaitingWrite[]): Promise<Outputs> {
  const reads = writes.flatMap(({ read }) => read ?? []);
  const found = reads.length === 0 ? [] : await readItems(run, reads);
  const outputOf = (read: ItemAddress): string => {
    const [, item] = found.find(isAt(read)) ?? [];
    return JSON.stringify({ Attributes: item });
  };
  return new Map(writes.map((write) => [write, write.read === undefined ? '{}' : outputOf(write.read)]));
}

type FoundItem = readonly [tableName: string, item: Item];

async function readItems(run: Run, reads: readonly ItemAddress[]): Promise<readonly FoundItem[]> {
  const byTable = Object.groupBy(reads, ({ TableName }) => TableName);
  const RequestItems = Object.fromEntries(
    Object.entries(byTable).map(([name, of = []]) => [name, { Keys: of.map(({ Key }) => Key), ConsistentRead: true }]),
  );
  const { error, output } = await run('BatchGetItem', { RequestItems });
  if (error !== undefined) throw new Error(`what was written cannot be read (${error.message})`);
  const { Responses } = JSON.parse(output) as { readonly Responses: Readonly<Record<string, readonly Item[]>> };
  return Object.entries(Responses).flatMap(([name, found]) => found.map((item): FoundItem => [name, item]));
}

/** Keys are strings. */
const isAt =
  ({ TableName, Key }: ItemAddress) =>
  ([name, item]: FoundItem): boolean =>
    name === TableName && Object.entries(Key).every(([member, { S }]) => item[member]?.S === S);

type BatchedWrite = {
  readonly PutRequest?: { readonly Item: Item };
  readonly DeleteRequest?: { readonly Key: Item };
};
export type BatchedWrites = Readonly<Record<string, readonly BatchedWrite[]>>;

/** Without what the engine would return: none of it is read of a transaction. */
function transactWrites(operation: string, input: Input): TransactWrite[] {
  const { RequestItems, ReturnValues: _, ReturnValuesOnConditionCheckFailure: __, ...write } = input;
  if (operation !== 'BatchWriteItem') return [{ [operation.slice(0, -'Item'.length)]: write }];
  return Object.entries(RequestItems as BatchedWrites).flatMap(([TableName, writes]) =>
    writes.map(({ PutRequest, DeleteRequest }) =>
      PutRequest === undefined ? { Delete: { TableName, ...DeleteRequest } } : { Put: { TableName, ...PutRequest } },
    ),
  );
}
