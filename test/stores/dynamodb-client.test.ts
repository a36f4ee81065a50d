// Behaviour of DynamoDB alone: how a client finds it, and tables on a server that has none.
import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it } from '#jest';
import { createTables } from '../../infra/local/create-tables.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import { type DynamoTestStore, describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';

const variables = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

describeOnDynamo('a client without an endpoint of its own', () => {
  let tables: DynamoTestStore;
  let former: Record<string, string | undefined>;
  beforeEach(async () => {
    tables = await startDynamoTestStore();
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

describeOnDynamo('the tables', () => {
  it('are created once by several processes at the same time, with their time to live', async () => {
    const { client, stop } = await startDynamoTestStore();
    await Promise.all(Array.from({ length: 5 }, () => createTables(client, 'made')));
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'gw-made-config' }));
    expect(TimeToLiveDescription).toMatchObject({
      TimeToLiveStatus: 'ENABLED',
      AttributeName: 'expires_at_epoch_seconds',
    });
    const store = createDynamoStore({ client, stage: 'made' });
    await store.put({ table: 'config', item: { pk: 'a' } });
    await createTables(client, 'made');
    expect(await store.get('config', 'a')).toEqual({ pk: 'a' });
    await stop();
  });
});
