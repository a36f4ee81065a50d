// Key wrappers that open the real one no earlier than it is needed: most files hold no BYOK connection, and opening
// it makes a master key on this machine, or needs a right on the KMS key of a stage.
import type { KeyWrapper } from '../../../shared/configuration/byok/index.ts';

type Open = () => Promise<KeyWrapper>;

export function lazyKeyWrapper(open: Open): KeyWrapper {
  let opening: Promise<KeyWrapper> | undefined;
  const opened = () => {
    opening ??= open();
    return opening;
  };
  return {
    createDataKey: async (context) => (await opened()).createDataKey(context),
    unwrap: async (wrapped, context) => (await opened()).unwrap(wrapped, context),
  };
}
