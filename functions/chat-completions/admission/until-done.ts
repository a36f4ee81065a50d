// What is written after the last byte, settled or given back, is tried again while the store is away: nobody waits for
// it, and nobody else will write it.

import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';

/** All within what an adapter gives to `finish` (10 s), for calls to the store that end within its 800 ms. */
const triesDefault = 5;
const firstPauseMs = 50;

/** For writes that do no harm when they are made twice. Throws the last StoreUnavailable, and any other error at once. */
export async function untilDone(
  clock: Clock,
  write: () => Promise<unknown>,
  triesMax: number = triesDefault,
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tried >= triesMax) throw error;
      await sleep(clock, firstPauseMs * 2 ** tried);
    }
  }
}
