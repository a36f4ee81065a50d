import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CallRecord, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { findCall, findCalls } from '../../shared/accounting/reports/index.ts';
import { systemRandomness, uuidv7 } from '../../shared/foundation/ids/index.ts';
import { type Item, type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { callRecord } from '../support/call-record.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import { sendingTwice } from './idempotency-fixtures.ts';

// The suite runs on a real engine, because no fake shows whose item blocks a repeated write and what a partition
// releases.
let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const day = '2026-11-20';
const dayMs = 24 * 60 * 60 * 1000;
const midnightMs = Date.parse(`${day}T00:00:00Z`);

/** Creates a workspace of its own, whose records are written and read at noon of the day. */
function scenario(options: { store?: Store; lifeDays?: number } = {}) {
  const { store = database.store, ...more } = options;
  const workspace = `team-${systemRandomness.uuid().slice(0, 8)}`;
  const clock = manualClock(midnightMs + dayMs / 2);
  const records = createCallRecords({ store, clock, ...more });
  return {
    clock,
    records,
    workspace,
    recordOf: (more: Partial<CallRecord> = {}): CallRecord =>
      callRecord({ workspace, executionId: systemRandomness.uuid(), arrivedAtMs: clock.nowMs(), ...more }),
    async read(of = day, workspaceRead = workspace): Promise<CallRecord[]> {
      const found: CallRecord[] = [];
      for await (const record of records.read(workspaceRead, of)) found.push(record);
      return found;
    },
    async items(): Promise<Item[]> {
      const found: Item[] = [];
      for await (const item of database.store.scan('records')) if (item.workspace === workspace) found.push(item);
      return found;
    },
  };
}

const ids = (records: readonly CallRecord[]): string[] => records.map(({ executionId }) => executionId).toSorted();

describe('a call record', () => {
  it('is read in part if no more is asked for, and is over when it is', async () => {
    const { clock, records, workspace, recordOf } = scenario({ lifeDays: 1 });
    await records.write(recordOf({ title: 'not asked for', outcome: 'ok', costPicoUsd: 7n }));
    const readPart = async () => {
      const found: unknown[] = [];
      const selection = { members: ['outcome', 'costPicoUsd', 'outcome', 'cutCode'] as const };
      for await (const part of records.read(workspace, day, selection)) found.push(part);
      return found;
    };
    const [part, ...others] = await readPart();
    expect(others).toEqual([]);
    expect(part).toMatchObject({ outcome: 'ok', costPicoUsd: 7n });
    for (const name of ['title', 'executionId', 'workspace', 'totalMs']) expect(part).not.toHaveProperty(name);
    clock.advance(dayMs);
    expect(await readPart()).toEqual([]);
  });

  it('is kept once, however often it is written and whichever answer was lost', async () => {
    const twice = scenario({ store: sendingTwice(database.store) });
    const record = twice.recordOf();
    for (let time = 1; time <= 3; time += 1) await twice.records.write(record);
    await Promise.all(Array.from({ length: 10 }, () => twice.records.write(record)));
    expect(await twice.read()).toEqual([record]);
    expect(await twice.items()).toHaveLength(1);
  });

  it('that is not written or read rejects for its writer or its reader', async () => {
    const down = () => {
      throw new StoreUnavailable('down');
    };
    const store = { ...database.store, batchPut: async () => down(), query: down };
    const { records, recordOf, read } = scenario({ store });
    await expect(records.write(recordOf())).rejects.toThrow(StoreUnavailable);
    await expect(read()).rejects.toThrow(StoreUnavailable);
  });

  it('goes with the others that end during a write: 101 calls at once are two writes', async () => {
    let writes = 0;
    const store: Store = {
      ...database.store,
      batchPut: (puts, options) => {
        writes += 1;
        return database.store.batchPut(puts, options);
      },
    };
    const { records, recordOf, read } = scenario({ store });
    const recordList = Array.from({ length: 101 }, () => recordOf());
    await Promise.all(recordList.map((record) => records.write(record)));
    expect(writes).toBe(2);
    expect(ids(await read())).toEqual(ids(recordList));
  });

  it('is found under the UTC day on which the call arrived, at both sides of midnight', async () => {
    const { records, recordOf, read } = scenario();
    const lastOfYesterday = recordOf({ arrivedAtMs: midnightMs - 1, totalMs: 30_000 });
    const first = recordOf({ arrivedAtMs: midnightMs });
    const last = recordOf({ arrivedAtMs: midnightMs + dayMs - 1 });
    const firstOfTomorrow = recordOf({ arrivedAtMs: midnightMs + dayMs });
    for (const record of [lastOfYesterday, first, last, firstOfTomorrow]) await records.write(record);
    expect(await read('2026-11-19')).toEqual([lastOfYesterday]);
    expect(ids(await read())).toEqual(ids([first, last]));
    expect(await read('2026-11-21')).toEqual([firstOfTomorrow]);
    expect(await read('2026-11-22')).toEqual([]);
  });

  it('is stored 90 days from the arrival unless a setting says otherwise, and not read after that although it is still there', async () => {
    for (const [options, days] of [[{}, 90] as const, [{ lifeDays: 7 }, 7] as const]) {
      const { clock, records, recordOf, read, items } = scenario(options);
      const record = recordOf();
      await records.write(record);
      const [item] = await items();
      expect(item?.expires_at_epoch_seconds).toBe((record.arrivedAtMs + days * dayMs) / 1000);
      clock.advance(days * dayMs - 1);
      expect(await read()).toEqual([record]);
      clock.advance(1);
      expect(await read()).toEqual([]);
      expect(await items()).toHaveLength(1);
    }
  });
});

describe('what is no day or no life', () => {
  it('is refused before the store is asked', async () => {
    const { records, workspace } = scenario();
    for (const wrong of ['2026-02-30', '2026-1-1', '20 Nov 2026', '', '2026-11-20T00:00:00Z']) {
      await expect(records.read(workspace, wrong)[Symbol.asyncIterator]().next()).rejects.toThrow(RangeError);
    }
    for (const lifeDays of [0, -1, 1.5, Number.NaN]) expect(() => scenario({ lifeDays })).toThrow(RangeError);
  });
});

// Searches for calls among records run on a real engine, because sort keys and partitions decide what a search reads.
const hourMs = 3_600_000;
const nowMs = Date.parse('2026-11-20T00:30:00Z');

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

const search = (more: Partial<Parameters<typeof findCalls>[0]> = {}) => {
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

  it('stops reading once the limit is reached', async () => {
    await search();
    const queriesForAll = queries;
    expect(idsOf(await search({ limit: 2 }))).toEqual(['team-1', 'team-5']);
    expect(queries).toBeLessThan(queriesForAll / 3);
  });

  it('keeps the newest if more match than are asked for, whatever order they are read in', async () => {
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
});

it('a search of calls finds only what matches, however far back it lies', async () => {
  expect(idsOf(await search({ limit: 1, matches: ({ executionId }) => executionId === 'team-9000' }))).toEqual([
    'team-9000',
  ]);
  expect(await search({ matches: () => false })).toEqual([]);
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
