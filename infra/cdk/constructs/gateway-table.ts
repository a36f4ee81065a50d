// One table of the gateway: its keys, time to live and name come from shared/foundation/constants, its protection from the stage.
import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import {
  physicalTableName,
  type TableDefinition,
  type TableName,
  tableDefinitions,
} from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';

export interface GatewayTableProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly table: TableName;
}

export class GatewayTable extends Construct {
  readonly tableName: string;

  constructor(scope: Construct, id: string, { stage, settings, table }: GatewayTableProps) {
    super(scope, id);
    const definition: TableDefinition = tableDefinitions[table];
    this.tableName = physicalTableName(stage, table);
    const resource = new TableV2(this, 'Table', {
      tableName: this.tableName,
      partitionKey: { name: definition.partitionKey, type: AttributeType.STRING },
      ...(definition.sortKey === undefined
        ? {}
        : { sortKey: { name: definition.sortKey, type: AttributeType.STRING } }),
      ...(definition.timeToLiveAttribute === undefined ? {} : { timeToLiveAttribute: definition.timeToLiveAttribute }),
      billing: Billing.onDemand({
        ...(settings.tableReadsPerSecondMax === null ? {} : { maxReadRequestUnits: settings.tableReadsPerSecondMax }),
        ...(settings.tableWritesPerSecondMax === null
          ? {}
          : { maxWriteRequestUnits: settings.tableWritesPerSecondMax }),
      }),
      encryption: TableEncryptionV2.dynamoOwnedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: settings.pointInTimeRecovery },
      deletionProtection: settings.deletionProtection,
      removalPolicy: settings.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    if (!settings.pointInTimeRecovery) {
      Validations.of(resource).acknowledge({
        id: 'AwsSolutions-DDB3',
        reason: 'This stage holds nothing that could not be seeded again; its settings say so.',
      });
    }
  }
}
