// What seals the keys of BYOK connections.
import { type KeyWrapper, kmsKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { once } from '../../../shared/foundation/cache/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { connectionKeyAlias } from '../../cdk/resource-names.ts';
import type { ShellAccess } from './shell-access.ts';

/** The KMS key of a stage, used with the credentials of the shell. Calls nothing yet. */
export const stageKeyWrapper = (access: ShellAccess, stage: string): KeyWrapper =>
  kmsKeyWrapper({ access, randomness: systemRandomness, keyId: connectionKeyAlias(stage) });

/**
 * Opens the real one no earlier than it is needed: most files hold no BYOK connection, and opening it makes a master key
 * on this machine.
 */
export function lazyKeyWrapper(open: () => KeyWrapper): KeyWrapper {
  const wrapper = once(open);
  return {
    createDataKey: async (context) => wrapper().createDataKey(context),
    unwrap: async (wrapped, context) => wrapper().unwrap(wrapped, context),
  };
}
