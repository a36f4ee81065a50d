import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { recordLifeSeconds } from '../../shared/accounting/idempotency/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import { sha256Hex } from '../../shared/foundation/ids/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { incompressible, keyScenario, resultOf, sendingTwice } from './idempotency-fixtures.ts';

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

function recordingBlobs(): BlobStore & { readonly keys: string[] } {
  const blobs = memoryBlobs();
  const keys: string[] = [];
  return {
    keys,
    put: async (key, bytes) => {
      await blobs.put(key, bytes);
      keys.push(key);
    },
    get: (key) => blobs.get(key),
  };
}

const sseLine = `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [{ delta: { content: 'Grüße 🙂' } }] })}\n\n`;
const bodies: readonly [string, string, 'item' | 'blob'][] = [
  ['an empty body', '', 'item'],
  ['text of all kinds', '{"a":"ü🙂\u2028\\u0000\\ud83d", "b" : 1.0e2}\r\n', 'item'],
  ['a stream of a megabyte', `${sseLine.repeat(12_000)}data: [DONE]\n\n`, 'item'],
  ['300 KB that hardly shrink', incompressible(300 * 1024), 'item'],
  ['the largest body that fits', incompressible(404_000), 'item'],
  ['a body just too large', incompressible(409_700), 'blob'],
  ['a megabyte that hardly shrinks', incompressible(1024 * 1024), 'blob'],
];

describe('a stored result', () => {
  it.each(bodies)('is replayed byte for byte: %s', async (_name, body, place) => {
    const blobs = recordingBlobs();
    const call = keyScenario(database.store, { blobs });
    const result = resultOf(body, { status: 201, headers: { 'x-empty': '', 'content-type': 'text/event-stream' } });
    await call.claim('a');
    expect(await call.complete('a', result)).toEqual({ kind: 'completed' });
    const replay = await call.claim('b');
    // Not toEqual on the body: a difference would print a megabyte.
    expect(replay.kind === 'done' && replay.result.body === body).toBe(true);
    expect(replay).toMatchObject({ kind: 'done', result: { status: 201, headers: result.headers } });
    expect(blobs.keys).toHaveLength(place === 'blob' ? 1 : 0);
  });

  it('in the blob store is complete there before the record names it', async () => {
    const blobs: BlobStore = { put: async () => Promise.reject(new Error('down')), get: async () => undefined };
    const call = keyScenario(database.store, { blobs });
    await call.claim('a');
    await expect(call.complete('a', resultOf(incompressible(500_000)))).rejects.toThrow(StoreUnavailable);
    expect((await call.claim('b')).kind).toBe('running');
    await call.release('a');
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
  });

  it('of a late owner stands under a name of its own and never replaces the one that counts', async () => {
    const call = keyScenario(database.store, { blobs: recordingBlobs() });
    const [late, counts] = [incompressible(500_000), incompressible(500_000)];
    await call.claim('late');
    call.clock.advance(100_000);
    await call.claim('new');
    await call.complete('new', resultOf(counts));
    expect(await call.complete('late', resultOf(late))).toEqual({ kind: 'fenced' });
    const replay = await call.claim('b');
    expect(replay.kind === 'done' && replay.result.body === counts).toBe(true);
  });

  it('of more than 64 MiB is refused as a whole, and the key can be released', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    await expect(call.complete('a', resultOf('x'.repeat(64 * 1024 * 1024 + 1)))).rejects.toThrow(RangeError);
    await call.release('a');
    expect(await call.claim('b')).toEqual({ kind: 'claimed' });
  });
});

describe('a stored result that cannot be read', () => {
  async function doneWith(get: BlobStore['get']) {
    const call = keyScenario(database.store, { blobs: { put: async () => {}, get } });
    await call.claim('a');
    await call.complete('a', resultOf(incompressible(500_000)));
    return call;
  }

  it('for the moment is reported as a store that is down', async () => {
    const call = await doneWith(async () => Promise.reject(new Error('down')));
    await expect(call.claim('b')).rejects.toThrow(StoreUnavailable);
  });

  it.each<[string, BlobStore['get']]>([
    ['is gone', async () => undefined],
    ['is damaged', async () => Uint8Array.of(1, 2, 3)],
  ])('because it %s is an error, and the call is not run a second time', async (_name, get) => {
    const call = await doneWith(get);
    const failure = await call.claim('b').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(StoreUnavailable);
    const item = await database.store.get('idempotency', `IDEM#team-a#${sha256Hex(call.key)}`);
    expect(item).toMatchObject({ state: 'done', owner: 'a' });
  });
});
