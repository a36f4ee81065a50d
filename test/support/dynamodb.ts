// A store on a DynamoDB engine, with separate tables under a separate stage. The files of one worker share an engine,
// which ends with the process; GW_TEST_DYNAMODB_URL runs the same suites on another engine. An engine creates the
// tables of many stages when it starts: tables that are created one by one would cost each test more than most calls
// do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from '#jest';
import { isEngineInstalled, startDynamoEngine } from '../../infra/dynamodb-engine/start-engine.ts';
import { createTables } from '../../infra/local/create-tables.ts';
import { physicalTableName, tableDefinitions, tableNames } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { createDynamoClient, createDynamoStore, type DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { dumpTables, patientCallTimeoutMs, type TestStore } from './test-store.ts';

export interface DynamoTestStore extends TestStore {
  readonly client: DynamoClient;
  readonly endpoint: string;
}

const namedEngine = process.env.GW_TEST_DYNAMODB_URL;
export const hasDynamo = namedEngine !== undefined || isEngineInstalled();
if (!hasDynamo)
  process.stderr.write(
    `skipped: tests on DynamoDB, whose engine is not installed for ${process.platform}-${process.arch}\n`,
  );

/** Describes tests that need DynamoDB. */
export const describeOnDynamo: Pick<typeof describe, 'each'> & ((title: string, tests: () => void) => void) = hasDynamo
  ? describe
  : describe.skip;

export async function startDynamoTestStore(): Promise<DynamoTestStore> {
  const { endpoint, stage } = await takeTables();
  const client = createDynamoClient({ endpoint });
  const store = createDynamoStore({ client, stage, callTimeoutMs: patientCallTimeoutMs });
  return {
    store,
    client,
    endpoint,
    stage,
    dumpTables: () => dumpTables(store),
    async stop() {
      client.destroy();
    },
  };
}

type TestTables = Pick<DynamoTestStore, 'endpoint' | 'stage'>;

/** Number of stages; an engine with more tables takes longer for each. */
const stagesPerEngine = 24;
let places: Promise<TestTables[]> = Promise.resolve([]);

async function takeTables(): Promise<TestTables> {
  if (namedEngine !== undefined) return makeTables(namedEngine);
  for (;;) {
    const awaitedPlaces = places;
    const place = (await awaitedPlaces).pop();
    if (place !== undefined) return place;
    if (places === awaitedPlaces) places = startEngine();
  }
}

const newStage = (): string => `test-${systemRandomness.uuid().slice(0, 8)}`;

async function makeTables(endpoint: string): Promise<TestTables> {
  const stage = newStage();
  const client = createDynamoClient({ endpoint });
  await createTables(client, stage);
  client.destroy();
  return { endpoint, stage };
}

async function startEngine(): Promise<TestTables[]> {
  const stages = Array.from({ length: stagesPerEngine }, newStage);
  const tablesFile = join(temporaryFolder(), 'tables.json');
  writeFileSync(tablesFile, JSON.stringify(stages.flatMap(describeTables)));
  const { endpoint } = await startDynamoEngine({ tablesFile });
  return stages.map((stage) => ({ endpoint, stage }));
}

/** Describes tables without time to live, so that nothing disappears during a test. */
const describeTables = (stage: string) =>
  tableNames.map((table) => {
    const { partitionKey, sortKey }: { partitionKey: string; sortKey?: string } = tableDefinitions[table];
    const keys = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
    return {
      Table: {
        TableName: physicalTableName(stage, table),
        KeySchema: keys.map((key) => ({ AttributeName: key, KeyType: key === sortKey ? 'RANGE' : 'HASH' })),
        AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
        BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      },
    };
  });
