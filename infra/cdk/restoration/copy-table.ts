// Makes a table hold what another one holds. Items are copied as DynamoDB writes them, so that no number is rounded.
import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type DynamoDBClient,
  type KeysAndAttributes,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';

type Item = Record<string, AttributeValue>;
type Client = Pick<DynamoDBClient, 'send'>;

/** DynamoDB's own limits of one call. */
const writesPerCall = 25;
const readsPerCall = 100;
/** What a throttled table does not take at once is sent again, after pauses of 0.1 to 6.4 s. */
const sendingsMax = 8;
const firstPauseMs = 100;

export interface Tables {
  readonly from: string;
  readonly to: string;
  /** Partition key, and sort key where there is one. */
  readonly keyNames: readonly string[];
}

export interface Copied {
  readonly written: number;
  readonly deleted: number;
}

/** May be repeated at any point. Holds a page of a table at a time, however large it is. */
export async function copyTable(client: Client, { from, to, keyNames }: Tables): Promise<Copied> {
  let [written, deleted] = [0, 0];
  for await (const items of pagesOf(client, { TableName: from })) {
    await writeAll(
      client,
      to,
      items.map((Item) => ({ PutRequest: { Item } })),
    );
    written += items.length;
  }
  const names = Object.fromEntries(keyNames.map((name, index) => [`#k${index}`, name]));
  const keysOnly = { ExpressionAttributeNames: names, ProjectionExpression: Object.keys(names).join(', ') };
  for await (const keys of pagesOf(client, { TableName: to, ...keysOnly })) {
    for (const group of groups(keys, readsPerCall)) {
      const found = await readAll(client, from, { Keys: [...group], ConsistentRead: true, ...keysOnly });
      const kept = new Set(found.map((key) => keyText(key, keyNames)));
      const surplus = group.filter((key) => !kept.has(keyText(key, keyNames)));
      await writeAll(
        client,
        to,
        surplus.map((Key) => ({ DeleteRequest: { Key } })),
      );
      deleted += surplus.length;
    }
  }
  return { written, deleted };
}

async function* pagesOf(client: Client, input: ScanCommandInput): AsyncGenerator<Item[]> {
  let ExclusiveStartKey: Item | undefined;
  do {
    const page: ScanCommandOutput = await client.send(
      new ScanCommand({ ...input, ConsistentRead: true, ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}) }),
    );
    yield page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

async function readAll(client: Client, table: string, wanted: KeysAndAttributes): Promise<Item[]> {
  const found: Item[] = [];
  let left: KeysAndAttributes | undefined = wanted;
  for (let sent = 0; left !== undefined; sent += 1) {
    await pauseBefore(sent, table);
    const answer: BatchGetItemCommandOutput = await client.send(
      new BatchGetItemCommand({ RequestItems: { [table]: left } }),
    );
    found.push(...(answer.Responses?.[table] ?? []));
    left = answer.UnprocessedKeys?.[table];
  }
  return found;
}

async function writeAll(client: Client, table: string, requests: readonly WriteRequest[]): Promise<void> {
  for (const group of groups(requests, writesPerCall)) {
    let left: WriteRequest[] = [...group];
    for (let sent = 0; left.length > 0; sent += 1) {
      await pauseBefore(sent, table);
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: left } }));
      left = UnprocessedItems?.[table] ?? [];
    }
  }
}

async function pauseBefore(sent: number, table: string): Promise<void> {
  if (sent >= sendingsMax) throw new Error(`table ${table} does not keep up; run the same line again to go on`);
  if (sent > 0) await sleep(systemClock, firstPauseMs * 2 ** (sent - 1));
}

const keyText = (item: Item, keyNames: readonly string[]): string => JSON.stringify(keyNames.map((name) => item[name]));

function* groups<Value>(values: readonly Value[], size: number): Generator<readonly Value[]> {
  for (let start = 0; start < values.length; start += size) yield values.slice(start, start + size);
}
