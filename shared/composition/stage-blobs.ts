// Opens the bucket of a deployed stage, if its environment names one.
import type { Environment } from '../foundation/environment/index.ts';
import { systemRandomness } from '../foundation/ids/index.ts';
import { type AwsAccess, awsAccess } from '../storage/aws-clients/index.ts';
import { type BlobStore, s3Blobs } from '../storage/blobs/index.ts';

/** Creates the storage; no request is made yet. */
export function stageBlobs(aws: Environment['aws'], sharedAccess?: AwsAccess): BlobStore {
  if (aws?.spillBucket === undefined) return noBlobs;
  const { region, spillBucket: bucket, isBucketInPath } = aws;
  return s3Blobs({
    access: sharedAccess ?? awsAccess({ region }),
    randomness: systemRandomness,
    bucket,
    isBucketInPath,
  });
}

/**
 * A storage that stores nothing, because in the memory of one instance a replay would depend on the instance that
 * serves it.
 */
const noBlobs: BlobStore = {
  async put() {
    throw new RangeError('there is no bucket: results over the inline limit, and bodies of calls, are not stored');
  },
  get: async () => undefined,
};
