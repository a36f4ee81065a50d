// What the gateway may do in the account and what it is told, as values: a function and a Web Function get the same.
// By name where a name exists, so that the data stack stays free of exports that another stack holds on to.
import { Aws, Stack } from 'aws-cdk-lib';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { environmentNames, physicalTableName } from '../../../shared/foundation/constants/index.ts';
import { spillBucketName } from './spill-bucket.ts';
import { type TableActions, tableActionsOf } from './table-actions.ts';

/** Why a wildcard within one resource is all right. */
export interface Acknowledgement {
  readonly id: string;
  readonly reason: string;
}

export interface Access {
  readonly statements: readonly PolicyStatementProps[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly acknowledgements?: readonly Acknowledgement[];
}

/** One statement per table: each holds what its own readers and writers call, and nothing else. */
export const tableAccess = (scope: Construct, stage: string, tables: TableActions): Access => ({
  statements: tableActionsOf(tables).map(({ table, actions }) => ({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [
      Stack.of(scope).formatArn({
        service: 'dynamodb',
        resource: 'table',
        resourceName: physicalTableName(stage, table),
      }),
    ],
  })),
});

/** Objects by their name. Not the list of them: their names cannot be guessed, and must not be told. */
export const spillBucketAccess = (stage: string): Access => ({
  statements: [
    {
      actions: ['s3:GetObject', 's3:PutObject'],
      resources: [`arn:${Aws.PARTITION}:s3:::${spillBucketName(stage)}/*`],
      // Whoever takes over the name of a bucket that was removed gets nothing.
      conditions: { StringEquals: { 'aws:ResourceAccount': Aws.ACCOUNT_ID } },
    },
  ],
  environment: { [environmentNames.spillBucket]: spillBucketName(stage) },
  acknowledgements: [
    {
      id: wildcardId(`arn:<AWS::Partition>:s3:::${spillBucketName(stage, '<AWS::AccountId>', '<AWS::Region>')}/*`),
      reason: 'Every object of this bucket is a result that this function stored, under a name it makes itself.',
    },
  ],
});

/**
 * Opening only, and only what was sealed for this stage: sealing is the operator's business. A key has no name that a
 * policy could hold, so its ARN is read when the stack is deployed; that holds on to nothing in the data stack.
 */
export const connectionKeyAccess = (stage: string, key: Key): Access => ({
  statements: [
    {
      actions: ['kms:Decrypt'],
      resources: [key.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:stage': stage } },
    },
  ],
  environment: { [environmentNames.byokKeyId]: key.keyArn },
});

/** The gateway learns where the credentials are, and reads them itself: none stands in its configuration. */
export const providerSecretAccess = (secret: Secret): Access => ({
  statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }],
  environment: { [environmentNames.providerSecret]: secret.secretArn },
});

/** One value of several. A later one wins where two set the same variable. */
export const allOf = (...parts: readonly Access[]): Access => ({
  statements: parts.flatMap(({ statements }) => statements),
  environment: Object.assign({}, ...parts.map(({ environment }) => environment)),
  acknowledgements: parts.flatMap(({ acknowledgements = [] }) => acknowledgements),
});

/** How cdk-nag names a resource with a wildcard. */
export function wildcardId(resource: string): string {
  return `AwsSolutions-IAM5[Resource::${resource}]`;
}
