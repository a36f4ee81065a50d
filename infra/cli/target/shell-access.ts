// The AWS identity of the shell: a profile, a single sign-on, variables. The SDK's whole credential chain looks for it;
// functions know only their variables.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Identity } from '../../../shared/storage/aws-calls/index.ts';

export interface ShellAccess {
  readonly region: string;
  readonly identity: Identity;
}

/** Throws the SDK's error where the shell names no region or cannot sign in. Signing in may take seconds. */
export async function readShellAccess(): Promise<ShellAccess> {
  // Any client of the SDK would do: each looks for both in the same places.
  const { config } = new SecretsManagerClient({});
  const region = await config.region();
  await config.credentials();
  return { region, identity: () => config.credentials() };
}
