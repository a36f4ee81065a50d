// Tables with a gateway file in them and a provider that misbehaves on demand: what the bundles run against.
import { stringify } from 'yaml';
import { createComposition } from '../../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { createDynamoClient, createDynamoStore } from '../../../shared/storage/store/index.ts';
import { createTables } from '../../local/create-tables.ts';
import { startEmbeddedDynamo } from '../../local/embedded-dynamodb.ts';
import { localAdapters } from '../../local/local-adapters.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { type Bucket, startBucket } from './start-bucket.ts';

export interface PreparedStage {
  readonly stage: string;
  readonly dynamodbUrl: string;
  readonly key: string;
  /** For results that are too large for an item. */
  readonly bucket: Bucket;
  stop(): Promise<void>;
}

const stage = 'runtime-test';
/** Pause between the chunks of the provider: enough for each to leave by itself. */
const paceMs = 10;
/** Model → behaviour of the simulator. */
const models = { 'test/echo': 'echo', 'test/cut': 'cut:3', 'test/large': 'echo-request' };

export async function prepareStage(say: (line: string) => void): Promise<PreparedStage> {
  const dynamo = await startEmbeddedDynamo({ log: say });
  const simulator = await startSimulator({ paceMs });
  const bucket = await startBucket();
  const client = createDynamoClient({ endpoint: dynamo.endpoint });
  await createTables(client, stage);
  const key = createApiKey(systemRandomness);
  const read = readGatewayFile(stringify(fileOf(simulator.urlOf('acme'), key)));
  if (!read.ok) throw new Error(`the gateway file of this test is not valid: ${JSON.stringify(read.problems)}`);
  const composition = createComposition({
    environment: { stage, originSecretHashes: [], logLevel: 'error' },
    store: createDynamoStore({ client, stage }),
    ...localAdapters({ data: undefined, dynamodb: undefined }),
  });
  const { randomness, clock } = composition;
  await applyGatewayFile({
    file: read.file,
    stores: composition,
    readVariable: () => undefined,
    randomness,
    nowMs: clock.nowMs(),
  });
  return {
    stage,
    dynamodbUrl: dynamo.endpoint,
    key,
    bucket,
    async stop() {
      bucket.stop();
      composition.transport.close();
      client.destroy();
      await simulator.stop();
      await dynamo.stop();
    },
  };
}

const entry = { input_price_per_million: '1.00', output_price_per_million: '2.00', context_length: 128_000 };

const fileOf = (baseUrl: string, key: string) => ({
  providers: [{ id: 'acme', display_name: 'Acme', base_url: baseUrl, auth: 'none' }],
  models: Object.entries(models).map(([id, upstream_model]) => ({
    id,
    providers: [{ provider: 'acme', upstream_model, ...entry }],
  })),
  workspaces: [{ id: 'team', credit_usd: '100', keys: [{ name: 'first', key }] }],
});
