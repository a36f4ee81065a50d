// What every first call needs, read while the module loads: Lambda gives that phase a whole processor, and a call of a
// small function a fraction of one. It also opens the first connections to the store.
import { settledWithin } from '../foundation/time/index.ts';
import type { Runtime } from './create-runtime.ts';

/** Longer than the reads with their own limits, two of them one after the other, and far below Lambda's ten seconds. */
const warmStartMaxMs = 2_000;

/** Never rejects: a failure is forgotten, and the first call reads again. */
export async function warmStart({
  clock,
  catalogue,
  credentials,
  cooldowns,
}: Pick<Runtime, 'clock' | 'catalogue' | 'credentials' | 'cooldowns'>): Promise<void> {
  const reads = Promise.allSettled([catalogue.current(), credentials.warm(), cooldowns.refresh()]);
  await settledWithin(clock, warmStartMaxMs, reads);
}
