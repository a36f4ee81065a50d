import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { recordLifeSeconds } from '../../shared/accounting/idempotency/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import { sha256Hex } from '../../shared/foundation/ids/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { keyScenario, resultOf, sendingTwice } from './idempotency-fixtures.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const kindsOf = async (outcomes: readonly Promise<{ kind: string }>[]): Promise<string[]> =>
  (await Promise.all(outcomes)).map(({ kind }) => kind).toSorted();

const answer = resultOf('{"id":"a"}', { executionId: 'e-1' });

describe('an idempotency key', () => {
  it('is claimed by exactly one of twenty identical calls, and the others learn that it runs', async () => {
    const call = keyScenario(database.store);
    const leaseUntilMs = call.clock.nowMs() + leaseMs;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => call.claim(call.newOwner())));
    expect(outcomes.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'running')).toEqual(
      Array(19).fill({ kind: 'running', leaseUntilMs }),
    );
  });

  it('belongs to its workspace', async () => {
    const call = keyScenario(database.store);
    const claim = { key: call.key, fingerprint: 'f', nowMs: call.clock.nowMs(), leaseUntilMs: call.clock.nowMs() + 1 };
    expect(await call.claim('a')).toEqual({ kind: 'claimed' });
    const other = await call.records.claim({ ...claim, workspace: 'team-b', owner: 'b' });
    expect(other).toEqual({ kind: 'claimed' });
  });

  it('with other inputs is a conflict, while the call runs and when it is done, and changes nothing', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    expect(await call.claim('b', 'other')).toEqual({ kind: 'conflict' });
    await call.complete('a', answer);
    expect(await call.claim('c', 'other')).toEqual({ kind: 'conflict' });
    expect(await call.claim('d')).toEqual({ kind: 'done', owner: 'a', result: answer });
  });

  it('is in no table: only its hash', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    const dump = await database.dumpTables();
    expect(dump).not.toContain(call.key);
    expect(dump).toContain(`IDEM#team-a#${sha256Hex(call.key)}`);
  });

  it('whose writes are all sent twice is claimed, completed and released like any other', async () => {
    const call = keyScenario(sendingTwice(database.store));
    expect(await call.claim('a')).toEqual({ kind: 'claimed' });
    expect((await call.claim('b')).kind).toBe('running');
    await call.release('a');
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
    expect(await call.complete('b', answer)).toEqual({ kind: 'completed' });
    expect(await call.claim('c')).toEqual({ kind: 'done', owner: 'b', result: answer });
  });
});

describe('a claim whose owner is dead', () => {
  it('is taken over by none of ten retries before its lease is over, and by exactly one from then on', async () => {
    const call = keyScenario(database.store);
    await call.claim(call.newOwner());
    const retries = () => kindsOf(Array.from({ length: 10 }, () => call.claim(call.newOwner())));
    call.clock.advance(leaseMs - 1);
    expect(await retries()).toEqual(Array(10).fill('running'));
    call.clock.advance(1);
    expect(await retries()).toEqual(['claimed', ...Array(9).fill('running')]);
    call.clock.advance(leaseMs - 1);
    expect(await retries()).toEqual(Array(10).fill('running'));
  });

  it('may be taken over with another body, as after any other failure', async () => {
    const call = keyScenario(database.store);
    await call.claim('a', 'first');
    call.clock.advance(leaseMs);
    expect(await call.claim('b', 'second')).toEqual({ kind: 'claimed' });
    expect(await call.claim('a2', 'first')).toEqual({ kind: 'conflict' });
  });

  it('lets a late owner change nothing once it is taken over', async () => {
    const call = keyScenario(database.store);
    await call.claim('late');
    call.clock.advance(leaseMs);
    await call.claim('new');
    expect(await call.complete('late', resultOf('late'))).toEqual({ kind: 'fenced' });
    await call.release('late');
    expect((await call.claim('other')).kind).toBe('running');
    expect(await call.complete('new', answer)).toEqual({ kind: 'completed' });
    expect(await call.complete('late', resultOf('late'))).toEqual({ kind: 'fenced' });
    await call.release('late');
    expect(await call.claim('other')).toEqual({ kind: 'done', owner: 'new', result: answer });
  });

  it('is completed by its late owner as long as no retry took it over', async () => {
    const call = keyScenario(database.store);
    await call.claim('late');
    call.clock.advance(leaseMs * 2);
    expect(await call.complete('late', answer)).toEqual({ kind: 'completed' });
    expect(await call.claim('b')).toEqual({ kind: 'done', owner: 'late', result: answer });
  });
});

describe('a call that failed', () => {
  it('leaves its key free at once, for another body too', async () => {
    const call = keyScenario(database.store);
    await call.claim('a', 'first');
    await call.release('a');
    const outcomes = await kindsOf(Array.from({ length: 5 }, () => call.claim(call.newOwner(), 'second')));
    expect(outcomes).toEqual(['claimed', ...Array(4).fill('running')]);
    expect(await call.claim('b', 'first')).toEqual({ kind: 'conflict' });
  });

  it('stores nothing after its release', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    await call.release('a');
    expect(await call.complete('a', answer)).toEqual({ kind: 'fenced' });
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
  });

  it('releases nothing where nothing was claimed', async () => {
    const call = keyScenario(database.store);
    await call.release('a');
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
    const dump = await database.dumpTables();
    expect(dump.split(sha256Hex(call.key))).toHaveLength(2);
  });
});

describe('a record', () => {
  it('is free again 24 hours after the answer although the item is still there, and not a moment earlier', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    call.clock.advance(50_000);
    await call.complete('a', answer);
    call.clock.advance(recordLifeSeconds * 1000 - 1);
    expect(await call.claim('b', 'f')).toEqual({ kind: 'done', owner: 'a', result: answer });
    expect(await call.claim('b', 'other')).toEqual({ kind: 'conflict' });
    call.clock.advance(1);
    const outcomes = await kindsOf(Array.from({ length: 10 }, () => call.claim(call.newOwner(), 'other')));
    expect(outcomes).toEqual(['claimed', ...Array(9).fill('running')]);
    expect(await call.complete('a', answer)).toEqual({ kind: 'fenced' });
  });

  it('of an answer that was stored twice by its owner is that answer, and never another one', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    expect(await call.complete('a', answer)).toEqual({ kind: 'completed' });
    expect(await call.complete('a', answer)).toEqual({ kind: 'completed' });
    expect(await call.complete('a', resultOf('another'))).toEqual({ kind: 'fenced' });
    await call.release('a');
    expect(await call.claim('b')).toEqual({ kind: 'done', owner: 'a', result: answer });
  });

  it('is not completed by an owner that never claimed it', async () => {
    const call = keyScenario(database.store);
    expect(await call.complete('a', answer)).toEqual({ kind: 'fenced' });
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
  });
});
