// Where results go that are too large for an item of their table: prompts and answers of customers, so nobody but the
// chat function may read it, and only for as long as a record may name them.
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';

/** `blobLifeSeconds` of shared/storage/blobs in days, and one on top: S3 counts from the midnight after an object was put. */
const spillLifeDays = 3;

/** What is left of the 63 characters of a bucket's name beside brand, account and region. */
const stageShape = /^[a-z0-9-]{1,26}$/;

/** Bucket names are one world for all accounts. Throws for a stage that cannot be part of one. */
export const spillBucketName = (stage: string, account = Aws.ACCOUNT_ID, region = Aws.REGION): string => {
  if (!stageShape.test(stage)) throw new Error(`stage ${stage} must be 1 to 26 lower-case letters, digits or -`);
  return `${brand}-${stage}-spill-${account}-${region}`;
};

export interface SpillBucketProps {
  readonly stage: string;
  readonly settings: StageSettings;
}

export class SpillBucket extends Construct {
  /** A bucket that still holds objects refuses to be removed: they are gone after `spillLifeDays` by themselves. */
  constructor(scope: Construct, id: string, { stage, settings }: SpillBucketProps) {
    super(scope, id);
    const bucket = new Bucket(this, 'Bucket', {
      bucketName: spillBucketName(stage),
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [
        { expiration: Duration.days(spillLifeDays), abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      removalPolicy: settings.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'One function alone reads and writes here and logs each call; access logs would need a second bucket.',
    });
  }
}
