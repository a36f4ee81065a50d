// Creates the adapters outside the store for a deployed stage: large results in S3, the master key in KMS, provider
// credentials in Secrets Manager. Each exists if the environment names it.
import { type KeyWrapper, kmsKeyWrapper, SealBroken } from '../configuration/byok/index.ts';
import { type Environment, hasAwsCredentials, readVariable } from '../foundation/environment/index.ts';
import { type Randomness, systemRandomness } from '../foundation/ids/index.ts';
import { createLog, type Log } from '../foundation/log/index.ts';
import { type Clock, systemClock } from '../foundation/time/index.ts';
import {
  type CredentialSource,
  environmentCredentials,
  type ProviderCredentials,
  providerCredentials,
  providerSecret,
  signedCredentials,
} from '../routing/providers/index.ts';
import { type AwsCredentialProvider, awsAccess, processCredentials } from '../storage/aws-clients/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';
import type { CompositionOptions } from './create-gateway-composition.ts';
import { stageBlobs } from './stage-blobs.ts';

interface AwsAdapters {
  readonly wrapper: KeyWrapper;
  readonly blobs: BlobStore;
  readonly credentials: CredentialSource;
}

interface AwsAdaptersOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Default: the credentials of the process. */
  readonly awsCredentials?: AwsCredentialProvider | undefined;
}

/** Creates the adapters; no request is made yet. */
export function createAwsAdapters(options: AwsAdaptersOptions): AwsAdapters {
  const { environment, clock, randomness, log, awsCredentials = processCredentials() } = options;
  const signed = (source: CredentialSource): CredentialSource =>
    signedCredentials({
      source,
      awsCredentials,
      hasAwsCredentials,
      clock,
    });
  if (environment.aws === undefined) {
    return { wrapper: noKeyWrapper, blobs: stageBlobs(undefined), credentials: signed(variableCredentials()) };
  }
  const { region, byokKeyId, providerSecret: secretId } = environment.aws;
  const access = awsAccess({ region, credentials: awsCredentials, clock });
  return {
    wrapper: byokKeyId === undefined ? noKeyWrapper : kmsKeyWrapper({ access, randomness, keyId: byokKeyId }),
    blobs: stageBlobs(environment.aws, access),
    credentials: signed(
      secretId === undefined
        ? variableCredentials()
        : providerCredentials({ readSecret: providerSecret({ access, randomness, secretId }), clock, log }),
    ),
  };
}

/** Returns the credentials of a run outside AWS, from its own environment. */
export const localCredentials = (clock: Clock): CredentialSource =>
  signedCredentials({
    source: variableCredentials(),
    awsCredentials: processCredentials(),
    hasAwsCredentials,
    clock,
  });

// Creates replacements for a key that the environment does not name. They refuse as the interfaces document.

/** A wrapper with which no stored connection can be opened. */
const noKeyWrapper: KeyWrapper = {
  isShared: false,
  async createDataKey() {
    throw new Error('there is no BYOK key to seal under');
  },
  async unwrap() {
    throw new SealBroken();
  },
};

/** Reads credentials from variables of the process, as a local run does. */
const variableCredentials = (): ProviderCredentials => environmentCredentials(readVariable);

// Adapters outside the store for a bundle.

const logOf = ({ stage, version, logLevel: level }: Environment): Log =>
  createLog({ clock: systemClock, stage, version, level });

export const bundleAdapters = (
  environment: Environment,
  log: Log = logOf(environment),
): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials'> =>
  createAwsAdapters({ environment, clock: systemClock, randomness: systemRandomness, log });
