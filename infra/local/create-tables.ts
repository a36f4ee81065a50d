// Creates the tables in a DynamoDB without tables. On AWS the tables belong to the CDK app; this file is for the local
// run and the tests. Several processes may create the tables at once, because an existing table stays as it is.
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type TableDefinition,
  tableDefinitions,
  tableNames,
  tableNaming,
} from '../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import type { DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';

/**
 * An engine in memory is ready at once, DynamoDB itself takes some ten seconds: 300 checks every 200 ms are a minute.
 */
const checksMax = 300;
const checkIntervalMs = 200;

/**
 * Resolves when every table is active. Rejects with the client's error, or when a table is not active after a minute.
 */
export async function createTables(client: DynamoClient, stage: string, suffix?: string): Promise<void> {
  const nameOf = tableNaming(stage, suffix);
  await Promise.all(tableNames.map((table) => createTable(client, nameOf(table), tableDefinitions[table])));
}

async function createTable(client: DynamoClient, TableName: string, definition: TableDefinition): Promise<void> {
  const { partitionKey, sortKey, timeToLiveAttribute } = definition;
  const keyNames = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  try {
    const { TableDescription: table } = await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: keyNames.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
        KeySchema: keyNames.map((key) => ({ AttributeName: key, KeyType: key === sortKey ? 'RANGE' : 'HASH' })),
      }),
    );
    if (table?.TableStatus !== 'ACTIVE') await untilActive(client, TableName);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    await untilActive(client, TableName);
  }
  if (timeToLiveAttribute !== undefined) await ensureTimeToLive(client, TableName, timeToLiveAttribute);
}

async function untilActive(client: DynamoClient, TableName: string): Promise<void> {
  for (let check = 1; check <= checksMax; check += 1) {
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName }));
    if (table?.TableStatus === 'ACTIVE') return;
    await sleep(systemClock, checkIntervalMs);
  }
  throw new Error(`the table ${TableName} did not become active within ${(checksMax * checkIntervalMs) / 1000} s`);
}

/** Enables TTL. DynamoDB refuses to enable it again, so a refusal only counts when TTL is still disabled. */
async function ensureTimeToLive(client: DynamoClient, TableName: string, AttributeName: string): Promise<void> {
  try {
    const TimeToLiveSpecification = { AttributeName, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!(await hasTimeToLive(client, TableName))) throw error;
  }
}

async function hasTimeToLive(client: DynamoClient, TableName: string): Promise<boolean> {
  const { TimeToLiveDescription: description } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  const status = description?.TimeToLiveStatus;
  return status === 'ENABLED' || status === 'ENABLING';
}
