// Who calls AWS, and from where: what every client of the SDK is made with.
import { fromNodeProviderChain } from '@aws-sdk/credential-providers';
import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import { readRegion } from '../../foundation/environment/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';

/** Asked for each signature. Remembers credentials, and replaces those of a role before they expire. */
export type AwsCredentialProvider = ReturnType<typeof fromNodeProviderChain>;

export interface AwsAccess {
  readonly region: string;
  readonly credentials: AwsCredentialProvider;
  readonly connectTimeoutMs: number;
  /** Of one call with all its attempts, to whatever service. */
  readonly callTimeoutMs: number;
  readonly clock: Clock;
}

/** Inside a region it takes some 10 ms, on a small function that has just been thawed ten times that. */
const connectTimeoutDefaultMs = 500;

/**
 * The SDK's own chain: variables, profiles, single sign-on, containers. The build leaves variables and containers of it
 * in the bundles: Lambda has nothing else.
 */
export const processCredentials = (): AwsCredentialProvider => fromNodeProviderChain();

/** What is left out is that of the process. Throws where nothing names a region. */
export const awsAccess = ({
  region = readRegion(),
  credentials = processCredentials(),
  connectTimeoutMs = connectTimeoutDefaultMs,
  callTimeoutMs = storeCallTimeoutMs,
  clock = systemClock,
}: Partial<AwsAccess> = {}): AwsAccess => ({ region, credentials, connectTimeoutMs, callTimeoutMs, clock });
