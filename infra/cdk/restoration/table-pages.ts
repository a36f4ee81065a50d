// Reading and writing many items: DynamoDB's limits of one call, and what it did not take at once.
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

export type StoredItem = Record<string, AttributeValue>;

type Client = Pick<DynamoDBClient, 'send'>;

/** DynamoDB's own limits of one call. */
const writesPerCall = 25;
export const readsPerCall = 100;
/** What a throttled table does not take at once is sent again, after pauses of 0.1 to 6.4 s. */
const sendingsMax = 8;
const firstPauseMs = 100;

export async function* pagesOf(client: Client, input: ScanCommandInput): AsyncGenerator<StoredItem[]> {
  let ExclusiveStartKey: StoredItem | undefined;
  do {
    const page: ScanCommandOutput = await client.send(
      new ScanCommand({ ...input, ConsistentRead: true, ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}) }),
    );
    yield page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

export async function readAll(client: Client, table: string, wanted: KeysAndAttributes): Promise<StoredItem[]> {
  const found: StoredItem[] = [];
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

export async function writeAll(client: Client, table: string, requests: readonly WriteRequest[]): Promise<void> {
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

export function* groups<Value>(values: readonly Value[], size: number): Generator<readonly Value[]> {
  for (let start = 0; start < values.length; start += size) yield values.slice(start, start + size);
}
