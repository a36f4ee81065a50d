// A store on a real engine, with tables of its own under a stage of its own. The files of one worker share an embedded
// server, which ends with the process; GW_TEST_DYNAMODB_URL runs the same suites on another engine. An embedded server
// makes the tables of many stages at its start: asked for one by one they would cost each test more than most calls do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { physicalTableName, tableDefinitions, tableNames } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type DynamoClient,
  type Store,
} from '../../shared/storage/store/index.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface TestStore {
  readonly store: Store;
  readonly client: DynamoClient;
  readonly endpoint: string;
  readonly stage: string;
  /** Every item of every table as JSON text, bytes as the text they hold: where a leak test looks for its canaries. */
  dumpTables(): Promise<string>;
  stop(): Promise<void>;
}

/** The time of a call is tested where it is the matter; elsewhere a busy machine must not fail a test. */
export const patientCallTimeoutMs = 600_000;

export async function startTestStore(): Promise<TestStore> {
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

type Place = Pick<TestStore, 'endpoint' | 'stage'>;

/** An engine with more tables takes longer for each. */
const stagesPerEngine = 24;
let places: Promise<Place[]> = Promise.resolve([]);

async function takeTables(): Promise<Place> {
  const named = process.env.GW_TEST_DYNAMODB_URL;
  if (named !== undefined) return makeTables(named);
  for (;;) {
    const asked = places;
    const place = (await asked).pop();
    if (place !== undefined) return place;
    if (places === asked) places = startEngine();
  }
}

const newStage = (): string => `test-${systemRandomness.uuid().slice(0, 8)}`;

async function makeTables(endpoint: string): Promise<Place> {
  const stage = newStage();
  const client = createDynamoClient({ endpoint });
  await createTables(client, stage);
  client.destroy();
  return { endpoint, stage };
}

async function startEngine(): Promise<Place[]> {
  const stages = Array.from({ length: stagesPerEngine }, newStage);
  const tablesFile = join(temporaryFolder(), 'tables.json');
  writeFileSync(tablesFile, JSON.stringify(stages.flatMap(describeTables)));
  const { endpoint } = await startEmbeddedDynamo({ tablesFile, log: (line) => process.stderr.write(`${line}\n`) });
  return stages.map((stage) => ({ endpoint, stage }));
}

/** Without time to live: nothing is to go while a test looks at it. */
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

async function dumpTables(store: Store): Promise<string> {
  const tables: Record<string, unknown[]> = {};
  for (const table of tableNames) {
    const items: unknown[] = [];
    for await (const item of store.scan(table)) items.push(item);
    tables[table] = items;
  }
  return JSON.stringify(tables, (_member, value) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Set) return [...value];
    return value instanceof Uint8Array ? readable(value) : value;
  });
}

/** Compressed bytes would hide a canary. */
const readable = (bytes: Uint8Array): string => {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return Buffer.from(isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
};
