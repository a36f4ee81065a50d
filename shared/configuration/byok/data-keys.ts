// Caches clear data keys in memory. A key is unwrapped once, used for a few minutes, then overwritten. Without this
// every request with a stored connection would cost a call to the master key.

import { createCache } from '../../foundation/cache/index.ts';
import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import { contextText, type KeyWrapper, type SealContext } from './key-wrapper.ts';

/** Time for which a data key is used, and so for which a connection works after the right to unwrap was removed. */
const dataKeyLifeMs = 300_000;
/**
 * Maximum number of data keys: connections that an instance serves within that time. Above this number the key that was
 * used longest ago has to be unwrapped again.
 */
const dataKeysMax = 1_000;

interface DataKeys {
  /**
   * Runs `work` with the clear key. The key is overwritten some time after `work` has returned, so `work` must not
   * refer to it afterwards. Throws SealBroken, and StoreUnavailable if the master key does not answer within the time
   * of a store call.
   */
  use<Value>(wrapped: Uint8Array, context: SealContext, work: (clear: Buffer) => Value): Promise<Value>;
}

interface Entry {
  /** The key as a promise, so that callers at the same time share one call. */
  readonly key: Promise<Buffer>;
  clear: Buffer | undefined;
  /** Number of running calls, because a key is never overwritten during a call. */
  users: number;
  isDropped: boolean;
}

interface DataKeysOptions {
  readonly wrapper: KeyWrapper;
  readonly clock: Clock;
  /** Time limit of one call of the wrapper. */
  readonly callTimeoutMs?: number;
}

export function createDataKeys({ wrapper, clock, callTimeoutMs = storeCallTimeoutMs }: DataKeysOptions): DataKeys {
  const entries = createCache<Entry>({
    sizeMax: dataKeysMax,
    age: { freshMs: dataKeyLifeMs, clock },
    onDrop(entry) {
      entry.isDropped = true;
      wipeUnused(entry);
    },
  });

  function unwrap(id: string, wrapped: Uint8Array, context: SealContext): Entry {
    const unwrapping = wrapper.unwrap(wrapped, context).then((clear) => {
      entry.clear = clear;
      // The key may arrive after the last caller has stopped waiting.
      wipeUnused(entry);
      return clear;
    });
    const key = waitAtMost(clock, callTimeoutMs, unwrapping, () => {
      throw new StoreUnavailable('key wrapper timeout');
    });
    const entry: Entry = { key, clear: undefined, users: 0, isDropped: false };
    entries.set(id, entry);
    key.catch(() => {
      if (entries.peek(id) === entry) entries.delete(id);
    });
    return entry;
  }

  return {
    async use(wrapped, context, work) {
      // Expired keys are removed at each use, not by a timer, because a timer would keep a process running, and does
      // not run while a function is frozen.
      entries.purgeStale();
      // The context is part of the name, so that moved bytes do not find a key that was unwrapped for their former
      // place.
      const id = sha256Hex(`${Buffer.from(wrapped).toString('base64')} ${contextText(context)}`);
      const entry = entries.get(id) ?? unwrap(id, wrapped, context);
      entry.users += 1;
      try {
        return work(await entry.key);
      } catch (error) {
        throw error instanceof SealBroken || error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
      } finally {
        entry.users -= 1;
        wipeUnused(entry);
      }
    },
  };
}

function wipeUnused({ isDropped, users, clear }: Entry): void {
  if (isDropped && users === 0) clear?.fill(0);
}
