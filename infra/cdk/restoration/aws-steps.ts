// The steps of a restoration on AWS: DynamoDB's point-in-time recovery, and reserved concurrency 0, by which Lambda refuses
// every call of a function.
import {
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
} from '@aws-sdk/client-dynamodb';
import { DeleteFunctionConcurrencyCommand, LambdaClient, PutFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { AwsAccount } from '../aws-account.ts';
import { apiStackName } from '../resource-names.ts';
import { operatorConcurrency, type StageSettings } from '../settings-schema.ts';
import { copyTable } from './copy-table.ts';
import type { RestorationSteps } from './restore-stage.ts';

const lookIntervalMs = 15_000;
/** A large table takes hours. */
const restoreMaxMs = 12 * 3_600_000;

export async function awsSteps(
  { clientOptions, readStack }: Pick<AwsAccount, 'clientOptions' | 'readStack'>,
  stage: string,
  settings: StageSettings,
): Promise<RestorationSteps> {
  const [dynamo, lambda] = [new DynamoDBClient(clientOptions), new LambdaClient(clientOptions)];
  const outputs = (await readStack(apiStackName(stage)))?.outputs ?? {};
  const reserved: readonly (readonly [name: string | undefined, concurrency: number | null])[] = [
    [outputs.ChatFunctionName, settings.chatReservedConcurrency],
    [outputs.ModelsFunctionName, settings.modelsReservedConcurrency],
    // It writes too, where the stage has one.
    ...(outputs.OperatorFunctionName === undefined
      ? []
      : [[outputs.OperatorFunctionName, operatorConcurrency(settings)] as const]),
  ];
  /** Null: no reservation. */
  const reserve = async (FunctionName: string | undefined, concurrency: number | null) => {
    if (FunctionName === undefined)
      throw new Error(`the stack ${apiStackName(stage)} names no functions: deploy it first`);
    if (concurrency === null) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
    else
      await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: concurrency }));
  };
  const statusOf = async (TableName: string): Promise<string | undefined> => {
    try {
      return (await dynamo.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
  return {
    async readWindow(TableName) {
      const { ContinuousBackupsDescription } = await dynamo.send(new DescribeContinuousBackupsCommand({ TableName }));
      const { EarliestRestorableDateTime: from, LatestRestorableDateTime: to } =
        ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
      return from === undefined || to === undefined ? undefined : { fromMs: from.getTime(), toMs: to.getTime() };
    },
    async startRestore(SourceTableName, TargetTableName, atMs) {
      if ((await statusOf(TargetTableName)) !== undefined) return;
      await dynamo.send(
        new RestoreTableToPointInTimeCommand({ SourceTableName, TargetTableName, RestoreDateTime: new Date(atMs) }),
      );
    },
    async waitUntilActive(table) {
      for (let waitedMs = 0; (await statusOf(table)) !== 'ACTIVE'; waitedMs += lookIntervalMs) {
        if (waitedMs >= restoreMaxMs)
          throw new Error(`table ${table} is not restored yet; run the same line again later`);
        await sleep(systemClock, lookIntervalMs);
      }
    },
    pauseCalls: async () => {
      for (const [name] of reserved) await reserve(name, 0);
    },
    resumeCalls: async () => {
      for (const [name, concurrency] of reserved) await reserve(name, concurrency);
    },
    wait: (ms) => sleep(systemClock, ms),
    copy: (tables) => copyTable(dynamo, tables),
    async drop(TableName) {
      await dynamo.send(new DeleteTableCommand({ TableName }));
    },
  };
}
