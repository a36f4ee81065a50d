// Adapters of a deployed stage, built as the gateway builds them.
import { createAwsAdapters } from '../../../shared/composition/index.ts';
import { readEnvironment } from '../../../shared/foundation/environment/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import type { AwsCredentialProvider } from '../../../shared/storage/aws-clients/index.ts';

export const awsIdentity = {
  accessKeyId: 'AKIAEXAMPLEEXAMPLE00',
  secretAccessKey: 'exampleSecretAccessKey+0123456789/abcdefg',
  sessionToken: 'exampleSessionToken0123456789',
} as const;

export type TestStage = ReturnType<typeof createAwsAdapters> & { readonly lines: readonly string[] };

export interface TestStageOptions {
  readonly clock?: Clock;
  /** The default is a test identity; undefined means the credentials of the process. */
  readonly awsCredentials?: AwsCredentialProvider | undefined;
}

/** Returns the adapters. `named` are the GW_ variables of the function. */
export function testStage(variables: Readonly<Record<string, string>>, options: TestStageOptions = {}): TestStage {
  const { clock = systemClock } = options;
  const awsCredentials = 'awsCredentials' in options ? options.awsCredentials : async () => awsIdentity;
  const lines: string[] = [];
  const adapters = createAwsAdapters({
    environment: readEnvironment({ GW_STAGE: 'dev', AWS_REGION: 'eu-west-1', ...variables }),
    clock,
    randomness: { ...systemRandomness, fraction: () => 0 },
    log: createLog({ clock, write: (line) => lines.push(line) }),
    awsCredentials,
  });
  return { ...adapters, lines };
}
