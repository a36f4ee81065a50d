// A key wrapper that counts and that a test controls, and vaults that use it.
import { createKeyVault, type KeyWrapper, localKeyWrapper } from '../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { manualClock } from './manual-clock.ts';

export interface WatchedWrapper extends KeyWrapper {
  readonly unwraps: () => number;
  /** Every decrypted data key that was returned, as the same buffers. */
  readonly handedOut: Buffer[];
}

export function watchedWrapper(real: KeyWrapper = localKeyWrapper()): WatchedWrapper {
  const handedOut: Buffer[] = [];
  let unwraps = 0;
  return {
    isShared: real.isShared,
    handedOut,
    unwraps: () => unwraps,
    async createDataKey(context) {
      const created = await real.createDataKey(context);
      handedOut.push(created.clear);
      return created;
    },
    async unwrap(wrappedKey, context) {
      unwraps += 1;
      const clear = await real.unwrap(wrappedKey, context);
      handedOut.push(clear);
      return clear;
    },
  };
}

export const vaultOn = (wrapper: KeyWrapper = localKeyWrapper(), stage = 'test', clock: Clock = manualClock()) =>
  createKeyVault({ wrapper, stage, clock, randomness: systemRandomness });

export const place = { workspace: 'team-a', provider: 'acme' };
export const isWiped = (buffer: Buffer | undefined): boolean => buffer?.every((byte) => byte === 0) ?? false;
