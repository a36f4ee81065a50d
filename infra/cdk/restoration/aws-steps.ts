// The steps of a restoration on AWS: DynamoDB's point-in-time recovery, and an attribute of the item that every process of
// the gateway looks at within seconds, by which it refuses calls.
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { cataloguePointerItem, physicalTableName } from '../../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { AwsAccount } from '../aws-account.ts';
import { markKey } from './copy-rules.ts';
import { copyTable } from './copy-table.ts';
import type { RestorationMark, RestorationSteps } from './restore-stage.ts';
import type { StoredItem } from './table-pages.ts';

const lookIntervalMs = 15_000;
/** A large table takes hours. */
const restoreMaxMs = 12 * 3_600_000;

export function awsSteps({ clientOptions }: Pick<AwsAccount, 'clientOptions'>, stage: string): RestorationSteps {
  return dynamoSteps(new DynamoDBClient(clientOptions), stage);
}

export function dynamoSteps(dynamo: Pick<DynamoDBClient, 'send'>, stage: string): RestorationSteps {
  const describe = async (TableName: string) => {
    try {
      return (await dynamo.send(new DescribeTableCommand({ TableName }))).Table;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
  return {
    clock: systemClock,
    async readWindow(TableName) {
      const { ContinuousBackupsDescription } = await dynamo.send(new DescribeContinuousBackupsCommand({ TableName }));
      const { EarliestRestorableDateTime: from, LatestRestorableDateTime: to } =
        ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
      return from === undefined || to === undefined ? undefined : { fromMs: from.getTime(), toMs: to.getTime() };
    },
    countItems: async (table) => (await describe(table))?.ItemCount ?? 0,
    async startRestore(SourceTableName, TargetTableName, atMs) {
      if ((await describe(TargetTableName)) !== undefined) return;
      await dynamo.send(
        new RestoreTableToPointInTimeCommand({ SourceTableName, TargetTableName, RestoreDateTime: new Date(atMs) }),
      );
    },
    async waitUntilActive(table) {
      for (let waitedMs = 0; (await describe(table))?.TableStatus !== 'ACTIVE'; waitedMs += lookIntervalMs) {
        if (waitedMs >= restoreMaxMs)
          throw new Error(`table ${table} is not restored yet; run the same line again later`);
        await sleep(systemClock, lookIntervalMs);
      }
    },
    ...pausing(dynamo, physicalTableName(stage, 'config')),
    wait: (ms) => sleep(systemClock, ms),
    copy: (tables) => copyTable(dynamo, tables),
    async drop(TableName) {
      await dynamo.send(new DeleteTableCommand({ TableName }));
    },
  };
}

const { key: pointerKey, refusesCalls } = cataloguePointerItem;

function pausing(
  dynamo: Pick<DynamoDBClient, 'send'>,
  TableName: string,
): Pick<RestorationSteps, 'readMark' | 'writeMark' | 'pauseCalls' | 'resumeCalls'> {
  const read = async (table: string, pk: string): Promise<StoredItem | undefined> =>
    (await dynamo.send(new GetItemCommand({ TableName: table, Key: marshall({ pk }), ConsistentRead: true }))).Item;
  /** Only while calls are refused: what was applied since they are served again stays. */
  const whileRefused = {
    TableName,
    ConditionExpression: 'attribute_exists(#refuses)',
    ExpressionAttributeNames: { '#refuses': refusesCalls },
  };
  return {
    async readMark() {
      const item = await read(TableName, markKey);
      return item === undefined ? undefined : (unmarshall(item).mark as RestorationMark);
    },
    async writeMark(mark) {
      await dynamo.send(new PutItemCommand({ TableName, Item: marshall({ pk: markKey, mark }) }));
    },
    async pauseCalls() {
      await dynamo.send(
        new UpdateItemCommand({
          TableName,
          Key: marshall({ pk: pointerKey }),
          UpdateExpression: 'SET #refuses = :true',
          ExpressionAttributeNames: { '#refuses': refusesCalls },
          ExpressionAttributeValues: { ':true': { BOOL: true } },
        }),
      );
    },
    async resumeCalls(restoredConfig) {
      const { [refusesCalls]: _refused, ...Item } = (await read(restoredConfig, pointerKey)) ?? {};
      const command =
        Item.pk === undefined
          ? new DeleteItemCommand({ ...whileRefused, Key: marshall({ pk: pointerKey }) })
          : new PutItemCommand({ ...whileRefused, Item });
      try {
        await dynamo.send(command as PutItemCommand);
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    },
  };
}
