import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CachedAnswer, type CacheKey, createResponseCache } from '../../shared/accounting/response-cache/index.ts';
import { sha256Hex, systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';
import { incompressible } from './idempotency-fixtures.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const answerOf = (content: CachedAnswer['content']): CachedAnswer => ({
  status: 200,
  contentType: 'application/json',
  content,
  provider: 'acme',
  model: 'acme/large-1',
  usage: { promptTokens: 3, cachedTokens: 0, completionTokens: 5, estimated: false },
});
const json = answerOf({
  kind: 'json',
  text: '{ "id":"chatcmpl-1", "choices":[{"message":{"content":"Grüße 🙂\\ud83d"}}]}',
});

function openCache(store: Pick<Store, 'get' | 'put'> = database.store) {
  const errors: unknown[] = [];
  const clock = manualClock();
  const cache = createResponseCache({ store, onError: (cause) => errors.push(cause) });
  const key = { version: 1, hash: sha256Hex(systemRandomness.uuid()) };
  return {
    errors,
    clock,
    key,
    read: () => cache.read([key], clock.nowMs()),
    readUnder: (keys: readonly CacheKey[]) => cache.read(keys, clock.nowMs()),
    write: (answer: CachedAnswer, ttlSeconds = 300) => cache.write(key, answer, { ttlSeconds, nowMs: clock.nowMs() }),
  };
}

describe('a cached answer', () => {
  it('is found under the key of the version that stored it, and the newest version that has one counts', async () => {
    const { read, write, readUnder, key } = openCache();
    const newer = { version: 2, hash: sha256Hex(key.hash) };
    expect(await readUnder([newer, key])).toBeUndefined();
    await write(json);
    expect(await readUnder([newer, key])).toEqual(json);
    expect(await readUnder([newer])).toBeUndefined();
    expect(await read()).toEqual(json);
  });

  it.each<[string, CachedAnswer['content']]>([
    ['JSON', json.content],
    ['a stream', { kind: 'stream', chunks: ['{"a":"ü🙂\u2028\ud83d"}', '', '{"b" : 1.0}'] }],
    ['a stream of two megabytes', { kind: 'stream', chunks: Array(20_000).fill(`{"delta":"${'x'.repeat(100)}"}`) }],
  ])('is read back as it was written: %s', async (_name, content) => {
    const { read, write, errors } = openCache();
    expect(await read()).toBeUndefined();
    await write(answerOf(content));
    expect(await read()).toEqual(answerOf(content));
    expect(errors).toEqual([]);
  });

  it('that is too large for an item is not kept, which is no error, and leaves the former one alone', async () => {
    const { read, write, errors } = openCache();
    await write(json);
    await write(answerOf({ kind: 'json', text: incompressible(420_000) }));
    expect(await read()).toEqual(json);
    expect(errors).toEqual([]);
  });
});

it('of nearly 300 KB that cannot shrink is kept', async () => {
  const { read, write } = openCache();
  const large = answerOf({ kind: 'json', text: incompressible(403_000) });
  await write(large);
  expect(JSON.stringify(await read()) === JSON.stringify(large)).toBe(true);
});

describe('a cache in trouble', () => {
  it('is a miss and never an error of the request, and says why', async () => {
    const unavailable = async () => Promise.reject(new StoreUnavailable(new Error('down')));
    const { read, write, errors } = openCache({ get: unavailable, put: unavailable });
    await expect(write(json)).resolves.toBeUndefined();
    expect(await read()).toBeUndefined();
    expect(errors).toEqual([expect.any(StoreUnavailable), expect.any(StoreUnavailable)]);
  });

  it.each([
    ['damaged', { answer_gzip: Uint8Array.of(1, 2) }],
    ['of another make', { answer_gzip: undefined, answer_sha256: undefined }],
  ])('takes an entry that is %s for a miss', async (_name, damage) => {
    const { read, write, errors, key } = openCache();
    await write(json);
    const pk = `CACHE#1#${key.hash}`;
    const item = await database.store.get('cache', pk);
    expect(item).toBeDefined();
    await database.store.put({ table: 'cache', item: { ...item, pk, ...damage } });
    expect(await read()).toBeUndefined();
    expect(errors).toHaveLength(1);
  });
});
