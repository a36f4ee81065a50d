// Opens the store that the line names. What was started for it ends with `close`.
import { existsSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KeyWrapper } from '../../shared/byok/index.ts';
import { systemRandomness } from '../../shared/ids/index.ts';
import { createDynamoClient, createDynamoStore, type Store } from '../../shared/store/index.ts';
import { createTables } from '../local/create-tables.ts';
import { startEmbeddedDynamo } from '../local/embedded-dynamodb.ts';
import { localAdapters } from '../local/local-adapters.ts';
import type { OpenOptions } from './command.ts';
import { operatorClock } from './operator-clock.ts';
import { stageKeyWrapper } from './stage-key-wrapper.ts';
import type { Target } from './target.ts';
import type { Terminal } from './terminal.ts';

export interface OpenTarget {
  readonly stage: string;
  readonly client: DynamoDBClient;
  readonly store: Store;
  /** Makes the tables of a local store where they are missing; those of a stage belong to its deployment. */
  prepareTables(): Promise<void>;
  /** What seals the keys of BYOK connections there. May make the master key of a local store. */
  openKeyWrapper(): Promise<KeyWrapper>;
  close(): Promise<void>;
}

/** Throws an Error with one line for the operator. */
export async function openTarget(
  target: Target,
  terminal: Pick<Terminal, 'writeError'>,
  { creates = false }: OpenOptions = {},
): Promise<OpenTarget> {
  if (target.kind === 'stage') return openStage(target.stage);
  if (target.kind === 'server') return openLocal(target.stage, target.url, { dynamodb: target.url }, async () => {});
  const dataDir = creates || existsSync(target.folder) ? target.folder : undefined;
  const server = await startEmbeddedDynamo({ dataDir, log: (line) => terminal.writeError(line) });
  return openLocal(target.stage, server.endpoint, { data: target.folder }, () => server.stop());
}

/** From another continent; retries are those of the store. */
const connectionTimeoutMs = 3_000;

async function openStage(stage: string): Promise<OpenTarget> {
  // Not the client of the functions: it knows credentials of its environment only, and connects in 300 ms or not at all.
  const client = new DynamoDBClient({ maxAttempts: 1, requestHandler: { connectionTimeout: connectionTimeoutMs } });
  // Signing in may take seconds, which no call to the store would wait for; and who cannot sign in learns it here.
  await client.config.region();
  await client.config.credentials();
  return {
    ...opened(client, stage),
    prepareTables: async () => {},
    openKeyWrapper: () => stageKeyWrapper(client, stage),
    close: async () => client.destroy(),
  };
}

interface LocalPlace {
  readonly data?: string;
  readonly dynamodb?: string;
}

function openLocal(stage: string, url: string, place: LocalPlace, stop: () => Promise<void>): OpenTarget {
  const client = createDynamoClient({ endpoint: url });
  return {
    ...opened(client, stage),
    prepareTables: () => createTables(client, stage),
    openKeyWrapper: async () => localAdapters({ data: place.data, dynamodb: place.dynamodb }).wrapper,
    async close() {
      client.destroy();
      await stop();
    },
  };
}

function opened(client: DynamoDBClient, stage: string): Pick<OpenTarget, 'stage' | 'client' | 'store'> {
  return {
    stage,
    client,
    store: createDynamoStore({ client, stage, clock: operatorClock, randomness: systemRandomness }),
  };
}
