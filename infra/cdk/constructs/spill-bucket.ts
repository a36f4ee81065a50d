// Defines a bucket for results that are too large for a DynamoDB item, and for bodies of calls if a workspace stores
// them: prompts and answers of customers. Each kind has a prefix, by which rights and lifetimes are assigned.
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import {
  contentKeeps,
  contentPrefixOf,
  daysOf,
  resultLifeDays,
  resultPrefix,
} from '../../../shared/foundation/constants/index.ts';
import { spillBucketName } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { encryptionKey } from './encryption-key.ts';

/** A day longer than the records that name the results: S3 counts from the midnight after an object was stored. */
const lives: readonly (readonly [prefix: string, days: number])[] = [
  [resultPrefix, resultLifeDays + 1],
  ...contentKeeps.map((keep) => [contentPrefixOf(keep), daysOf(keep)] as const),
];

/** Rule for names of former releases. If two rules match an object, the earlier end applies. */
const everyOther = ['', Math.max(...lives.map(([, days]) => days)) + 1] as const;

export function spillBucket(
  scope: Construct,
  { stage, settings }: { readonly stage: string; readonly settings: StageSettings },
  importsIn: string | undefined,
  removalPolicy: RemovalPolicy,
): Bucket {
  const key = encryptionKey(scope, settings);
  const autoDeleteObjects = removalPolicy === RemovalPolicy.DESTROY;
  const bucket = new Bucket(new Construct(scope, 'Spill'), 'Bucket', {
    bucketName: bucketNameOf(stage, importsIn),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    ...(key === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : // KMS is asked once for a data key that many objects share.
        { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    lifecycleRules: [...lives, everyOther].map(([prefix, days]) => ({
      ...(prefix === '' ? {} : { prefix }),
      expiration: Duration.days(days),
      abortIncompleteMultipartUploadAfter: Duration.days(1),
    })),
    removalPolicy,
    // A bucket with objects cannot be deleted, so a disposable stage empties its bucket first.
    autoDeleteObjects,
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'The functions that read and write here log each call and each reading; access logs would need a second bucket.',
  });
  return bucket;
}

/** Returns the bucket's name. CloudFormation imports only resources with a literal name. */
function bucketNameOf(stage: string, importsIn: string | undefined): string {
  const [account = Aws.ACCOUNT_ID, region = Aws.REGION] = importsIn?.split('/') ?? [];
  return spillBucketName(stage, account, region);
}
