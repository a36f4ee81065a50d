// Opens the store of a stage, and that of a DynamoDB-compatible server.
import { DescribeTableCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type KeyWrapper, kmsKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { type TableName, tableNames, tableNaming } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { type BlobStore, s3Blobs, tableBlobs } from '../../../shared/storage/blobs/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type DynamoClient,
} from '../../../shared/storage/dynamodb-store/index.ts';
import { readOnly } from '../../../shared/storage/store/index.ts';
import { connectionKeyAlias, defaultCell, spillBucketName } from '../../cdk/resource-names.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { createTables } from '../../local/create-tables.ts';
import { sharedFolderOf } from '../../local/data-folder.ts';
import type { Terminal } from '../output/terminal.ts';
import { localWrapper, type OpenTarget, type TableStatus } from './open-store.ts';
import { readAccount, readShellAccess, type ShellAccess } from './shell-access.ts';
import { commandCallTimeoutMs, type StageTarget, type Target } from './target.ts';

export async function openStage(
  target: StageTarget,
  terminal: Pick<Terminal, 'writeError'>,
  writes: boolean,
): Promise<OpenTarget> {
  const { stage } = target;
  // Signing in may take seconds, longer than a call to the store may wait. A failure to sign in is reported at this
  // point.
  const access = await readShellAccess(target);
  if (writes) {
    const { id } = await readAccount(access);
    terminal.writeError(`stage ${stage}: account ${id}, region ${access.region}`);
  }
  const settings = stageSettings[stage];
  const client = createDynamoClient(access);
  return {
    ...opened(client, stage, settings?.tableSuffix),
    cell: settings?.cell ?? defaultCell,
    access,
    prepareTables: async () => {},
    wrapper: stageKeyWrapper(access, stage),
    blobs: stageBucket(access, stage),
    close: async () => client.destroy(),
  };
}

/** The account is requested with the first reading, because its id is part of the bucket's name. */
const stageBucket = (access: ShellAccess, stage: string): Pick<BlobStore, 'get'> => ({
  async get(key) {
    const bucket = spillBucketName(stage, (await readAccount(access)).id, access.region);
    return s3Blobs({ access, randomness: systemRandomness, bucket, isBucketInPath: false }).get(key);
  },
});

export function openServer({ url, stage }: Extract<Target, { readonly kind: 'server' }>, writes: boolean): OpenTarget {
  const client = createDynamoClient({ endpoint: url });
  return {
    ...opened(client, stage),
    cell: undefined,
    access: undefined,
    prepareTables: () => createTables(client, stage),
    wrapper: localWrapper(sharedFolderOf({ dynamodb: url }), writes),
    blobs: tableBlobs(createDynamoStore({ client, stage, callTimeoutMs: commandCallTimeoutMs }), systemClock),
    close: async () => client.destroy(),
  };
}

function opened(
  client: DynamoClient,
  stage: string,
  tableSuffix?: string,
): Pick<OpenTarget, 'stage' | 'store' | 'describeTables' | 'storeOf'> {
  const nameOf = tableNaming(stage, tableSuffix);
  const storeOf = (suffix: string | undefined) =>
    createDynamoStore({ client, stage, tableSuffix: suffix, callTimeoutMs: commandCallTimeoutMs });
  return {
    stage,
    store: storeOf(tableSuffix),
    storeOf: (suffix) => readOnly(storeOf(suffix)),
    describeTables: () =>
      mapParallel(tableNames, parallelReads, (table) => describeTable(client, nameOf(table), table)),
  };
}

async function describeTable(client: DynamoClient, name: string, table: TableName): Promise<TableStatus> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return { table, name, status: Table?.TableStatus, items: Table?.ItemCount, bytes: Table?.TableSizeBytes };
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    return { table, name, status: undefined, items: undefined, bytes: undefined };
  }
}

/** Creates an adapter for the KMS key of a stage, which uses the credentials of the shell; no request is made yet. */
export const stageKeyWrapper = (access: ShellAccess, stage: string): KeyWrapper =>
  kmsKeyWrapper({ access, randomness: systemRandomness, keyId: connectionKeyAlias(stage) });
