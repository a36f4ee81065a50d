import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DeleteFunctionConcurrencyCommand, LambdaClient, PutFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { awsSteps } from '../../infra/cdk/restoration/aws-steps.ts';
import { copyTable } from '../../infra/cdk/restoration/copy-table.ts';
import {
  checkMoment,
  type RestorationSteps,
  restoredName,
  restoredTables,
  restoreStage,
} from '../../infra/cdk/restoration/restore-stage.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { physicalTableName } from '../../shared/foundation/constants/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';

const prod = stageSettings.prod as StageSettings;
const atMs = Date.parse('2026-11-22T10:00:00Z');

describe('a table that is made to hold what another one holds', () => {
  let testStore: TestStore;
  let client: DynamoDBClient;
  const restored = 'records-as-they-were';
  beforeAll(async () => {
    testStore = await startTestStore();
    client = testStore.client as unknown as DynamoDBClient;
    await client.send(
      new CreateTableCommand({
        TableName: restored,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      }),
    );
  });
  afterAll(() => testStore.stop());

  const put = (TableName: string, sk: string, amount: string) =>
    client.send(new PutItemCommand({ TableName, Item: { pk: { S: 'w' }, sk: { S: sk }, amount: { N: amount } } }));
  const itemsOf = async (TableName: string) =>
    ((await client.send(new ScanCommand({ TableName }))).Items ?? [])
      .map(({ sk, amount }) => `${sk?.S} ${amount?.N}`)
      .toSorted();

  it('has its items to the last digit, and none that came later; a second time changes nothing', async () => {
    const live = physicalTableName(testStore.stage, 'records');
    const exact = '12345678901234567890123456789012345678';
    // More than DynamoDB writes (25) and reads (100) in one call.
    await Promise.all(Array.from({ length: 60 }, (_, n) => put(restored, `kept-${n}`, exact)));
    await Promise.all(Array.from({ length: 40 }, (_, n) => put(live, `kept-${n}`, '1')));
    await Promise.all(Array.from({ length: 130 }, (_, n) => put(live, `later-${n}`, '2')));
    const tables = { from: restored, to: live, keyNames: ['pk', 'sk'] };
    expect(await copyTable(client, tables)).toEqual({ written: 60, deleted: 130 });
    expect(await itemsOf(live)).toEqual(await itemsOf(restored));
    expect((await itemsOf(live))[0]).toBe(`kept-0 ${exact}`);
    expect(await copyTable(client, tables)).toEqual({ written: 60, deleted: 0 });
  });
});

describe('restoring a stage', () => {
  const recording = (more: Partial<RestorationSteps> = {}) => {
    const done: string[] = [];
    const note =
      (name: string) =>
      async (...args: unknown[]) =>
        void done.push(
          [name, ...args.map((arg) => (typeof arg === 'object' ? JSON.stringify(arg) : String(arg)))].join(' '),
        );
    const steps: RestorationSteps = {
      readWindow: async () => ({ fromMs: atMs - 1_000, toMs: atMs + 1_000 }),
      startRestore: note('restore'),
      waitUntilActive: note('active'),
      pauseCalls: note('pause'),
      resumeCalls: note('resume'),
      wait: note('wait'),
      copy: async ({ from, to }) => {
        done.push(`copy ${from} ${to}`);
        return { written: 1, deleted: 0 };
      },
      drop: note('drop'),
      ...more,
    };
    return { steps, done };
  };
  const restoration = { stage: 'prod', settings: prod, atMs };
  const names = restoredTables.map((table) => [physicalTableName('prod', table), restoredName('prod', table, atMs)]);

  it('takes all tables that are recovered back to one moment, while no call runs, and drops the copies at the end', async () => {
    const { steps, done } = recording();
    const lines: string[] = [];
    await checkMoment(restoration, steps);
    await restoreStage(restoration, steps, (line) => lines.push(line));
    expect(restoredTables).toEqual([
      ...['config', 'keys', 'operators', 'connections', 'functions', 'ledger', 'spans', 'records'],
    ]);
    expect(names[0]).toEqual(['gw-prod-config', 'gw-prod-config-at-20261122T100000Z']);
    expect(done).toEqual([
      ...names.map(([live, restored]) => `restore ${live} ${restored} ${atMs}`),
      ...names.map(([, restored]) => `active ${restored}`),
      'pause',
      // Those that run end, and settle, within Lambda's time limit.
      'wait 65000',
      ...names.map(([live, restored]) => `copy ${restored} ${live}`),
      'resume',
      ...names.map(([, restored]) => `drop ${restored}`),
    ]);
  });

  it('that fails in the middle lets no call onto half of it and keeps the copies', async () => {
    const { steps, done } = recording({
      copy: async () => {
        throw new Error('throttled');
      },
    });
    await expect(restoreStage(restoration, steps, () => {})).rejects.toThrow('throttled');
    expect(done.filter((step) => /^(resume|drop)/.test(step))).toEqual([]);
  });

  it('to a moment that a table cannot be restored to, or without recovery, begins nothing', async () => {
    const early = { ...restoration, atMs: atMs - 5_000 };
    const { steps, done } = recording();
    await expect(checkMoment(early, steps)).rejects.toThrow(
      'table gw-prod-config can be restored to a moment from 2026-11-22T09:59:59.000Z to 2026-11-22T10:00:01.000Z',
    );
    const off = recording({ readWindow: async () => undefined });
    await expect(checkMoment(restoration, off.steps)).rejects.toThrow(
      'table gw-prod-config has no point-in-time recovery',
    );
    const web: StageSettings = { ...prod, compute: 'web', experimental: true };
    await expect(checkMoment({ ...restoration, settings: web }, steps)).rejects.toThrow('cannot be paused');
    expect([...done, ...off.done]).toEqual([]);
  });
});

describe('its steps on AWS', () => {
  // Not while the tests above call a real engine.
  const mockDynamo = () => mockClient(DynamoDBClient);
  const mockLambda = () => mockClient(LambdaClient);
  let dynamo: ReturnType<typeof mockDynamo>;
  let lambda: ReturnType<typeof mockLambda>;
  beforeAll(() => {
    dynamo = mockDynamo();
    lambda = mockLambda();
  });
  afterAll(() => {
    dynamo.restore();
    lambda.restore();
  });
  const outputs = { ChatFunctionName: 'chat', ModelsFunctionName: 'models' };
  const account = {
    clientOptions: { region: 'eu-west-1' },
    readStack: async () => ({ status: 'UPDATE_COMPLETE', outputs }),
  };

  it('restore into a table of another name, and begin nothing that was begun before', async () => {
    const absent = new ResourceNotFoundException({ message: 'none', $metadata: {} });
    dynamo.on(DescribeTableCommand).rejects(absent);
    dynamo.on(DescribeTableCommand, { TableName: 'begun' }).resolves({ Table: { TableStatus: 'CREATING' } });
    dynamo.on(RestoreTableToPointInTimeCommand).resolves({});
    const steps = await awsSteps(account, 'prod', prod);
    await steps.startRestore('live', 'restored', atMs);
    await steps.startRestore('live', 'begun', atMs);
    expect(dynamo.commandCalls(RestoreTableToPointInTimeCommand).map(({ args: [{ input }] }) => input)).toEqual([
      { SourceTableName: 'live', TargetTableName: 'restored', RestoreDateTime: new Date(atMs) },
    ]);
  });

  it('pause calls by a reserved concurrency of 0 and give back that of the settings, or none', async () => {
    lambda.on(PutFunctionConcurrencyCommand).resolves({});
    lambda.on(DeleteFunctionConcurrencyCommand).resolves({});
    const steps = await awsSteps(account, 'prod', { ...prod, modelsReservedConcurrency: null });
    await steps.pauseCalls();
    await steps.resumeCalls();
    expect(lambda.calls().map(({ args: [{ input }] }) => input)).toEqual([
      { FunctionName: 'chat', ReservedConcurrentExecutions: 0 },
      { FunctionName: 'models', ReservedConcurrentExecutions: 0 },
      { FunctionName: 'chat', ReservedConcurrentExecutions: prod.chatReservedConcurrency },
      { FunctionName: 'models' },
    ]);
  });
});
