// A store on a real engine, with tables of its own under a stage of its own. The files of one worker share an embedded
// server, which ends with the process; GW_TEST_DYNAMODB_URL runs the same suites on another engine.
import { gunzipSync } from 'node:zlib';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { tableNames } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type DynamoClient,
  type Store,
} from '../../shared/storage/store/index.ts';

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
  const endpoint = process.env.GW_TEST_DYNAMODB_URL ?? (await sharedEngine());
  const stage = `test-${systemRandomness.uuid().slice(0, 8)}`;
  const client = createDynamoClient({ endpoint });
  await createTables(client, stage);
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

let engine: Promise<string> | undefined;

function sharedEngine(): Promise<string> {
  engine ??= startEmbeddedDynamo({ log: (line) => process.stderr.write(`${line}\n`) }).then(({ endpoint }) => endpoint);
  return engine;
}

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
