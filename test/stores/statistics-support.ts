// Common parts of the suites of the live statistics: recorders and readers of separate instances, on one store.

import {
  createStatisticsReader,
  createStatisticsRecorder,
  type StatisticsRecorder,
} from '../../shared/accounting/provider-health/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import type { ManualClock } from '../support/manual-clock.ts';

/** 1,800,000,000 seconds are the start of a window of 15 minutes. */
export const windowStartMs = 1_800_000_000_000;
export const windowMs = 15 * 60_000;

export interface Instance {
  readonly store: Store;
  readonly clock: Clock;
}

export const recorderOf = ({ store, clock }: Instance) =>
  createStatisticsRecorder({ store, clock, randomness: systemRandomness });

export const readerOf = ({ store, clock }: Instance) => createStatisticsReader({ store, clock });

export type ObservedCall = Parameters<StatisticsRecorder['record']>[0];

export async function recordAll(instance: Instance, calls: readonly ObservedCall[]): Promise<void> {
  const recorder = recorderOf(instance);
  for (const call of calls) recorder.record(call);
  await recorder.flush();
}

/** Returns a clock with the test's time, on which short waits pass by themselves. */
export const withRealTimers = (clock: ManualClock): Clock => ({ nowMs: clock.nowMs, after: systemClock.after });

export type WatchedCall = 'get' | 'put' | 'update';

/** Returns a store that counts calls, and fails those that the test names. */
export function watchedStore(real: Store, fails: (call: WatchedCall, key: string) => boolean = () => false) {
  const calls: { call: WatchedCall; key: string }[] = [];
  const note = (call: WatchedCall, key: string) => {
    calls.push({ call, key });
    if (fails(call, key)) throw new StoreUnavailable('told to fail');
  };
  const store: Store = {
    ...real,
    async get(table, key, options) {
      note('get', key);
      return real.get(table, key, options);
    },
    async put(put, options) {
      note('put', String(put.item.pk));
      return real.put(put, options);
    },
    async update(update, options) {
      note('update', update.key);
      return real.update(update, options);
    },
  };
  const count = (call: WatchedCall, prefix: string) =>
    calls.filter((each) => each.call === call && each.key.startsWith(prefix)).length;
  return { store, count };
}
