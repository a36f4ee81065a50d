// The KMS key of a stage, used with the credentials of the shell.
import { createAwsAdapters } from '../../../shared/composition/index.ts';
import type { KeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { longTimeoutClock } from './long-timeout-clock.ts';
import type { ShellAccess } from './shell-access.ts';

/** Calls nothing yet. */
export async function stageKeyWrapper({ region, identity }: ShellAccess, stage: string): Promise<KeyWrapper> {
  // Not at the head of the file: it brings the CDK library, which most commands do without.
  const { connectionKeyAlias } = await import('../../cdk/data-stack.ts');
  const kms = process.env.AWS_ENDPOINT_URL_KMS;
  const { wrapper } = createAwsAdapters({
    environment: {
      stage,
      originSecretHashes: [],
      logLevel: 'silent',
      aws: {
        region,
        byokKeyId: connectionKeyAlias(stage),
        spillBucket: undefined,
        providerSecret: undefined,
        endpoints: { kms: kms === undefined ? undefined : new URL(kms), s3: undefined, secretsManager: undefined },
      },
    },
    clock: longTimeoutClock,
    randomness: systemRandomness,
    log: createLog({ clock: longTimeoutClock, level: 'silent' }),
    identity,
  });
  return wrapper;
}
