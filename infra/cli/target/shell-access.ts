// Finds the AWS identity of the shell: a profile, a single sign-on, or variables. The SDK's complete credential chain
// looks for it; functions know only their variables.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { fromIni } from '@aws-sdk/credential-providers';
import { type AwsAccess, awsAccess, awsClientSettings } from '../../../shared/storage/aws-clients/index.ts';
import { checkPlace } from '../../cdk/check-settings.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { commandCallTimeoutMs, type StageTarget } from './target.ts';

export type ShellAccess = AwsAccess;

/** Time limit of a connection. From another continent a connection takes longer than a whole call of a function. */
const connectTimeoutMs = 5_000;

/**
 * Reads the identity. Throws the SDK's error if the shell names no region or cannot sign in, and an Error if the
 * settings of the stage name another account or region. Signing in may take seconds.
 */
export async function readShellAccess(target: StageTarget): Promise<ShellAccess> {
  const access = await signIn(target);
  const settings = stageSettings[target.stage];
  if (settings === undefined || (settings.account ?? settings.region) == null) return access;
  const { id: account } = await readAccount(access);
  checkPlace(target.stage, settings, { account, region: access.region });
  return access;
}

/** Signs in, whatever account and region the settings name. */
export async function signIn({ stage, profile, region }: StageTarget): Promise<ShellAccess> {
  // Any client of the SDK would do, because every client looks for both in the same places.
  const { config } = new SecretsManagerClient({
    // A profile that the command line names takes precedence over variables of the shell.
    ...(profile === undefined ? {} : { profile, credentials: fromIni({ profile }) }),
    ...(region === undefined ? {} : { region }),
  });
  await config.credentials();
  const credentials = () => config.credentials();
  const shellRegion = await config.region().catch((error: unknown) => {
    const stageRegion = stageSettings[stage]?.region;
    if (stageRegion == null) throw error;
    return stageRegion;
  });
  return awsAccess({ region: shellRegion, credentials, connectTimeoutMs, callTimeoutMs: commandCallTimeoutMs });
}

export interface ShellAccount {
  /** `aws`, or the name of another partition such as `aws-cn`. */
  readonly partition: string;
  readonly id: string;
}

/** Maximum size of the answer, which is an account id and the name of a role. */
const stsAnswerMaxBytes = 64 * 1024;

/** Reads the account. Every identity may make this request about itself, whatever its policies are. */
export async function readAccount(access: ShellAccess): Promise<ShellAccount> {
  const client = new STSClient(awsClientSettings(access, { socketsMax: 1, answerMaxBytes: stsAnswerMaxBytes }));
  try {
    const { Arn = '', Account = '' } = await client.send(new GetCallerIdentityCommand({}));
    return { partition: Arn.split(':')[1] ?? 'aws', id: Account };
  } finally {
    client.destroy();
  }
}
