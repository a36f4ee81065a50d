import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createSpanStore, type SpanClaim } from '../../shared/accounting/idempotency/index.ts';
import { sha256Hex, systemRandomness } from '../../shared/foundation/ids/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { fingerprintNamed } from '../support/fingerprint.ts';
import { manualClock } from '../support/manual-clock.ts';
import { sendingTwice } from './idempotency-fixtures.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const hourMs = 60 * 60 * 1000;
const lifeMs = 30 * 24 * 60 * 60 * 1000;

function spanScenario(store: Store = database.store) {
  const clock = manualClock();
  const spans = createSpanStore(store, clock);
  const common = { workspace: 'team-a', spanId: `span:${systemRandomness.uuid()}` };
  let owners = 0;
  return {
    clock,
    spanId: common.spanId,
    /** Of a new call each time, with inputs of its own unless told otherwise. */
    claim: async ({
      fingerprint: inputs,
      ...more
    }: Partial<Omit<SpanClaim, 'fingerprint'>> & { fingerprint?: string } = {}) => {
      owners += 1;
      const owner = `owner-${owners}`;
      const claim = {
        ...common,
        owner,
        fingerprint: fingerprintNamed(inputs ?? `f-${owners}`),
        nowMs: clock.nowMs(),
        ...more,
      };
      return (await spans.claim(claim)).kind;
    },
    release: (owner: string) => spans.release({ ...common, owner }),
    withdraw: (owner: string) => spans.withdraw({ ...common, owner }),
  };
}

const ten = <Value>(make: () => Promise<Value>): Promise<Value[]> => Promise.all(Array.from({ length: 10 }, make));

describe('a span id', () => {
  it('that many calls of a process bring at once is asked for once or twice, and one of them has it', async () => {
    let puts = 0;
    const span = spanScenario({
      ...database.store,
      put: (...asked) => {
        puts += 1;
        return database.store.put(...asked);
      },
    });
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => span.claim()));
    expect(outcomes.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(puts).toBeLessThanOrEqual(2);
    await span.release('owner-1');
    const again = await Promise.all(Array.from({ length: 200 }, () => span.claim({ fingerprint: 'f-1' })));
    expect(again.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(puts).toBeLessThanOrEqual(4);
  });

  it('is free again after 30 days although the item is still there, and not a moment earlier', async () => {
    const span = spanScenario();
    await span.claim();
    span.clock.advance(lifeMs - 1);
    expect(await span.claim()).toBe('duplicate');
    span.clock.advance(1);
    expect((await ten(span.claim)).toSorted()).toEqual(['claimed', ...Array(9).fill('duplicate')]);
  });

  it('whose claim is sent twice is claimed by its own call', async () => {
    const span = spanScenario(sendingTwice(database.store));
    expect(await span.claim()).toBe('claimed');
    expect(await span.claim()).toBe('duplicate');
  });

  it('and its Idempotency-Key are in no table: only their hashes', async () => {
    const span = spanScenario();
    await span.claim({ idempotencyKey: 'canary-key-4711' });
    const dump = await database.dumpTables();
    expect(dump).not.toContain(span.spanId);
    expect(dump).not.toContain('canary-key-4711');
  });
});

describe('a span that was released after a retryable failure', () => {
  it('is claimed by exactly one retry with the same inputs, and by no other call', async () => {
    const span = spanScenario();
    await span.claim({ owner: 'first', fingerprint: 'f' });
    await span.release('first');
    expect(await span.claim()).toBe('duplicate');
    const retries = await ten(() => span.claim({ fingerprint: 'f' }));
    expect(retries.toSorted()).toEqual(['claimed', ...Array(9).fill('duplicate')]);
    expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
  });

  it('is released by its own call only', async () => {
    const span = spanScenario();
    await span.claim({ owner: 'first', fingerprint: 'f' });
    await span.release('stranger');
    expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
    await span.release('first');
    expect(await span.claim({ owner: 'second', fingerprint: 'f' })).toBe('claimed');
    await span.release('first');
    expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
  });
});

describe('a span that was withdrawn', () => {
  it('is free for any call at once, whatever clock that goes by', async () => {
    const span = spanScenario();
    await span.claim({ owner: 'refused' });
    await span.withdraw('refused');
    span.clock.advance(-hourMs);
    expect(await span.claim()).toBe('claimed');
  });

  it('is withdrawn by its own call only', async () => {
    const span = spanScenario();
    await span.claim({ owner: 'first' });
    await span.withdraw('stranger');
    expect(await span.claim()).toBe('duplicate');
  });

  it('has an expiry that DynamoDB deletes by: past, and less than five years ago', async () => {
    const span = spanScenario();
    await span.claim({ owner: 'refused' });
    await span.withdraw('refused');
    const key = `SPAN#team-a#${sha256Hex(span.spanId)}`;
    const { expires_at_epoch_seconds: expiry } = (await database.store.get('spans', key)) ?? {};
    const ageSeconds = span.clock.nowMs() / 1_000 - Number(expiry);
    expect(ageSeconds).toBeGreaterThan(0);
    expect(ageSeconds).toBeLessThan(5 * 365 * 24 * 3_600);
  });
});
