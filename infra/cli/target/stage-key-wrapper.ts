// The KMS key of a stage, used with the credentials of the shell.
import { type KeyWrapper, kmsKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import type { ShellAccess } from './shell-access.ts';

/** Calls nothing yet. */
export async function stageKeyWrapper(access: ShellAccess, stage: string): Promise<KeyWrapper> {
  // Not at the head of the file: it brings the CDK library, which most commands do without.
  const { connectionKeyAlias } = await import('../../cdk/data-stack.ts');
  return kmsKeyWrapper({ access, randomness: systemRandomness, keyId: connectionKeyAlias(stage) });
}
