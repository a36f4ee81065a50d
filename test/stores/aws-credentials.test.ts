import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';

const variables = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

describe('a client without an endpoint of its own', () => {
  let tables: TestStore;
  let former: Record<string, string | undefined>;
  beforeEach(async () => {
    tables = await startTestStore();
    former = { ...process.env };
    Object.assign(process.env, variables, { AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint });
  });
  afterEach(async () => {
    process.env = former;
    await tables.stop();
  });

  it('reaches its tables with the credentials of the process, as a deployed function does', async () => {
    await tables.store.put({ table: 'config', item: { pk: 'here', value: 1 } });
    const client = createDynamoClient();
    const store = createDynamoStore({ client, stage: tables.stage });
    expect(await store.get('config', 'here')).toEqual({ pk: 'here', value: 1 });
    client.destroy();
  });
});
