// The AWS identity of the shell: a profile, a single sign-on, variables. The SDK's whole credential chain looks for it;
// functions know only their variables.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { fromIni } from '@aws-sdk/credential-providers';
import { type AwsAccess, awsAccess, awsClientSettings } from '../../../shared/storage/aws-clients/index.ts';
import { longTimeoutClock } from './long-timeout-clock.ts';
import type { StageTarget } from './target.ts';

export type ShellAccess = AwsAccess;

/** From another continent a connection takes longer than a whole call of a function. */
const connectTimeoutMs = 5_000;

/** Throws the SDK's error where the shell names no region or cannot sign in. Signing in may take seconds. */
export async function readShellAccess({ profile, region }: Omit<StageTarget, 'kind' | 'stage'>): Promise<ShellAccess> {
  // Any client of the SDK would do: each looks for both in the same places.
  const { config } = new SecretsManagerClient({
    // A profile that the line names counts more than variables of the shell.
    ...(profile === undefined ? {} : { profile, credentials: fromIni({ profile }) }),
    ...(region === undefined ? {} : { region }),
  });
  await config.credentials();
  const credentials = () => config.credentials();
  return awsAccess({ region: await config.region(), credentials, connectTimeoutMs, clock: longTimeoutClock });
}

export interface AwsAccount {
  /** `aws`, or that of another part of AWS such as `aws-cn`. */
  readonly partition: string;
  readonly id: string;
}

/** An account id and the name of a role. */
const stsAnswerMaxBytes = 64 * 1024;

/** Any identity may ask this of itself, whatever its policies say. */
export async function readAccount(access: ShellAccess): Promise<AwsAccount> {
  const client = new STSClient(awsClientSettings(access, { socketsMax: 1, answerMaxBytes: stsAnswerMaxBytes }));
  try {
    const { Arn = '', Account = '' } = await client.send(new GetCallerIdentityCommand({}));
    return { partition: Arn.split(':')[1] ?? 'aws', id: Account };
  } finally {
    client.destroy();
  }
}
