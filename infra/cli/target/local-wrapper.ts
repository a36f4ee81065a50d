// Encrypts BYOK keys with the master key of this machine. In a file of its own: both files that open a store need it.
import { type KeyWrapper, localKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { once } from '../../../shared/foundation/cache/index.ts';

/** Encrypts the keys of BYOK connections. */
export const localWrapper = (folder: string | undefined, makesKey: boolean): KeyWrapper =>
  lazyKeyWrapper(() => localKeyWrapper({ folder, makesKey }));

/**
 * Opens the real one on first use: most files have no BYOK connection, and opening it creates a master key on this
 * machine.
 */
function lazyKeyWrapper(open: () => KeyWrapper): KeyWrapper {
  const wrapper = once(open);
  return {
    isShared: false,
    createDataKey: async (context) => wrapper().createDataKey(context),
    unwrap: async (wrapped, context) => wrapper().unwrap(wrapped, context),
  };
}
