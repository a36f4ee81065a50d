// Results that are too large for a DynamoDB item: prompts and answers of customers. Only the chat function may read
// them, and they are deleted once no record can name them.
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { spillBucketName } from '../resource-names.ts';

/** `blobLifeSeconds` of shared/storage/blobs in days, and one more: S3 counts from the midnight after an object was put. */
const spillLifeDays = 3;

export function spillBucket(
  scope: Construct,
  stage: string,
  importsIn: string | undefined,
  removalPolicy: RemovalPolicy,
): Bucket {
  const autoDeleteObjects = removalPolicy === RemovalPolicy.DESTROY;
  const bucket = new Bucket(new Construct(scope, 'Spill'), 'Bucket', {
    bucketName: bucketNameOf(stage, importsIn),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    lifecycleRules: [
      { expiration: Duration.days(spillLifeDays), abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    removalPolicy,
    // A bucket with objects cannot be deleted: a disposable stage empties it first.
    autoDeleteObjects,
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'Only one function reads and writes here, and it logs each call; access logs would need a second bucket.',
  });
  return bucket;
}

/** CloudFormation imports resources with a literal name only. */
function bucketNameOf(stage: string, importsIn: string | undefined): string {
  const [account = Aws.ACCOUNT_ID, region = Aws.REGION] = importsIn?.split('/') ?? [];
  return spillBucketName(stage, account, region);
}
