// An empty store for an operator's command lines, and a folder for gateway files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startDynamoEngine } from '../../infra/dynamodb-engine/start-engine.ts';
import { createTables } from '../../infra/local/create-tables.ts';
import { createDynamoClient } from '../../shared/storage/dynamodb-store/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore } from '../support/test-store.ts';

export interface LocalStore {
  /** The option of a command line that names this store. */
  readonly option: string;
  /** The folder of the tables. */
  readonly data: string;
  /** The folder to which files are written. */
  readonly folder: string;
  /** A store by which a test reads the tables directly. */
  readonly store: Store;
  /** Writes a file into the folder and returns its path. */
  write(name: string, content: unknown): string;
  stop(): Promise<void>;
}

/** Starts a store in the folder of `npm start -- --data DIR`. */
export async function startLocalStore(): Promise<LocalStore> {
  const data = join(temporaryFolder(), 'data');
  const { store, stop } = await startTestStore(data);
  return { option: `--data ${data}`, data, store, stop, ...fileFolder() };
}

/** Starts a DynamoDB with the tables of a stage, as AWS has them, and a folder for files. */
export async function startStageServer(stage: string) {
  const { endpoint: url, stop } = await startDynamoEngine();
  const client = createDynamoClient({ endpoint: url });
  await createTables(client, stage);
  client.destroy();
  return { url, stop, ...fileFolder() };
}

function fileFolder(): Pick<LocalStore, 'folder' | 'write'> {
  const folder = temporaryFolder();
  return {
    folder,
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, typeof content === 'string' ? content : stringify(content));
      return path;
    },
  };
}

const model = (id: string, price: string) => ({
  id,
  display_name: id,
  created: 1_760_000_000,
  context_length: 128_000,
  modalities: ['text'],
  providers: [
    {
      provider: 'acme',
      upstream_model: 'echo',
      input_price_per_million: price,
      output_price_per_million: '1.00',
      context_length: 128_000,
      max_output_tokens: 4_096,
      supported_params: { json_mode: true },
    },
  ],
});

/** Returns a small gateway file: the workspace `team` with the key `ci`, which an apply makes. */
export const gatewayFile = ({
  baseUrl = 'http://127.0.0.1:9/acme',
  provider = {},
  price = '0.25',
  models = ['acme/small', 'acme/large'],
  key = {},
  workspace = {},
}: {
  readonly baseUrl?: string;
  readonly provider?: Record<string, unknown>;
  readonly price?: string;
  readonly models?: readonly string[];
  readonly key?: Record<string, unknown>;
  readonly workspace?: Record<string, unknown>;
} = {}) => ({
  providers: [{ id: 'acme', display_name: 'Acme', base_url: baseUrl, auth: 'none', ...provider }],
  models: models.map((id) => model(id, price)),
  workspaces: [{ id: 'team', credit_usd: '5.00', keys: [{ name: 'ci', ...key }], ...workspace }],
});
