import { createIdempotencyStore, type StoredResult } from '../../shared/accounting/idempotency/index.ts';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { fingerprintNamed } from '../support/fingerprint.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

export const resultOf = (body: string, more: Partial<StoredResult> = {}): StoredResult => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-gw-model': 'acme/large-1' },
  body,
  ...more,
});

/** Returns a text that gzip cannot shorten below three quarters. */
export const incompressible = (length: number): string =>
  systemRandomness.bytes(length).toString('base64').slice(0, length);

/**
 * Returns functions for calls with one key: every `claim` is a call of its own, as another client or another try would
 * make it.
 */
export function keyScenario(
  store: Store,
  options: { blobs?: BlobStore; clock?: ManualClock; workspace?: string } = {},
) {
  const { blobs = memoryBlobs(), clock = manualClock(), workspace = 'team-a' } = options;
  const records = createIdempotencyStore({ store, blobs });
  const key = systemRandomness.uuid();
  let owners = 0;
  return {
    records,
    clock,
    key,
    newOwner: () => `owner-${++owners}`,
    claim: (owner: string, fingerprint = 'f', options?: Parameters<typeof records.claim>[1]) =>
      records.claim(
        {
          workspace,
          key,
          owner,
          fingerprint: fingerprintNamed(fingerprint),
          nowMs: clock.nowMs(),
          leaseUntilMs: clock.nowMs() + holdLifeMs,
        },
        options,
      ),
    complete: (owner: string, result: Parameters<typeof records.complete>[0]['result']) =>
      records.complete({ workspace, key, owner, result, nowMs: clock.nowMs() }),
    release: (owner: string) => records.release({ workspace, key, owner }),
  };
}

/** Returns a store whose repeatable writes are all sent twice, as after a lost answer. */
export const sendingTwice = (store: Store): Store => ({
  ...store,
  put: async (put, options) => {
    if (put.repeatable === true) await store.put(put, options);
    return store.put(put, options);
  },
  update: async (update, options) => {
    if (update.repeatable === true) await store.update(update, options);
    return store.update(update, options);
  },
});
