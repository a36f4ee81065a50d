// Describes the account of the emulator, and the environment of its clients. Nothing of this machine's own AWS
// configuration is used, because a command that lost its endpoint must not reach a real account.
import { join } from 'node:path';

export const account = '000000000000';
export const region = 'us-east-1';
export const otherRegion = 'eu-west-1';
export const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

export const accountVariables = (
  emulatorUrl: string,
  inRegion: string,
  folder: string,
): Record<string, string | undefined> => ({
  AWS_ENDPOINT_URL: emulatorUrl,
  AWS_REGION: inRegion,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_PROFILE: undefined,
  AWS_SESSION_TOKEN: undefined,
  AWS_CONFIG_FILE: join(folder, 'no-such-file'),
  AWS_SHARED_CREDENTIALS_FILE: join(folder, 'no-such-file'),
  AWS_EC2_METADATA_DISABLED: 'true',
  CDK_DISABLE_CLI_TELEMETRY: '1',
});
