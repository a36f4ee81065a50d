// Finding calls among records on a real engine: sort keys and partitions decide what a search reads.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CallRecord, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { type CallSearch, findCall, findCalls } from '../../shared/accounting/reports/index.ts';
import { systemRandomness, uuidv7 } from '../../shared/foundation/ids/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { callRecord } from '../support/call-record.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

const hourMs = 3_600_000;
const nowMs = Date.parse('2026-11-20T00:30:00Z');

let database: TestStore;
/** Reads of the records' table since the last search. */
let queries = 0;
let gets = 0;
let records: ReturnType<typeof createCallRecords>;
const atMinutes = [1, 5, 20, 50, 120, 600, 3_000, 9_000];
const idOf = (minutes: number, workspace: string) => `${workspace}-${minutes}`;

beforeAll(async () => {
  database = await startTestStore();
  const store: Store = {
    ...database.store,
    get(...args) {
      gets += 1;
      return database.store.get(...args);
    },
    query(...args) {
      queries += 1;
      return database.store.query(...args);
    },
  };
  records = createCallRecords({ store, clock: manualClock(nowMs) });
  for (const workspace of ['team', 'other']) {
    for (const minutes of atMinutes) await write(workspace, minutes, {});
  }
});
afterAll(() => database.stop());

async function write(workspace: string, minutes: number, more: Partial<CallRecord>) {
  const arrivedAtMs = nowMs - minutes * 60_000;
  await records.write(callRecord({ workspace, arrivedAtMs, executionId: idOf(minutes, workspace), ...more }));
}

const search = (more: Partial<CallSearch> = {}) => {
  queries = 0;
  const everything = { sinceMs: nowMs - 200 * hourMs, beforeMs: nowMs, limit: 100, matches: () => true };
  return findCalls({ records, workspaces: ['team'], ...everything, ...more });
};
const idsOf = (calls: readonly CallRecord[]) => calls.map(({ executionId }) => executionId);

describe('finding calls', () => {
  it('gives all of a time, newest first, over days and workspaces, and none of another workspace', async () => {
    expect(idsOf(await search())).toEqual(atMinutes.map((minutes) => idOf(minutes, 'team')));
    const both = await search({ workspaces: ['team', 'other'], limit: 4 });
    expect(idsOf(both)).toEqual(['team-1', 'other-1', 'team-5', 'other-5']);
  });

  it('leaves out what came before the one instant, and from the other on', async () => {
    const found = await search({ sinceMs: nowMs - 50 * 60_000, beforeMs: nowMs - 5 * 60_000 });
    expect(idsOf(found)).toEqual(['team-20', 'team-50']);
  });

  it('stops reading once the limit is reached', async () => {
    await search();
    const queriesForAll = queries;
    expect(idsOf(await search({ limit: 2 }))).toEqual(['team-1', 'team-5']);
    expect(queries).toBeLessThan(queriesForAll / 3);
  });

  it('keeps the newest where more match than are asked for, whatever order they are read in', async () => {
    const workspace = 'many';
    for (let second = 0; second < 40; second += 1) {
      await records.write(
        callRecord({
          workspace,
          arrivedAtMs: nowMs - second * 1_000,
          executionId: `call-${String(second).padStart(2, '0')}`,
        }),
      );
    }
    const found = await search({ workspaces: [workspace], limit: 3, beforeMs: nowMs + 1 });
    expect(idsOf(found)).toEqual(['call-00', 'call-01', 'call-02']);
  });

  it('gives only what matches, however far back it lies', async () => {
    expect(idsOf(await search({ limit: 1, matches: ({ executionId }) => executionId === 'team-9000' }))).toEqual([
      'team-9000',
    ]);
    expect(await search({ matches: () => false })).toEqual([]);
  });
});

describe('finding one call', () => {
  const scope = () => ({ records, workspaces: ['team', 'other'], sinceMs: nowMs - 200 * hourMs, beforeMs: nowMs });

  it('by a UUIDv7 is one read in each workspace, whatever workspace it is in and however it is written', async () => {
    const executionId = uuidv7(systemRandomness, nowMs - 100 * 60_000);
    await write('other', 101, { executionId });
    queries = 0;
    gets = 0;
    expect((await findCall(scope(), executionId))?.workspace).toBe('other');
    expect([gets, queries]).toEqual([2, 0]);
    expect((await findCall(scope(), executionId.toUpperCase()))?.executionId).toBe(executionId);
  });

  it('by any other id looks through all of the time, and of none gives none', async () => {
    const correlationId = systemRandomness.uuid();
    await write('team', 8_000, { correlationId, executionId: 'old' });
    expect((await findCall(scope(), correlationId))?.executionId).toBe('old');
    expect(await findCall(scope(), systemRandomness.uuid())).toBeUndefined();
    expect(await findCall(scope(), uuidv7(systemRandomness, 2 ** 48 - 1))).toBeUndefined();
  });
});
