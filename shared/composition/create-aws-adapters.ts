// What stands outside the store for a deployed stage: large results in S3, the master key in KMS, provider credentials
// in Secrets Manager. Each of them by itself is there when the environment names it, and absent otherwise.

import type { KeyWrapper } from '../configuration/byok/index.ts';
import { kmsKeyWrapper } from '../configuration/byok/index.ts';
import { storeCallTimeoutMs } from '../foundation/constants/index.ts';
import {
  type AwsEnvironment,
  type Environment,
  hasAwsCredentials,
  readAwsCredentials,
} from '../foundation/environment/index.ts';
import type { Randomness } from '../foundation/ids/index.ts';
import type { Log } from '../foundation/log/index.ts';
import type { Clock } from '../foundation/time/index.ts';
import type { CredentialSource } from '../routing/providers/index.ts';
import {
  type ProviderCredentials,
  providerCredentials,
  providerSecret,
  signedCredentials,
} from '../routing/providers/index.ts';
import { type AwsServiceOptions, awsOrigin, createAwsService, type Identity } from '../storage/aws-calls/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';
import { blobMaxBytes, s3Blobs } from '../storage/blobs/index.ts';
import { noBlobs, noKeyWrapper, variableCredentials } from './absent-adapters.ts';

/** Some megabytes at the pace of a small function. It stands between a whole answer and its end, so not longer. */
const blobCallTimeoutMs = 3_000;
/** A wrapped key, or an error. */
const kmsAnswerMaxBytes = 64 * 1024;
/** A secret is 64 KB at most; written as JSON inside JSON it may grow sixfold. */
const secretAnswerMaxBytes = 512 * 1024;

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
  /** Default: the credentials of the process. An operator's tool has others, from a profile for instance. */
  readonly identity?: Identity | undefined;
}

/** Calls nothing yet. */
export function createAwsAdapters(options: AwsAdaptersOptions): AwsAdapters {
  const { aws } = options.environment;
  if (aws === undefined) {
    return { wrapper: noKeyWrapper, blobs: noBlobs, credentials: signed(options, variableCredentials()) };
  }
  return {
    wrapper: wrapperOf(options, aws),
    blobs: blobsOf(options, aws),
    credentials: signed(options, credentialsOf(options, aws)),
  };
}

/** Providers that are called with a signature of the process, beside those that have a secret. */
const signed = (
  { clock, identity = ofTheProcess }: Pick<AwsAdaptersOptions, 'clock' | 'identity'>,
  source: CredentialSource,
): CredentialSource => signedCredentials({ source, identity, isAvailable: hasAwsCredentials, clock });

/** For a run outside AWS: what its own environment offers. */
export const localCredentials = (clock: Clock): CredentialSource => signed({ clock }, variableCredentials());

function wrapperOf(options: AwsAdaptersOptions, { region, byokKeyId, endpoints }: AwsEnvironment): KeyWrapper {
  if (byokKeyId === undefined) return noKeyWrapper;
  const origin = endpoints.kms ?? awsOrigin('kms', region);
  const limits = { limitMs: storeCallTimeoutMs, answerMaxBytes: kmsAnswerMaxBytes };
  return kmsKeyWrapper({ kms: serviceOf(options, { service: 'kms', origin, region, ...limits }), keyId: byokKeyId });
}

function blobsOf(options: AwsAdaptersOptions, { region, spillBucket, endpoints }: AwsEnvironment): BlobStore {
  if (spillBucket === undefined) return noBlobs;
  const origin = endpoints.s3 ?? awsOrigin(`${spillBucket}.s3`, region);
  const limits = { limitMs: blobCallTimeoutMs, answerMaxBytes: blobMaxBytes };
  const s3 = serviceOf(options, { service: 's3', origin, region, ...limits });
  return s3Blobs({ s3, pathPrefix: endpoints.s3 === undefined ? '' : `/${spillBucket}` });
}

function credentialsOf(options: AwsAdaptersOptions, aws: AwsEnvironment): ProviderCredentials {
  const { region, providerSecret: secretId, endpoints } = aws;
  if (secretId === undefined) return variableCredentials();
  const origin = endpoints.secretsManager ?? awsOrigin('secretsmanager', region);
  const limits = { limitMs: storeCallTimeoutMs, answerMaxBytes: secretAnswerMaxBytes };
  const secretsManager = serviceOf(options, { service: 'secretsmanager', origin, region, ...limits });
  const { clock, log } = options;
  return providerCredentials({ readSecret: providerSecret(secretsManager, secretId), clock, log });
}

type ServicePlace = Omit<AwsServiceOptions, 'identity' | 'clock' | 'randomness'>;

const serviceOf = ({ clock, randomness, identity = ofTheProcess }: AwsAdaptersOptions, place: ServicePlace) =>
  createAwsService({ ...place, clock, randomness, identity });

const ofTheProcess: Identity = async () => readAwsCredentials();
