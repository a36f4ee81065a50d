// Defines the resources that must survive a mistake: tables, large results, the key that encrypts stored BYOK keys,
// provider credentials.
import { CfnOutput, RemovalPolicy, SecretValue, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Alias, type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { brand, tableNames, unrecoveredTables } from '../../shared/foundation/constants/index.ts';
import { encryptedWith } from './constructs/encryption-key.ts';
import { GatewayTable } from './constructs/gateway-table.ts';
import { spillBucket } from './constructs/spill-bucket.ts';
import { connectionKeyAlias, dataStackName, providerSecretName } from './resource-names.ts';
import type { StageSettings } from './settings-schema.ts';
import type { ThisDeployment } from './this-deployment.ts';

type SecretReference = Pick<ISecret, 'secretArn'>;

interface DataStackProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly deployment: ThisDeployment;
}

export class DataStack extends Stack {
  constructor(scope: Construct, id: string, { stage, settings, deployment, ...props }: DataStackProps) {
    super(scope, id, { ...props, terminationProtection: settings.terminationProtection });
    const { importsIn, isImportingRestored = false } = deployment;
    const removalPolicy = removalPolicyOf(settings, importsIn);
    for (const table of tableNames) {
      const suffix = unrecoveredTables.has(table) ? '' : (settings.tableSuffix ?? '');
      const isBare = isImportingRestored && suffix !== '';
      // Another table is another resource. The former table leaves the stack, and is preserved.
      const props = { stage, settings, table, removalPolicy, isBare };
      const { tableName } = new GatewayTable(this, `Table-${table}${suffix}`, props);
      new CfnOutput(this, `Table${table}`, { value: tableName });
    }
    const bucket = spillBucket(this, { stage, settings }, importsIn, removalPolicy);
    const connectionKey = this.#connectionKey(stage, settings.adopt?.keyArn, removalPolicy);
    const providerCredentials = this.#providerCredentials(stage, settings, removalPolicy);
    new CfnOutput(this, 'ProviderSecretArn', { value: providerCredentials.secretArn });
    new CfnOutput(this, 'ConnectionKeyArn', { value: connectionKey.keyArn });
    new CfnOutput(this, 'SpillBucketName', { value: bucket.bucketName });
    // The api stack imports this output, because it does not work without this stack. The output is a name only, so
    // that no resource of this stack is locked.
    new CfnOutput(this, 'StackName', { value: dataStackName(stage), exportName: dataStackName(stage) });
  }

  /**
   * Creates the key that encrypts the data keys of stored BYOK connections. Applying a gateway file needs
   * kms:GenerateDataKey on this key.
   */
  #connectionKey(stage: string, adoptedArn: string | null | undefined, removalPolicy: RemovalPolicy): IKey {
    const aliasName = connectionKeyAlias(stage);
    if (adoptedArn != null) {
      const key = Key.fromKeyArn(this, 'ConnectionKey', adoptedArn);
      new Alias(key, 'Alias', { aliasName, targetKey: key });
      return key;
    }
    return new Key(this, 'ConnectionKey', {
      alias: aliasName,
      description: `${brand} ${stage}: wraps the data keys of stored BYOK connections`,
      // Keys that were encrypted before a rotation can still be decrypted: KMS stores the former material.
      enableKeyRotation: true,
      removalPolicy,
    });
  }

  #providerCredentials(stage: string, settings: StageSettings, removalPolicy: RemovalPolicy): SecretReference {
    const adoptedArn = settings.adopt?.secretArn;
    if (adoptedArn != null) return Secret.fromSecretCompleteArn(this, 'ProviderCredentials', adoptedArn);
    const secret = new Secret(this, 'ProviderCredentials', {
      secretName: providerSecretName(stage),
      description: `${brand} ${stage}: provider credentials, a JSON object of names and keys`,
      // The secret is empty at first; the operator adds credentials, and a deployment does not write the value again.
      secretStringValue: SecretValue.unsafePlainText('{}'),
      ...encryptedWith(this, settings),
      removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'The providers issue these keys; nothing in the account could rotate them.',
    });
    return secret;
  }
}

/**
 * Returns the removal policy of the stage, with an exception. The failed first deployment of a stage that retains
 * removes its new resources, so that the next deployment finds their names free. A stage that adopts resources never
 * removes them.
 */
function removalPolicyOf({ removal, adopt }: StageSettings, importsIn: string | undefined): RemovalPolicy {
  if (removal === 'destroy') return RemovalPolicy.DESTROY;
  return adopt === null && importsIn === undefined ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.RETAIN;
}
