// Creates the tables in a DynamoDB that has none yet. On AWS the tables belong to the CDK app; this is for the local
// run and the tests. Several processes may do it at once: whoever comes second finds the work done.

import {
  physicalTableName,
  type TableDefinition,
  tableDefinitions,
  tableNames,
} from '../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { AwsCallFailed } from '../../shared/storage/aws-calls/index.ts';
import type { DynamoClient } from '../../shared/storage/store/index.ts';
import { askDynamo } from './ask-dynamo.ts';

/** An embedded server is ready at once, DynamoDB itself takes some ten seconds: 300 looks of 200 ms are a minute. */
const looksMax = 300;
const lookIntervalMs = 200;

/** Resolves when every table is active. Rejects with the client's error, or when a table is not active after a minute. */
export async function createTables(client: DynamoClient, stage: string): Promise<void> {
  for (const table of tableNames) await createTable(client, physicalTableName(stage, table), tableDefinitions[table]);
}

async function createTable(client: DynamoClient, name: string, definition: TableDefinition): Promise<void> {
  const { partitionKey, sortKey } = definition;
  const keyNames = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  try {
    await askDynamo(client, 'CreateTable', {
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keyNames.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: keyNames.map((key) => ({ AttributeName: key, KeyType: key === sortKey ? 'RANGE' : 'HASH' })),
    });
  } catch (error) {
    if (!(error instanceof AwsCallFailed && error.code === 'ResourceInUseException')) throw error;
  }
  await untilActive(client, name);
  if (definition.timeToLiveAttribute !== undefined)
    await ensureTimeToLive(client, name, definition.timeToLiveAttribute);
}

async function untilActive(client: DynamoClient, name: string): Promise<void> {
  for (let look = 1; look <= looksMax; look += 1) {
    const { Table: table } = await askDynamo(client, 'DescribeTable', { TableName: name });
    if (table?.TableStatus === 'ACTIVE') return;
    await sleep(systemClock, lookIntervalMs);
  }
  throw new Error(`the table ${name} did not become active within ${(looksMax * lookIntervalMs) / 1000} s`);
}

/** DynamoDB refuses to switch on what is on, so a refusal only counts when it is still off. */
async function ensureTimeToLive(client: DynamoClient, name: string, attribute: string): Promise<void> {
  if (await hasTimeToLive(client, name)) return;
  try {
    const TimeToLiveSpecification = { AttributeName: attribute, Enabled: true };
    await askDynamo(client, 'UpdateTimeToLive', { TableName: name, TimeToLiveSpecification });
  } catch (error) {
    if (!(await hasTimeToLive(client, name))) throw error;
  }
}

async function hasTimeToLive(client: DynamoClient, name: string): Promise<boolean> {
  const { TimeToLiveDescription: description } = await askDynamo(client, 'DescribeTimeToLive', { TableName: name });
  const status = description?.TimeToLiveStatus;
  return status === 'ENABLED' || status === 'ENABLING';
}
