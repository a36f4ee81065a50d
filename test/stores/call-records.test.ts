import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { recordOf, recordPut, shardCount } from '../../shared/accounting/call-records/call-record-item.ts';
import { type CallRecord, callDocument, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { type CallSearch, findCall, findCalls } from '../../shared/accounting/reports/index.ts';
import { systemRandomness, uuidv7 } from '../../shared/foundation/ids/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { callRecord } from '../support/call-record.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';
import { sendingTwice } from './idempotency-fixtures.ts';

// On a real engine: who is in the way of a repeated write, and what a partition gives back, no fake can tell.
let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const day = '2026-11-20';
const dayMs = 24 * 60 * 60 * 1000;
const midnightMs = Date.parse(`${day}T00:00:00Z`);

/** A workspace of its own, whose records are written and read at noon of the day. */
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
  it('comes back as it was written, with what it holds and without what it lacks', async () => {
    const { records, recordOf, read } = scenario();
    const full = recordOf({
      keyName: 'ci',
      referer: 'https://app.example/chat',
      title: 'Café ☕',
      spanId: 'span-1',
      parentSpanId: 'span-0',
      sessionId: 'session',
      functionId: 'classify',
      revisionId: 'r2',
      outcome: 'cut',
      cutCode: 'request_deadline_exceeded',
      attempts: 3,
      attemptCauses: ['status_503', 'idle'],
      costPicoUsd: 10n ** 30n + 1n,
      firstOutputMs: 412,
    });
    const { modelServed, provider, firstOutputMs, ...refused } = recordOf({ outcome: 'rate_limited', costPicoUsd: 0n });
    for (const record of [full, refused]) await records.write(record);
    const found = await read();
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([full, refused]));
  });

  it('is read in part where no more is asked for, and is over when it is', async () => {
    const { clock, records, workspace, recordOf } = scenario({ lifeDays: 1 });
    await records.write(recordOf({ title: 'not asked for', outcome: 'ok', costPicoUsd: 7n }));
    const readPart = async () => {
      const found: unknown[] = [];
      const asked = { members: ['outcome', 'costPicoUsd', 'outcome', 'cutCode'] as const };
      for await (const part of records.read(workspace, day, asked)) found.push(part);
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
    const made = Array.from({ length: 101 }, () => recordOf());
    await Promise.all(made.map((record) => records.write(record)));
    expect(writes).toBe(2);
    expect(ids(await read())).toEqual(ids(made));
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

  it('is kept 90 days from the arrival unless told otherwise, and not read after that although it is still there', async () => {
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

// Finding calls among records on a real engine: sort keys and partitions decide what a search reads.
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
});

it('gives only what matches, however far back it lies', async () => {
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

describe('items', () => {
  const itemOf = (more: Record<string, unknown> = {}) =>
    recordPut({ ...callRecord(), ...more } as CallRecord, 90).item as Record<string, unknown>;

  const everyMember: CallRecord = callRecord({
    format: 'converse',
    leftOut: ['metadata', 'tools.web_search'],
    keyName: 'ci',
    referer: 'r',
    title: 't',
    tags: { team: 'search' },
    spanId: 's',
    parentSpanId: 'p',
    sessionId: 's',
    functionId: 'f',
    revisionId: 'r',
    cutCode: 'no_available_provider',
    user: 'u',
    errorMessage: 'e',
    replayOf: 'r',
    attemptLog: [],
    firstOutputMs: 3,
    otherShares: [
      { model: 'm', provider: 'p', promptTokens: 1, cachedTokens: 0, completionTokens: 1, costPicoUsd: 1n },
    ],
  });
  const memberNames = Object.keys(everyMember) as (keyof CallRecord)[];

  const isScalar = (value: unknown): boolean => ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

  describe('the item of a call record', () => {
    it('holds nothing but scalars, whatever is passed off as a member', () => {
      const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true });
      fc.assert(
        fc.property(fc.constantFrom(...memberNames), anything, (name, value) => {
          const item = attemptOr(() => itemOf({ [name]: value }), TypeError);
          if (item !== undefined) expect(Object.values(item).every(isScalar)).toBe(true);
        }),
        { numRuns: 500 },
      );
    });

    it.each(memberNames)(
      'takes no object as %s: the record is refused without its words, or kept without them',
      (name) => {
        const body = { messages: [{ role: 'user', content: 'canary-prompt' }] };
        for (const value of [body, [body], ['canary-prompt is a sentence'], [['canary-prompt']]]) {
          let seen: string;
          try {
            seen = JSON.stringify(itemOf({ [name]: value }), (_member, each) =>
              typeof each === 'bigint' ? `${each}` : each,
            );
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError);
            seen = (error as Error).message;
          }
          expect(seen).not.toContain('canary');
        }
      },
    );

    it('keeps tags, and of what is none nothing', () => {
      const tags = { team: 'search', 'cost.center': '4711', constructor: 'a' };
      expect(recordOf(itemOf({ tags })).tags).toEqual(tags);
      expect(itemOf({ tags }).tags).toBe('constructor=a,cost.center=4711,team=search');
      const strange = { Team: 'a', run: 'a,b', feature: 'a=b', empty: '', list: ['a'], key: 'sk-0123456789abcdef0' };
      expect(recordOf(itemOf({ tags: strange })).tags).toEqual({ key: 'sk-…' });
      expect(recordOf(itemOf({ tags: {} })).tags).toBeUndefined();
      const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`t${at}`, 'v']));
      expect(Object.keys(recordOf(itemOf({ tags: many })).tags ?? {})).toHaveLength(16);
    });

    it('keeps the attempts in their order, and of a strange one nothing but a mark', () => {
      const attemptLog = [
        {
          provider: 'globex',
          outcome: 'status_500',
          status: 500,
          ms: 12,
          model: 'acme/a:8b',
          providerText: 'Sorry: no',
        },
        { provider: 'my-own.ai', outcome: 'connection', ms: 3 },
        { provider: 'acme', outcome: 'ok', status: 200, ms: 0 },
      ];
      expect(recordOf(itemOf({ attemptLog })).attemptLog).toEqual(attemptLog);
      expect(recordOf(itemOf({ attemptLog: [] })).attemptLog).toEqual([]);
      expect(recordOf(itemOf()).attemptLog).toBeUndefined();
      const strange = [
        { provider: 'acme', outcome: 'canary: a sentence', ms: 1.4 },
        { outcome: 'ok', ms: 1 },
        'canary',
        null,
      ];
      expect(recordOf(itemOf({ attemptLog: strange })).attemptLog).toEqual([
        { provider: 'acme', outcome: 'unnamed', ms: 1 },
      ]);
      const keyed = [{ provider: 'acme', outcome: 'timeout', ms: 1, providerText: 'it was sk-gw-0123456789abcdef-0' }];
      expect(JSON.stringify(itemOf({ attemptLog: keyed }).attempt_log)).not.toContain('0123456789abcdef');
      const many = Array.from({ length: 100 }, () => ({ provider: 'acme', outcome: 'timeout', ms: 1 }));
      expect(recordOf(itemOf({ attemptLog: many })).attemptLog).toHaveLength(16);
    });

    it('gives the attempts that were stored before they held texts', () => {
      const stored = { ...itemOf(), attempt_log: 'globex:status_500:500:31 acme:ok:200:12 acme:connection::3' };
      expect(recordOf(stored as unknown as Parameters<typeof recordOf>[0]).attemptLog).toEqual([
        { provider: 'globex', outcome: 'status_500', status: 500, ms: 31 },
        { provider: 'acme', outcome: 'ok', status: 200, ms: 12 },
        { provider: 'acme', outcome: 'connection', ms: 3 },
      ]);
    });

    it('leaves flags out that most calls have, and gives them all the same, as those that former releases stored', () => {
      const flags = { stream: false, cacheHit: false, isByok: false, estimated: false };
      const item = itemOf(flags);
      for (const attribute of ['stream', 'cache_hit', 'is_byok', 'estimated'])
        expect(item).not.toHaveProperty(attribute);
      const former = { ...item, stream: false, cache_hit: false, is_byok: false, estimated: false };
      for (const stored of [item, former]) expect(recordOf(stored)).toMatchObject(flags);
      const others = { stream: true, cacheHit: true, isByok: true, estimated: true };
      expect(recordOf(itemOf(others))).toMatchObject(others);
    });

    it('has the attributes of former releases, and its document the members that clients read', () => {
      const unusual = { ...everyMember, stream: true, cacheHit: true, isByok: true, estimated: true };
      expect(Object.keys(recordPut(unusual, 90).item).toSorted()).toEqual(
        (
          'arrived_at_ms attempt_causes attempt_log attempts base_path cache_hit cached_tokens completion_tokens correlation_id ' +
          'cost_pico_usd cut_code error_message estimated execution_id expires_at_epoch_seconds first_output_ms format function_id ' +
          'gateway_ms interface is_byok key_id key_name left_out model model_asked other_shares outcome parent_span_id pk prompt_tokens provider ' +
          'queued_ms referer replay_of revision_id session_id sk span_id stream tags title total_ms trace_id user workspace'
        ).split(' '),
      );
      expect(Object.keys(callDocument(everyMember))).toEqual(
        (
          'id execution_id workspace created_at outcome error_code model model_asked provider status error_message replay_of ' +
          'attempts attempt_count interface format left_out base_path function_id revision_id stream cache_hit is_byok prompt_tokens cached_tokens cache_write_tokens ' +
          'completion_tokens reasoning_tokens estimated cost_usd total_ms first_output_ms queued_ms gateway_ms key_name key_public_id user title ' +
          'referer tags trace_id span_id parent_span_id session_id'
        ).split(' '),
      );
    });

    it('has no attribute for a member that is not in the table', () => {
      expect(itemOf({ messages: 'canary', authorization: 'canary', answer: 'canary' })).toEqual(itemOf());
    });

    it('keeps no key and no credential that a client put into its texts', () => {
      const ours = 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM';
      for (const name of ['title', 'sessionId', 'spanId', 'traceId', 'keyName', 'referer', 'modelAsked']) {
        for (const value of [ours, `x ${ours} y`, 'sk-proj-abcdefghijklmnop0123']) {
          expect(JSON.stringify(Object.values(itemOf({ [name]: value })).map(String))).not.toMatch(/sk-(gw|proj)/);
        }
      }
      const referer = 'https://user:password@app.example/chat/1?token=canary#canary';
      expect(itemOf({ referer }).referer).toBe('https://app.example/chat/1');
      expect(itemOf({ referer: 'https://app.example/@team' }).referer).toBe('https://app.example/@team');
    });

    it('bounds every text that a client can make long, and keeps it well-formed', () => {
      const endless = '😀'.repeat(100_000);
      const item = itemOf({ referer: endless, title: `x${endless}`, sessionId: endless, spanId: endless });
      expect([item.referer, item.title, item.session_id, item.span_id].map((text) => String(text).length)).toEqual([
        512, 512, 256, 128,
      ]);
      expect(Object.values(item).every((value) => typeof value !== 'string' || value.isWellFormed())).toBe(true);
    });

    it('refuses a record without a required member, and names the member', () => {
      for (const [name, value] of [
        ['workspace', 'team#a'],
        ['executionId', ''],
        ['arrivedAtMs', 1.5],
        ['arrivedAtMs', 253_402_300_800_000],
        ['promptTokens', -1],
        ['costPicoUsd', 5],
        ['costPicoUsd', -5n],
        ['outcome', 'fine'],
        ['attempts', undefined],
      ] as const) {
        expect(() => itemOf({ [name]: value })).toThrow(TypeError);
        expect(() => itemOf({ [name]: value })).toThrow(name);
      }
    });

    it('keeps whole milliseconds, and none of a clock that was set back', () => {
      const item = itemOf({ queuedMs: -3, gatewayMs: 12.6, totalMs: 1e300, firstOutputMs: Number.NaN });
      expect(item).toMatchObject({ queued_ms: 0, gateway_ms: 13 });
      expect(Number.isSafeInteger(item.total_ms)).toBe(true);
      expect(item).not.toHaveProperty('first_output_ms');
    });

    it('has keys that follow from the execution id alone, in the order of its time within a shard', () => {
      const item = itemOf();
      expect(item.pk).toMatch(/^team-a#2025-11-20#[0-7]$/);
      expect(item.sk).toBe('2025-11-20T15:46:54.622Z#019aa1f2-7c1e-7d57-9a53-0d5b7c2f9e11');
      expect(itemOf({ arrivedAtMs: 1 })).toMatchObject({ pk: item.pk, sk: item.sk });
      expect(itemOf({ outcome: 'internal_error', costPicoUsd: 0n })).toMatchObject({ pk: item.pk, sk: item.sk });
      // Those of a busy workspace lie in all shards.
      const places = Array.from({ length: 100 }, (_one, at) => itemOf({ executionId: `id-${at}` }).pk);
      expect(new Set(places).size).toBe(shardCount);
    });

    it('has the time of arrival in its keys where the id carries none', () => {
      const item = itemOf({ executionId: 'an-id' });
      expect(item.pk).toMatch(/^team-a#2026-11-20#[0-7]$/);
      expect(item.sk).toBe('2026-11-20T12:00:00.123Z#an-id');
    });

    it('costs one write unit with ids of usual length, and thirty at most, with every text at its bound', () => {
      const usual = itemOf({
        keyName: 'ci',
        spanId: '00f067aa0ba902b7',
        sessionId: '6f1c1c0e-3a57-4a56-8a53-0d5b7c2f9e11',
        referer: 'https://app.example/chat',
        title: 'Example app',
      });
      expect(writeUnitsOf(usual)).toBe(1);
      const long = '€'.repeat(512);
      const names = ['keyName', 'referer', 'title', 'traceId', 'spanId', 'parentSpanId', 'sessionId', 'modelAsked'];
      const attemptCauses = Array.from({ length: 100 }, () => 'a'.repeat(40));
      const longest = itemOf({
        ...Object.fromEntries(names.map((name) => [name, long])),
        ...Object.fromEntries(
          ['workspace', 'executionId', 'functionId', 'revisionId'].map((name) => [name, 'a'.repeat(64)]),
        ),
        ...{ modelServed: long, provider: long, attemptCauses, cutCode: 'execution_deadline_exceeded' },
        errorMessage: long,
        attemptLog: Array(100).fill({ provider: 'a', outcome: 'timeout', ms: 1, model: long, providerText: long }),
        ...{ costPicoUsd: 10n ** 38n - 1n, promptTokens: Number.MAX_SAFE_INTEGER },
      });
      expect(writeUnitsOf(longest)).toBe(30);
    });
  });

  function attemptOr<Value>(action: () => Value, expected: new (message: string) => Error): Value | undefined {
    try {
      return action();
    } catch (error) {
      expect(error).toBeInstanceOf(expected);
      return undefined;
    }
  }

  /** DynamoDB's rule: names and texts in UTF-8, numbers by two digits a byte and at most 21, a write unit per KB begun. */
  const writeUnitsOf = (item: Record<string, unknown>): number =>
    Math.ceil(
      Object.entries(item)
        .map(([name, value]) => Buffer.byteLength(name) + sizeOf(value))
        .reduce((sum, size) => sum + size, 0) / 1024,
    );

  const sizeOf = (value: unknown): number => {
    if (typeof value === 'boolean') return 1;
    return typeof value === 'string' ? Buffer.byteLength(value) : Math.min(21, Math.ceil(String(value).length / 2) + 1);
  };

  it('the records of a day are read from two of its partitions at a time, each of them once', async () => {
    const read: string[] = [];
    let [running, most] = [0, 0];
    const query: Store['query'] = async function* (_table, partition) {
      running += 1;
      most = Math.max(most, running);
      await nextTurn();
      read.push(partition);
      yield itemOf();
      running -= 1;
    };
    const records = createCallRecords({ store: { query } as Store, clock: manualClock(callRecord().arrivedAtMs) });
    let count = 0;
    for await (const _record of records.read('team', '2026-11-20')) count += 1;
    expect([most, count, new Set(read).size]).toEqual([2, shardCount, shardCount]);
  });
});
