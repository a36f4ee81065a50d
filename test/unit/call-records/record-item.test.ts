import { describe, expect, it } from '#jest';
import { recordOf, recordPut, shardCount } from '../../../shared/accounting/call-records/call-record-item.ts';
import {
  type CallRecord,
  callDocument,
  createCallRecords,
  csvLine,
} from '../../../shared/accounting/call-records/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { callRecord } from '../../support/call-record.ts';
import { manualClock } from '../../support/manual-clock.ts';

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
  unlistedModel: true,
  replayOf: 'r',
  content: { state: 'kept', keep: '30d', cut: true },
  attemptLog: [],
  firstOutputMs: 3,
  timeLine: [{ part: 'admission', startMs: 0, ms: 3 }],
  otherShares: [{ model: 'm', provider: 'p', promptTokens: 1, cachedTokens: 0, completionTokens: 1, costPicoUsd: 1n }],
});
const memberNames = Object.keys(everyMember) as (keyof CallRecord)[];

describe('the item of a call record', () => {
  it.each(memberNames)(
    'takes no object as %s: the record is refused without its words, or kept without them',
    (name) => {
      const body = { messages: [{ role: 'user', content: 'canary-prompt' }] };
      for (const value of [body, [body], ['canary-prompt is a sentence'], [['canary-prompt']]]) {
        let itemText: string;
        try {
          itemText = JSON.stringify(itemOf({ [name]: value }), (_member, each) =>
            typeof each === 'bigint' ? `${each}` : each,
          );
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          itemText = (error as Error).message;
        }
        expect(itemText).not.toContain('canary');
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

  it('keeps the units that a call was counted by, and of others nothing', () => {
    const units = { images: 2, seconds: 2.5 };
    expect(recordOf(itemOf({ units })).units).toEqual(units);
    expect(callDocument(recordOf(itemOf({ units }))).units).toEqual(units);
    const strange = { images: -1, seconds: Number.NaN, characters: 'canary', canary: 3, search_units: 1 };
    expect(recordOf(itemOf({ units: strange })).units).toEqual({ search_units: 1 });
    expect(itemOf({ units: {} })).not.toHaveProperty('units');
    expect(callDocument(recordOf(itemOf())).units).toBeNull();
    expect(csvLine(recordOf(itemOf({ units })))).toContain(',"images=2, seconds=2.5",');
  });

  it('keeps the attempts in their order, and of a strange one nothing but a mark', () => {
    const attemptLog = [
      { provider: 'globex', outcome: 'status_500', status: 500, ms: 12, model: 'acme/a:8b', providerText: 'Sorry: no' },
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

  it('keeps when its parts began, and of others nothing', () => {
    const timeLine = [
      { part: 'admission', startMs: 0, ms: 12 },
      { part: 'guardrail', at: 1, startMs: 2, ms: 7 },
      { part: 'attempt', at: 0, startMs: 14, ms: 230 },
    ];
    expect(recordOf(itemOf({ timeLine })).timeLine).toEqual(timeLine);
    // The clock was set back during the call.
    expect(recordOf(itemOf({ timeLine: [{ part: 'attempt', startMs: -4, ms: -1.2 }] })).timeLine).toEqual([
      { part: 'attempt', startMs: 0, ms: 0 },
    ]);
    const strange = [{ part: 'canary', startMs: 0, ms: 0 }, { part: 'attempt', startMs: 'canary', ms: 0 }, 'canary'];
    expect(itemOf({ timeLine: strange })).not.toHaveProperty('time_line');
    expect(itemOf()).not.toHaveProperty('time_line');
    const many = Array.from({ length: 200 }, (_one, at) => ({ part: 'attempt', at, startMs: 0, ms: 0 }));
    expect(recordOf(itemOf({ timeLine: many })).timeLine).toHaveLength(82);
  });

  it('gives the attempts that were stored before they held texts', () => {
    const storedItem = { ...itemOf(), attempt_log: 'globex:status_500:500:31 acme:ok:200:12 acme:connection::3' };
    expect(recordOf(storedItem as unknown as Parameters<typeof recordOf>[0]).attemptLog).toEqual([
      { provider: 'globex', outcome: 'status_500', status: 500, ms: 31 },
      { provider: 'acme', outcome: 'ok', status: 200, ms: 12 },
      { provider: 'acme', outcome: 'connection', ms: 3 },
    ]);
  });

  it('leaves flags out that most calls have, and gives them all the same, as those that former releases stored', () => {
    const flags = { stream: false, cacheHit: false, isByok: false, estimated: false };
    const item = itemOf(flags);
    for (const attribute of ['stream', 'cache_hit', 'is_byok', 'estimated']) expect(item).not.toHaveProperty(attribute);
    const former = { ...item, stream: false, cache_hit: false, is_byok: false, estimated: false };
    for (const storedItem of [item, former]) expect(recordOf(storedItem)).toMatchObject(flags);
    const others = { stream: true, cacheHit: true, isByok: true, estimated: true };
    expect(recordOf(itemOf(others))).toMatchObject(others);
  });

  it('has the attributes of former releases, and its document the fields that clients read', () => {
    const unusual = { ...everyMember, stream: true, cacheHit: true, isByok: true, estimated: true };
    expect(Object.keys(recordPut(unusual, 90).item).toSorted()).toEqual(
      (
        'arrived_at_ms attempt_causes attempt_log attempts base_path cache_hit cached_tokens completion_tokens content correlation_id ' +
        'cost_pico_usd cut_code error_message estimated execution_id expires_at_epoch_seconds first_output_ms format function_id ' +
        'gateway_ms interface is_byok key_id key_name left_out model model_asked other_shares outcome parent_span_id pk prompt_tokens provider ' +
        'queued_ms referer replay_of revision_id session_id sk span_id stream tags time_line title total_ms trace_id unlisted_model user workspace'
      ).split(' '),
    );
    expect(Object.keys(callDocument(everyMember))).toEqual(
      (
        'id execution_id workspace created_at outcome error_code model model_asked provider status error_message content replay_of ' +
        'attempts attempt_count interface format left_out guardrails blocked_by base_path function_id revision_id stream cache_hit is_byok prompt_tokens cached_tokens cache_write_tokens ' +
        'completion_tokens reasoning_tokens units estimated cost_usd total_ms first_output_ms queued_ms gateway_ms time_line key_name key_public_id user title ' +
        'referer tags trace_id span_id parent_span_id session_id'
      ).split(' '),
    );
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

  it('refuses a record without a required field, and names the field', () => {
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
    // Records of a busy workspace are spread over all shards.
    const places = Array.from({ length: 100 }, (_one, at) => itemOf({ executionId: `id-${at}` }).pk);
    expect(new Set(places).size).toBe(shardCount);
  });

  it('has the time of arrival in its keys if the id carries none', () => {
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

/**
 * Computes write units by DynamoDB's rule: names and texts in UTF-8, numbers by two digits a byte and at most 21, a
 * write unit per started KB.
 */
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
