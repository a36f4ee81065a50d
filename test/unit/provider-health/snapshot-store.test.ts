import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { createStatisticsReader } from '../../../shared/accounting/provider-health/index.ts';
import { snapshotKey } from '../../../shared/accounting/provider-health/layout.ts';
import { createSnapshotStore, leaseMs } from '../../../shared/accounting/provider-health/snapshot-store.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { manualClock } from '../../support/manual-clock.ts';

let tables: TestStore;
beforeEach(async () => {
  tables = await startTestStore();
});
afterEach(() => tables.stop());

const nowMs = 1_800_000_000_000;
const figures = { medianLatencyMs: 100, medianFirstTokenMs: undefined, throughputRpm: 1, uptime: 1 };
const tablesOf = (name: string) => ({ models: { [name]: figures }, candidates: {} });

describe('the stored snapshot', () => {
  it('is not overwritten by a rebuilder that lost its lease', async () => {
    const snapshots = createSnapshotStore(tables.store);
    expect(await snapshots.elect(undefined, 'late', nowMs)).toBe(true);
    expect(await snapshots.elect(undefined, 'heir', nowMs + leaseMs)).toBe(true);
    expect(await snapshots.publish('heir', nowMs + leaseMs, tablesOf('heir'))).toBe(true);
    expect(await snapshots.publish('late', nowMs, tablesOf('late'))).toBe(false);
    const stored = await snapshots.read();
    expect(stored?.measuredAtMs).toBe(nowMs + leaseMs);
    expect(Object.keys((await stored?.unpack())?.models ?? {})).toEqual(['heir']);
  });

  it('elects no instance that looked before it was renewed', async () => {
    const snapshots = createSnapshotStore(tables.store);
    const seen = await snapshots.read();
    expect(await snapshots.elect(seen, 'first', nowMs)).toBe(true);
    expect(await snapshots.publish('first', nowMs, tablesOf('first'))).toBe(true);
    expect(await snapshots.elect(seen, 'second', nowMs + 1)).toBe(false);
    expect(await snapshots.elect(await snapshots.read(), 'third', nowMs + 30_000)).toBe(true);
  });

  it('that cannot be unpacked gives no data, and is replaced once it is too old to be served', async () => {
    const broken = { pk: snapshotKey, measured_at_ms: nowMs, tables_gzip: Buffer.from('broken') };
    await tables.store.put({ table: 'statistics', item: broken });
    const clock = manualClock(nowMs);
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const reader = createStatisticsReader({ store: tables.store, clock, onFailure });
    expect((await reader.current()).measuredAtMs).toBeUndefined();
    expect(failures).toHaveLength(1);
    clock.advance(60_001);
    expect((await reader.current()).measuredAtMs).toBe(nowMs + 60_001);
    expect(failures).toHaveLength(1);
  });
});
