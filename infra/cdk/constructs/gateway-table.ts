// One table of the gateway: keys, time to live and name come from shared/foundation/constants, protection from the stage.
import { type RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, ContributorInsightsMode, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import {
  type TableDefinition,
  type TableName,
  tableDefinitions,
  tableNaming,
  unrecoveredTables,
} from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';

/**
 * DynamoDB's own quota of a table, unless AWS has raised it. It is written out: a table may keep a former limit when the
 * property is gone from the template.
 */
const unlimitedUnits = 40_000;

/** Read capacity of a new table on demand; a warm throughput names both. */
const newTableReads = 12_000;

/** Written by every call: one key of these is one item, and an item has one partition. */
const writtenByEveryCall: ReadonlySet<TableName> = new Set([
  ...(['keys', 'ledger', 'limits', 'statistics', 'idempotency', 'spans', 'records'] as const),
]);

const asRestored = { pointInTimeRecovery: false, deletionProtection: false, tableWarmWritesPerSecond: null } as const;

export interface GatewayTableProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly table: TableName;
  readonly removalPolicy: RemovalPolicy;
  /** As DynamoDB restored it: CloudFormation imports a table unchanged, and changes it when its template does. */
  readonly isBare: boolean;
}

export class GatewayTable extends Construct {
  readonly tableName: string;

  constructor(
    scope: Construct,
    id: string,
    { stage, settings: written, table, removalPolicy, isBare }: GatewayTableProps,
  ) {
    super(scope, id);
    const settings = isBare ? { ...written, ...asRestored } : written;
    const { partitionKey, sortKey, timeToLiveAttribute }: TableDefinition = tableDefinitions[table];
    const { tableReadsPerSecondMax: readsMax, tableWritesPerSecondMax: writesMax } = settings;
    const warmWrites = writtenByEveryCall.has(table) ? settings.tableWarmWritesPerSecond : null;
    const pointInTimeRecoveryEnabled = settings.pointInTimeRecovery && !unrecoveredTables.has(table);
    this.tableName = tableNaming(stage, settings.tableSuffix)(table);
    const resource = new TableV2(this, 'Table', {
      tableName: this.tableName,
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLiveAttribute === undefined || isBare ? {} : { timeToLiveAttribute }),
      billing: Billing.onDemand({
        maxReadRequestUnits: readsMax ?? unlimitedUnits,
        maxWriteRequestUnits: writesMax ?? unlimitedUnits,
      }),
      ...(warmWrites === null
        ? {}
        : { warmThroughput: { readUnitsPerSecond: newTableReads, writeUnitsPerSecond: warmWrites } }),
      // Which keys were throttled: billed for events of that kind only.
      ...(isBare
        ? {}
        : { contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS } }),
      encryption: TableEncryptionV2.dynamoOwnedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled },
      deletionProtection: settings.deletionProtection,
      removalPolicy,
    });
    if (!pointInTimeRecoveryEnabled) {
      Validations.of(resource).acknowledge({
        id: 'AwsSolutions-DDB3',
        reason: settings.pointInTimeRecovery
          ? 'The contents of this table live a day at most, or are rebuilt by themselves.'
          : 'This stage holds nothing that could not be applied again; its settings say so.',
      });
    }
  }
}
