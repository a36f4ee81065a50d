import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { sha256Hex } from '../../shared/foundation/ids/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { incompressible, keyScenario, resultOf } from './idempotency-fixtures.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

describe('an idempotency key', () => {
  it('that a storm of retries brings to one process is asked for once or twice, and each learns what it is', async () => {
    let puts = 0;
    const call = keyScenario({
      ...database.store,
      put: (...asked) => {
        puts += 1;
        return database.store.put(...asked);
      },
    });
    const storm = (fingerprint: string) =>
      Promise.all(Array.from({ length: 200 }, async () => (await call.claim(call.newOwner(), fingerprint)).kind));
    const [same, other] = await Promise.all([storm('f'), storm('g')]);
    expect([same.filter((kind) => kind === 'claimed').length, new Set(same).size]).toEqual([1, 2]);
    expect(new Set(other)).toEqual(new Set(['conflict']));
    await call.complete('owner-1', resultOf('done'));
    expect(new Set(await storm('f'))).toEqual(new Set(['done']));
    expect(puts).toBeLessThanOrEqual(4);
  });

  it('is in no table: only its hash', async () => {
    const call = keyScenario(database.store);
    await call.claim('a');
    const dump = await database.dumpTables();
    expect(dump).not.toContain(call.key);
    expect(dump).toContain(`IDEM#team-a#${sha256Hex(call.key)}`);
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
  ['the longest body that is kept', 'x'.repeat(32 * 1024 * 1024), 'item'],
  ['a megabyte that hardly shrinks', incompressible(1024 * 1024), 'blob'],
];

describe('a stored result', () => {
  it.each(bodies)('is replayed byte for byte: %s', async (_name, body, place) => {
    const blobs = recordingBlobs();
    const call = keyScenario(database.store, { blobs });
    const headers = { 'x-empty': '', 'content-type': 'text/event-stream' };
    const result = resultOf(body, { status: 201, headers, model: 'acme/large-1', provider: 'acme' });
    await call.claim('a');
    expect(await call.complete('a', result)).toEqual({ kind: 'completed' });
    const replay = await call.claim('b');
    // Not toEqual on the body: a difference would print a megabyte.
    expect(replay.kind === 'done' && replay.result.body === body).toBe(true);
    expect(replay).toMatchObject({ kind: 'done', result: { ...result, body: expect.any(String) } });
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

  it.each<[string, string | undefined]>([
    ['of more than 32 MiB', 'x'.repeat(32 * 1024 * 1024 + 1)],
    ['too long to be collected', undefined],
  ])(
    '%s is not kept, and its key is used up: a retry runs nothing, another body is a conflict',
    async (_name, body) => {
      const call = keyScenario(database.store);
      await call.claim('a');
      expect(await call.complete('a', { ...resultOf(''), body })).toEqual({ kind: 'completed' });
      expect(await call.complete('a', { ...resultOf(''), body })).toEqual({ kind: 'completed' });
      await call.release('a');
      expect(await call.claim('b')).toEqual({ kind: 'done_unstored' });
      expect(await call.claim('c', 'other')).toEqual({ kind: 'conflict' });
    },
  );
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
