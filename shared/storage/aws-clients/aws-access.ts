// Finds the credentials, region and limits with which every SDK client is made.
import { fromNodeProviderChain } from '@aws-sdk/credential-providers';
import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import { readRegion } from '../../foundation/environment/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';

/**
 * Returns credentials; called for each signature. It caches them, and replaces the credentials of a role before they
 * expire.
 */
export type AwsCredentialProvider = ReturnType<typeof fromNodeProviderChain>;

export interface AwsAccess {
  readonly region: string;
  readonly credentials: AwsCredentialProvider;
  readonly connectTimeoutMs: number;
  /** Limit of one call with all its attempts, to any service. */
  readonly callTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Time limit for connecting. Inside a region connecting takes some 10 ms, or some 100 ms on a small function that was
 * just thawed.
 */
const connectTimeoutDefaultMs = 500;

/**
 * Returns the SDK's own chain: variables, profiles, single sign-on, containers. The build includes only variables and
 * containers in the bundles, because Lambda has nothing else.
 */
export const processCredentials = (): AwsCredentialProvider => fromNodeProviderChain();

/** Returns the access; options default to those of the process. Throws if nothing names a region. */
export const awsAccess = ({
  region = readRegion(),
  credentials = processCredentials(),
  connectTimeoutMs = connectTimeoutDefaultMs,
  callTimeoutMs = storeCallTimeoutMs,
  clock = systemClock,
}: Partial<AwsAccess> = {}): AwsAccess => ({ region, credentials, connectTimeoutMs, callTimeoutMs, clock });
