// The AWS identity of the shell: a profile, a single sign-on, variables. The SDK's whole credential chain looks for it;
// functions know only their variables.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { fromIni } from '@aws-sdk/credential-providers';
import type { Identity } from '../../../shared/storage/aws-calls/index.ts';
import type { StageTarget } from './target.ts';

export interface ShellAccess {
  readonly region: string;
  readonly identity: Identity;
}

/** Throws the SDK's error where the shell names no region or cannot sign in. Signing in may take seconds. */
export async function readShellAccess({ profile, region }: Omit<StageTarget, 'kind' | 'stage'>): Promise<ShellAccess> {
  // Any client of the SDK would do: each looks for both in the same places.
  const { config } = new SecretsManagerClient({
    // A profile that the line names counts more than variables of the shell.
    ...(profile === undefined ? {} : { profile, credentials: fromIni({ profile }) }),
    ...(region === undefined ? {} : { region }),
  });
  await config.credentials();
  return { region: await config.region(), identity: () => config.credentials() };
}

export interface AwsAccount {
  /** `aws`, or that of another part of AWS such as `aws-cn`. */
  readonly partition: string;
  readonly id: string;
}

const stsTimeoutMs = 10_000;

/** Any identity may ask this of itself, whatever its policies say. */
export async function readAccount({ region, identity }: ShellAccess): Promise<AwsAccount> {
  const timeouts = { connectionTimeout: stsTimeoutMs, requestTimeout: stsTimeoutMs, throwOnRequestTimeout: true };
  const client = new STSClient({ region, credentials: identity, requestHandler: timeouts });
  try {
    const { Arn = '', Account = '' } = await client.send(new GetCallerIdentityCommand({}));
    return { partition: Arn.split(':')[1] ?? 'aws', id: Account };
  } finally {
    client.destroy();
  }
}
