// The snapshot that all instances share: one item with the figures, and with the lease of the instance that makes the next ones.
import { packText, unpackText } from '../../storage/blobs/index.ts';
import { absent, and, atMost, equals, or, type Store } from '../../storage/store/index.ts';
import { snapshotKey } from './layout.ts';
import type { FigureTables } from './statistics.ts';

/** Longer than a rebuild may take (5 s) with its writes; a dead rebuilder costs the others this long. */
export const leaseMs = 10_000;
/** A snapshot is not served after a minute; the rest of its life is for operators who look back. */
const snapshotLifeSeconds = 60 * 60;

export interface StoredSnapshot {
  /** Undefined when it was never published, only leased. */
  readonly measuredAtMs: number | undefined;
  readonly leaseUntilMs: number;
  unpack(): Promise<FigureTables>;
}

interface SnapshotStore {
  read(): Promise<StoredSnapshot | undefined>;
  /**
   * Returns true for exactly one of the callers that saw the same snapshot, until its lease ends. Writes nothing while
   * a lease runs.
   */
  elect(seen: StoredSnapshot | undefined, owner: string, nowMs: number): Promise<boolean>;
  /** False: the lease was lost to another instance, and nothing was written. */
  publish(owner: string, measuredAtMs: number, tables: FigureTables): Promise<boolean>;
}

const secondsAfter = (nowMs: number): number => Math.ceil(nowMs / 1000) + snapshotLifeSeconds;

export function createSnapshotStore(store: Pick<Store, 'get' | 'put' | 'update'>): SnapshotStore {
  return {
    async read() {
      const item = await store.get('statistics', snapshotKey);
      if (item === undefined) return undefined;
      return {
        measuredAtMs: item.measured_at_ms as number | undefined,
        leaseUntilMs: (item.lease_until_ms as number | undefined) ?? 0,
        unpack: async () => {
          const json = await unpackText({ bytes: item.tables_gzip as Uint8Array });
          if (json === undefined) throw new Error('the stored statistics are damaged');
          return JSON.parse(json) as FigureTables;
        },
      };
    },

    async elect(seen, owner, nowMs) {
      if (seen !== undefined && seen.leaseUntilMs > nowMs) return false;
      // No instance holds a lease, and none has published since this reader looked.
      const isFree = or(absent('lease_until_ms'), atMost('lease_until_ms', nowMs));
      const isAsSeen = or(absent('measured_at_ms'), atMost('measured_at_ms', seen?.measuredAtMs ?? 0));
      const result = await store.update({
        table: 'statistics',
        key: snapshotKey,
        changes: {
          set: {
            lease_owner: owner,
            lease_until_ms: nowMs + leaseMs,
            expires_at_epoch_seconds: secondsAfter(nowMs),
          },
        },
        condition: and(isFree, isAsSeen),
        repeatable: true,
      });
      return result.kind === 'written' || result.item?.lease_owner === owner;
    },

    async publish(owner, measuredAtMs, tables) {
      // A whole new item: the lease ends with it.
      const result = await store.put({
        table: 'statistics',
        item: {
          pk: snapshotKey,
          measured_at_ms: measuredAtMs,
          tables_gzip: (await packText(JSON.stringify(tables))).bytes,
          expires_at_epoch_seconds: secondsAfter(measuredAtMs),
        },
        condition: equals('lease_owner', owner),
      });
      return result.kind === 'written';
    },
  };
}
