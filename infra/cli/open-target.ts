// Opens the store that the line names. What was started for it ends with `close`.
import { existsSync } from 'node:fs';
import type { KeyWrapper } from '../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type DynamoClient,
  type Store,
} from '../../shared/storage/store/index.ts';
import { createTables } from '../local/create-tables.ts';
import { startEmbeddedDynamo } from '../local/embedded-dynamodb.ts';
import { localAdapters } from '../local/local-adapters.ts';
import type { OpenOptions } from './command.ts';
import { operatorClock } from './operator-clock.ts';
import type { ShellAccess } from './shell-access.ts';
import { stageKeyWrapper } from './stage-key-wrapper.ts';
import type { Target } from './target.ts';
import type { Terminal } from './terminal.ts';

export interface OpenTarget {
  readonly stage: string;
  readonly client: DynamoClient;
  readonly store: Store;
  /** Makes the tables of a local store where they are missing; those of a stage belong to its deployment. */
  prepareTables(): Promise<void>;
  /** Who the shell is to AWS; undefined for a local store. */
  readonly access: ShellAccess | undefined;
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

async function openStage(stage: string): Promise<OpenTarget> {
  // Not at the head of the file: it brings an SDK client that no local command uses.
  const { readShellAccess } = await import('./shell-access.ts');
  // Signing in may take seconds, which no call to the store would wait for; and who cannot sign in learns it here.
  const access = await readShellAccess();
  const client = createDynamoClient(access);
  return {
    ...opened(client, stage),
    access,
    prepareTables: async () => {},
    openKeyWrapper: () => stageKeyWrapper(access, stage),
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
    access: undefined,
    prepareTables: () => createTables(client, stage),
    openKeyWrapper: async () => localAdapters({ data: place.data, dynamodb: place.dynamodb }).wrapper,
    async close() {
      client.destroy();
      await stop();
    },
  };
}

function opened(client: DynamoClient, stage: string): Pick<OpenTarget, 'stage' | 'client' | 'store'> {
  return {
    stage,
    client,
    store: createDynamoStore({ client, stage, clock: operatorClock, randomness: systemRandomness }),
  };
}
