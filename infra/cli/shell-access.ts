// Region and credentials of the shell: a profile, a single sign-on, variables. Found by the SDK's whole chain.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type AwsAccess, awsAccess, processCredentials } from '../../shared/storage/aws-clients/index.ts';
import { operatorClock } from './operator-clock.ts';

export type ShellAccess = AwsAccess;

/** From another continent a connection takes longer than the whole call of a function. */
const connectTimeoutMs = 5_000;

/** Throws the SDK's error where the shell names no region or cannot sign in. Signing in may take seconds. */
export async function readShellAccess(): Promise<ShellAccess> {
  // Any client of the SDK would do: each looks for the region in the same places.
  const region = await new SecretsManagerClient({}).config.region();
  const credentials = processCredentials();
  await credentials();
  return awsAccess({ region, credentials, connectTimeoutMs, clock: operatorClock });
}
