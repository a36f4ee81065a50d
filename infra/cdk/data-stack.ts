// What must survive a mistake: tables, large results, the master key of stored BYOK keys and the provider credentials.
// How far they are protected is the stage's choice.
import { CfnOutput, RemovalPolicy, SecretValue, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { brand, tableNames } from '../../shared/foundation/constants/index.ts';
import { GatewayTable } from './constructs/gateway-table.ts';
import { SpillBucket, spillBucketName } from './constructs/spill-bucket.ts';
import type { StageSettings } from './stage-settings.ts';

export interface DataStackProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
}

/** One secret per stage, a JSON object: provider credentials by the names that the gateway file gives them. */
export const providerSecretName = (stage: string): string => `${brand}/${stage}/providers`;

/** For the operator, who seals: functions are given the key itself. */
export const connectionKeyAlias = (stage: string): string => `alias/${brand}-${stage}-connections`;

export class DataStack extends Stack {
  /** Wraps the data keys of stored BYOK connections. Whoever applies a gateway file needs kms:GenerateDataKey on it. */
  readonly connectionKey: Key;
  readonly providerCredentials: Secret;

  constructor(scope: Construct, id: string, { stage, settings, ...props }: DataStackProps) {
    super(scope, id, { ...props, terminationProtection: settings.terminationProtection });
    for (const table of tableNames) {
      const { tableName } = new GatewayTable(this, `Table-${table}`, { stage, settings, table });
      new CfnOutput(this, `Table${table}`, { value: tableName });
    }
    new SpillBucket(this, 'Spill', { stage, settings });
    const removalPolicy = settings.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.connectionKey = new Key(this, 'ConnectionKey', {
      alias: connectionKeyAlias(stage),
      description: `${brand} ${stage}: seals the provider keys of stored BYOK connections`,
      // Sealed keys of before a rotation still open: KMS keeps the former material.
      enableKeyRotation: true,
      removalPolicy,
    });
    this.providerCredentials = new Secret(this, 'ProviderCredentials', {
      secretName: providerSecretName(stage),
      description: `${brand} ${stage}: provider credentials, a JSON object of names and keys`,
      // An empty object and nothing secret in it: the operator puts the keys there, a deployment never writes again.
      secretStringValue: SecretValue.unsafePlainText('{}'),
      removalPolicy,
    });
    Validations.of(this.providerCredentials).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Provider keys are issued by the providers; nothing in the account could rotate them.',
    });
    new CfnOutput(this, 'ProviderSecretArn', { value: this.providerCredentials.secretArn });
    new CfnOutput(this, 'ConnectionKeyArn', { value: this.connectionKey.keyArn });
    new CfnOutput(this, 'SpillBucketName', { value: spillBucketName(stage) });
  }
}
