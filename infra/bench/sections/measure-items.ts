// How large the items grow that every call writes: a write is billed, and a partition is filled, by the kilobyte.
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import { createCore, seed } from '../core/create-core.ts';
import { startCoreStore } from '../core/start-core-store.ts';
import { models, newKeys } from '../gateway-file.ts';
import { itemBytes } from '../item-bytes.ts';
import { jsonBody } from '../request-bodies.ts';

const tables = ['keys', 'ledger', 'limits', 'records', 'statistics'] as const;

/** The largest item of each table once nobody holds anything, after a call in each second of a minute. */
export type ItemSizes = Readonly<Record<(typeof tables)[number], number>>;

const secondsOfWindow = 62;

export async function measureItems(): Promise<ItemSizes> {
  const { store, stop } = await startCoreStore();
  try {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const core = createCore(store, clock);
    const keys = newKeys();
    await seed(core, keys);
    for (let second = 0; second < secondsOfWindow; second += 1) {
      // Not a whole second: offsets within it take their room too.
      aheadMs += 1_013;
      await core.call({ key: keys.limited, body: jsonBody(models.limited) });
    }
    const sizes: Record<string, number> = {};
    for (const table of tables) {
      for await (const item of store.scan(table)) sizes[table] = Math.max(sizes[table] ?? 0, itemBytes(item));
    }
    return sizes as ItemSizes;
  } finally {
    await stop();
  }
}
