// Defines one table of the gateway. Its keys, time to live and name come from shared/foundation/constants, its
// protection comes from the stage.
import { type RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  Capacity,
  ContributorInsightsMode,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import {
  type TableDefinition,
  type TableName,
  tableDefinitions,
  tableNaming,
  unrecoveredTables,
} from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';
import { encryptionKey } from './encryption-key.ts';

/**
 * DynamoDB's own quota of a table, unless AWS has raised it. The template contains the quota, because a table may
 * preserve a former limit when the property is removed from the template.
 */
const unlimitedUnits = 40_000;

/** Read capacity of a new on-demand table; a warm throughput names both. */
const newTableReads = 12_000;

/** Tables that every call writes. A key is one item in such a table, and an item is in one partition. */
const writtenByEveryCall: ReadonlySet<TableName> = new Set([
  ...(['keys', 'ledger', 'limits', 'statistics', 'idempotency', 'spans', 'records'] as const),
]);

const asRestored = { pointInTimeRecovery: false, deletionProtection: false, tableWarmWritesPerSecond: null } as const;

/** Target of auto scaling. The remaining capacity takes a burst while the capacity grows, which takes minutes. */
const usedPercent = 70;

function billingOf(settings: StageSettings): Billing {
  const { tableCapacity, tableReadsPerSecondMax, tableWritesPerSecondMax } = settings;
  if (tableCapacity === undefined) {
    return Billing.onDemand({
      maxReadRequestUnits: tableReadsPerSecondMax ?? unlimitedUnits,
      maxWriteRequestUnits: tableWritesPerSecondMax ?? unlimitedUnits,
    });
  }
  const { min, max } = tableCapacity;
  const scaled = (minCapacity: number) =>
    // The seed applies from the change of the billing until auto scaling exists.
    Capacity.autoscaled({ minCapacity, maxCapacity: max, seedCapacity: min, targetUtilizationPercent: usedPercent });
  return Billing.provisioned({ writeCapacity: scaled(min), readCapacity: scaled(1) });
}

interface GatewayTableProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly table: TableName;
  readonly removalPolicy: RemovalPolicy;
  /**
   * Whether the table is declared as DynamoDB restored it: CloudFormation imports a table unchanged, and changes it
   * when its template does.
   */
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
    const isWarmed = writtenByEveryCall.has(table) && settings.tableCapacity === undefined;
    const warmWrites = isWarmed ? settings.tableWarmWritesPerSecond : null;
    const key = encryptionKey(this, settings);
    const pointInTimeRecoveryEnabled = settings.pointInTimeRecovery && !unrecoveredTables.has(table);
    this.tableName = tableNaming(stage, settings.tableSuffix)(table);
    const resource = new TableV2(this, 'Table', {
      tableName: this.tableName,
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLiveAttribute === undefined || isBare ? {} : { timeToLiveAttribute }),
      billing: billingOf(settings),
      ...(warmWrites === null
        ? {}
        : { warmThroughput: { readUnitsPerSecond: newTableReads, writeUnitsPerSecond: warmWrites } }),
      // This setting shows which keys were throttled; AWS bills it for throttled requests only.
      ...(isBare
        ? {}
        : { contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS } }),
      encryption: key === undefined ? TableEncryptionV2.dynamoOwnedKey() : TableEncryptionV2.customerManagedKey(key),
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
