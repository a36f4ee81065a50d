// The store of the core: tables on an embedded DynamoDB of its own, and a watch on every command.
import { createDynamoClient, createDynamoStore, type Store } from '../../../shared/storage/store/index.ts';
import { createTables } from '../../local/create-tables.ts';
import { startEmbeddedDynamo } from '../../local/embedded-dynamodb.ts';
import { coreStage } from './create-core.ts';
import { type StoreWatch, watchStore } from './watch-store.ts';

export interface CoreStore {
  readonly store: Store;
  readonly watch: StoreWatch;
  readonly endpoint: string;
  stop(): Promise<void>;
}

export async function startCoreStore(): Promise<CoreStore> {
  const engine = await startEmbeddedDynamo({ log: (line) => process.stderr.write(`${line}\n`) });
  const client = createDynamoClient({ endpoint: engine.endpoint });
  await createTables(client, coreStage);
  const watch = watchStore(client);
  return {
    store: createDynamoStore({ client: watch.client, stage: coreStage }),
    watch,
    endpoint: engine.endpoint,
    async stop() {
      client.destroy();
      await engine.stop();
    },
  };
}
