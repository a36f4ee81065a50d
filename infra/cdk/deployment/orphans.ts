// What stands in the account under a name that this stage is about to create, without belonging to its stacks. A stage
// that retains leaves it behind: a destroyed stack does, and so does a roll-back to a release without the table.
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { tableNames, tableNaming, unrecoveredTables } from '../../../shared/foundation/constants/index.ts';
import type { AwsAccount, StackResource } from '../aws-account.ts';
import { providerSecretName, spillBucketName } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { type AllowedCalls, unlessAbsent } from './allowed-calls.ts';

export interface Orphan {
  readonly kind: 'table' | 'bucket' | 'secret';
  readonly name: string;
  /** Of a secret: what the settings adopt. */
  readonly arn?: string;
}

export interface StageOwnership {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Of both stacks. */
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
    // Also refused where the bucket belongs to another account.
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
  return [
    ...found.flat(),
    ...(secret === undefined || [...owned].some((id) => id.includes(secret.name)) ? [] : [secret]),
  ];
}

async function findSecret(stage: string, clientOptions: AwsAccount['clientOptions'], allowed: AllowedCalls) {
  const name = providerSecretName(stage);
  const secret = await allowed.try('secretsmanager:DescribeSecret', () =>
    unlessAbsent(new SecretsManagerClient(clientOptions).send(new DescribeSecretCommand({ SecretId: name }))),
  );
  return secret?.ARN === undefined ? undefined : { kind: 'secret' as const, name, arn: secret.ARN };
}

/**
 * Of a stage that is to work on restored tables: those that it adopts now. Throws one line where one is not there, of which CloudFormation
 * would make an empty one.
 */
export function restoredTables(
  orphans: readonly Orphan[],
  { stage, settings: { tableSuffix }, resources }: StageOwnership,
): readonly Orphan[] {
  if (tableSuffix === undefined) return [];
  const wanted = tableNames.filter((table) => !unrecoveredTables.has(table)).map(tableNaming(stage, tableSuffix));
  const adopted = orphans.filter(({ name }) => wanted.includes(name));
  const there = new Set([...adopted.map(({ name }) => name), ...resources.map(({ physicalId }) => physicalId)]);
  const absent = wanted.filter((name) => !there.has(name));
  if (absent.length > 0) {
    throw new Error(
      `tableSuffix: there is no table ${absent.join(', ')}; infra/cdk/guides/restoring.md says how it is restored`,
    );
  }
  return adopted;
}

/** Throws one line with what stands in the way, and the command that takes it over. */
export function refuseOrphans(
  orphans: readonly Orphan[],
  stage: string,
  { removal }: StageSettings,
  isAdopting: boolean,
) {
  const secret = orphans.find(({ kind }) => kind === 'secret');
  const importable = orphans.filter((orphan) => orphan !== secret);
  if (secret === undefined && (importable.length === 0 || isAdopting)) return;
  const left = orphans.filter((orphan) => !isAdopting || orphan === secret);
  const list = left.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const steps = [
    ...(secret === undefined
      ? []
      : [
          `set adopt: { keyArn: null, secretArn: '${secret.arn}' } in the settings of ${stage} (keyArn: the key that wrapped stored BYOK keys, if there are any)`,
        ]),
    `run npm run deploy -- --stage ${stage}${importable.length > 0 ? ' --adopt' : ''}`,
  ];
  const solution =
    removal === 'retain'
      ? `to take over what is there, ${steps.join(', then ')}`
      : `delete them, or set removal: 'retain'`;
  throw new Error(`these stand there without belonging to the stacks of ${stage}: ${list}; ${solution}`);
}

/** Tables of the stack that this release does not know: they stay, outside of the stack, where the stage retains. */
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
