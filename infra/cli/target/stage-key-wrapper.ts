// The KMS key of a stage, used with the credentials of the shell.
import { type KeyWrapper, kmsKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { connectionKeyAlias } from '../../cdk/resource-names.ts';
import type { ShellAccess } from './shell-access.ts';

/** Calls nothing yet. */
export async function stageKeyWrapper(access: ShellAccess, stage: string): Promise<KeyWrapper> {
  return kmsKeyWrapper({ access, randomness: systemRandomness, keyId: connectionKeyAlias(stage) });
}
