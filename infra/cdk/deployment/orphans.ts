// Finds resources outside the stage's stacks under names that the stage is about to create. A stage that retains its
// data leaves resources when its stack is destroyed, or when it is rolled back to a release without the table.
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeKeyCommand, KeyState, KMSClient } from '@aws-sdk/client-kms';
import { GetResourcesCommand, ResourceGroupsTaggingAPIClient } from '@aws-sdk/client-resource-groups-tagging-api';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { tableNames, tableNaming, unrecoveredTables } from '../../../shared/foundation/constants/index.ts';
import type { AwsAccount, StackResource } from '../aws-account.ts';
import { providerSecretName, spillBucketName, stageTags } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { type AllowedCalls, unlessAbsent } from './allowed-calls.ts';

interface Orphan {
  readonly kind: 'table' | 'bucket' | 'secret' | 'key';
  readonly name: string;
  /** ARN of a secret or a key, for the setting `adopt`. */
  readonly arn?: string;
}

export interface StageOwnership {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Resources of both stacks. */
  readonly resources: readonly StackResource[];
}

export async function findOrphans(
  { account, region, clientOptions }: Pick<AwsAccount, 'account' | 'region' | 'clientOptions'>,
  { stage, settings, resources }: StageOwnership,
  allowed: AllowedCalls,
): Promise<Orphan[]> {
  const owned = new Set(resources.map(({ physicalId }) => physicalId));
  const dynamo = new DynamoDBClient(clientOptions);
  const hasTable = (name: string) =>
    allowed.try('dynamodb:DescribeTable', () =>
      unlessAbsent(dynamo.send(new DescribeTableCommand({ TableName: name }))),
    );
  const hasBucket = (name: string) =>
    // This is also refused if the bucket belongs to another account.
    allowed.try(`s3:ListBucket on ${name}`, () =>
      unlessAbsent(
        new S3Client({ ...clientOptions, forcePathStyle: true }).send(new HeadBucketCommand({ Bucket: name })),
      ),
    );
  type Candidate = readonly [kind: Orphan['kind'], name: string, find: (name: string) => Promise<unknown>];
  const candidates: readonly Candidate[] = [
    ...tableNames.map((table): Candidate => ['table', tableNaming(stage, settings.tableSuffix)(table), hasTable]),
    ['bucket', spillBucketName(stage, account, region), hasBucket],
  ];
  const found = await Promise.all(
    candidates.map(async ([kind, name, find]) =>
      owned.has(name) || (await find(name)) === undefined ? [] : [{ kind, name }],
    ),
  );
  const secret = settings.adopt?.secretArn == null ? await findSecret(stage, clientOptions, allowed) : undefined;
  const namedOrphans = [
    ...found.flat(),
    ...(secret === undefined || [...owned].some((id) => id.includes(secret.name)) ? [] : [secret]),
  ];
  // A new stage takes no name of a key, so a key alone does not block a deployment.
  const isAfterTeardown = namedOrphans.length > 0 && settings.adopt === null;
  const hasKey = resources.some(({ type, physicalId }) => type === 'AWS::KMS::Key' && physicalId !== '');
  return isAfterTeardown && !hasKey
    ? [...namedOrphans, ...(await findKeys(stage, clientOptions, allowed))]
    : namedOrphans;
}

/**
 * Finds keys by the tags that a stack gives its resources, because the alias was deleted with the stack. Keys that are
 * being deleted are ignored.
 */
async function findKeys(
  stage: string,
  clientOptions: AwsAccount['clientOptions'],
  allowed: AllowedCalls,
): Promise<Orphan[]> {
  const tags = Object.entries(stageTags(stage)).map(([Key, value]) => ({ Key, Values: [value] }));
  const tagged = await allowed.try('tag:GetResources', () =>
    // One page has a hundred keys, which is enough because each key belongs to a destroyed stage of this name.
    new ResourceGroupsTaggingAPIClient(clientOptions).send(
      new GetResourcesCommand({ ResourceTypeFilters: ['kms:key'], TagFilters: tags }),
    ),
  );
  const kms = new KMSClient(clientOptions);
  const keys = (tagged?.ResourceTagMappingList ?? []).map(async ({ ResourceARN: arn = '' }) => {
    const key = await allowed.try('kms:DescribeKey', () => kms.send(new DescribeKeyCommand({ KeyId: arn })));
    const { KeyState: state, CreationDate: creationDate } = key?.KeyMetadata ?? {};
    return state === KeyState.Enabled || state === KeyState.Disabled
      ? [{ kind: 'key' as const, name: `${arn} of ${creationDate?.toISOString() ?? 'an unknown time'}`, arn }]
      : [];
  });
  return (await Promise.all(keys)).flat();
}

async function findSecret(stage: string, clientOptions: AwsAccount['clientOptions'], allowed: AllowedCalls) {
  const name = providerSecretName(stage);
  const secret = await allowed.try('secretsmanager:DescribeSecret', () =>
    unlessAbsent(new SecretsManagerClient(clientOptions).send(new DescribeSecretCommand({ SecretId: name }))),
  );
  return secret?.ARN === undefined ? undefined : { kind: 'secret' as const, name, arn: secret.ARN };
}

/**
 * Returns the restored tables that a stage adopts now. Throws one line if a table does not exist, because
 * CloudFormation would create an empty table.
 */
export function restoredTables(
  orphans: readonly Orphan[],
  { stage, settings: { tableSuffix }, resources }: StageOwnership,
): readonly Orphan[] {
  if (tableSuffix === undefined) return [];
  const tables = tableNames.filter((table) => !unrecoveredTables.has(table)).map(tableNaming(stage, tableSuffix));
  const adopted = orphans.filter(({ name }) => tables.includes(name));
  const there = new Set([...adopted.map(({ name }) => name), ...resources.map(({ physicalId }) => physicalId)]);
  const absent = tables.filter((name) => !there.has(name));
  if (absent.length > 0) {
    throw new Error(
      `tableSuffix: there is no table ${absent.join(', ')}; infra/cdk/guides/restoring.md says how it is restored`,
    );
  }
  return adopted;
}

/** Throws one line with the resources in the way, and the command that adopts them. */
export function refuseOrphans(
  orphans: readonly Orphan[],
  stage: string,
  { removal }: StageSettings,
  isAdopting: boolean,
) {
  const secret = orphans.find(({ kind }) => kind === 'secret');
  const keys = orphans.filter(({ kind }) => kind === 'key');
  const namedOrphans = [...keys, ...(secret === undefined ? [] : [secret])];
  const importable = orphans.filter((orphan) => !namedOrphans.includes(orphan));
  if (namedOrphans.length === 0 && (importable.length === 0 || isAdopting)) return;
  const remaining = orphans.filter((orphan) => !isAdopting || namedOrphans.includes(orphan));
  const list = remaining.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const steps = [
    ...(namedOrphans.length === 0
      ? []
      : [
          `set adopt: { keyArn: ${quoted(keys)}, secretArn: ${quoted(secret)} } in the settings of ${stage} (keyArn: the key that wrapped stored BYOK keys, null if there are none)`,
        ]),
    `run npm run deploy -- --stage ${stage}${importable.length > 0 ? ' --adopt' : ''}`,
  ];
  const solution =
    removal === 'retain'
      ? `to take over what is there, ${steps.join(', then ')}`
      : `delete them, or set removal: 'retain'`;
  throw new Error(`these stand there without belonging to the stacks of ${stage}: ${list}; ${solution}`);
}

const quoted = (orphans: Orphan | readonly Orphan[] | undefined): string =>
  [orphans ?? []]
    .flat()
    .map(({ arn }) => `'${arn}'`)
    .join(' or ') || 'null';

/**
 * Returns the tables of the stack that this release does not know. The tables stay, outside of the stack, if the stage
 * retains its data.
 */
export const leftBehind = (
  stage: string,
  { removal, tableSuffix }: StageSettings,
  resources: readonly StackResource[],
): string[] => {
  const known = new Set([tableSuffix, ''].flatMap((suffix) => tableNames.map(tableNaming(stage, suffix))));
  return resources.flatMap(({ type, physicalId }) =>
    removal === 'retain' && type === 'AWS::DynamoDB::GlobalTable' && physicalId !== '' && !known.has(physicalId)
      ? [physicalId]
      : [],
  );
};
