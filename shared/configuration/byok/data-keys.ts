// Clear data keys in memory: unwrapped once, used for a few minutes, then overwritten. Without this every request on a
// stored connection would cost a call to the master key.

import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import { type Clock, within } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import { contextText, type KeyWrapper, type SealContext } from './key-wrapper.ts';

/** How long a connection may be used after the right to unwrap was taken away. */
export const dataKeyLifeMs = 300_000;
/** Connections an instance serves within that time; above it the one used longest ago is unwrapped again. */
export const dataKeysMax = 1_000;

export interface DataKeys {
  /**
   * Runs `work` with the clear key, which is overwritten some time after `work` returned: keep nothing of it. Throws
   * SealBroken, and StoreUnavailable where the master key cannot be asked within the time of a store call.
   */
  use<Value>(wrapped: Uint8Array, context: SealContext, work: (clear: Buffer) => Value): Promise<Value>;
}

interface Entry {
  /** A promise, so that callers at the same time share one call. */
  readonly key: Promise<Buffer>;
  readonly expiresAtMs: number;
  clear: Buffer | undefined;
  /** Calls between their start and their end: a key is never overwritten under one of them. */
  users: number;
  dropped: boolean;
}

export function createDataKeys({ wrapper, clock }: { wrapper: KeyWrapper; clock: Clock }): DataKeys {
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const entries = new Map<string, Entry>();

  function drop(id: string, entry: Entry): void {
    if (entries.get(id) === entry) entries.delete(id);
    entry.dropped = true;
    wipeUnused(entry);
  }

  /** At each use, not by a timer: one would keep a process alive, and would not run while a function sleeps. */
  function dropExpired(): void {
    for (const [id, entry] of entries) if (clock.nowMs() >= entry.expiresAtMs) drop(id, entry);
  }

  function begin(id: string, wrapped: Uint8Array, context: SealContext): Entry {
    const unwrapping = wrapper.unwrap(wrapped, context).then((clear) => {
      entry.clear = clear;
      // It may have come too late for everybody.
      wipeUnused(entry);
      return clear;
    });
    const key = within(clock, storeCallTimeoutMs, unwrapping, () => new StoreUnavailable('key wrapper timeout'));
    const expiresAtMs = clock.nowMs() + dataKeyLifeMs;
    const entry: Entry = { key, expiresAtMs, clear: undefined, users: 0, dropped: false };
    key.catch(() => drop(id, entry));
    return entry;
  }

  return {
    async use(wrapped, context, work) {
      dropExpired();
      // The context is part of the name: bytes that were moved find no key that was unwrapped for their former place.
      const id = sha256Hex(`${Buffer.from(wrapped).toString('base64')} ${contextText(context)}`);
      const entry = entries.get(id) ?? begin(id, wrapped, context);
      entry.users += 1;
      entries.delete(id);
      entries.set(id, entry);
      const [oldest] = entries;
      if (entries.size > dataKeysMax && oldest !== undefined) drop(...oldest);
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

function wipeUnused({ dropped, users, clear }: Entry): void {
  if (dropped && users === 0) clear?.fill(0);
}
