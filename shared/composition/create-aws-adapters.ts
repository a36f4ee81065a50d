// What stands outside the store for a deployed stage: large results in S3, the master key in KMS, provider credentials
// in Secrets Manager. Each of them is there when the environment names it, and absent otherwise.
import { type KeyWrapper, kmsKeyWrapper } from '../configuration/byok/index.ts';
import { type Environment, hasAwsCredentials } from '../foundation/environment/index.ts';
import type { Randomness } from '../foundation/ids/index.ts';
import type { Log } from '../foundation/log/index.ts';
import type { Clock } from '../foundation/time/index.ts';
import {
  type CredentialSource,
  providerCredentials,
  providerSecret,
  signedCredentials,
} from '../routing/providers/index.ts';
import { type AwsCredentialProvider, awsAccess, processCredentials } from '../storage/aws-clients/index.ts';
import { type BlobStore, s3Blobs } from '../storage/blobs/index.ts';
import { noBlobs, noKeyWrapper, variableCredentials } from './absent-adapters.ts';

export interface AwsAdapters {
  readonly wrapper: KeyWrapper;
  readonly blobs: BlobStore;
  readonly credentials: CredentialSource;
}

export interface AwsAdaptersOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Default: those of the process. */
  readonly awsCredentials?: AwsCredentialProvider | undefined;
}

/** Calls nothing yet. */
export function createAwsAdapters(options: AwsAdaptersOptions): AwsAdapters {
  const { environment, clock, randomness, log, awsCredentials = processCredentials() } = options;
  const signed = (source: CredentialSource): CredentialSource =>
    signedCredentials({
      source,
      awsCredentials,
      isAvailable: hasAwsCredentials,
      clock,
    });
  if (environment.aws === undefined) {
    return { wrapper: noKeyWrapper, blobs: noBlobs, credentials: signed(variableCredentials()) };
  }
  const { region, byokKeyId, spillBucket, isBucketInPath, providerSecret: secretId } = environment.aws;
  const access = awsAccess({ region, credentials: awsCredentials, clock });
  return {
    wrapper: byokKeyId === undefined ? noKeyWrapper : kmsKeyWrapper({ access, randomness, keyId: byokKeyId }),
    blobs: spillBucket === undefined ? noBlobs : s3Blobs({ access, randomness, bucket: spillBucket, isBucketInPath }),
    credentials: signed(
      secretId === undefined
        ? variableCredentials()
        : providerCredentials({ readSecret: providerSecret({ access, randomness, secretId }), clock, log }),
    ),
  };
}

/** For a run outside AWS: what its own environment offers. */
export const localCredentials = (clock: Clock): CredentialSource =>
  signedCredentials({
    source: variableCredentials(),
    awsCredentials: processCredentials(),
    isAvailable: hasAwsCredentials,
    clock,
  });
