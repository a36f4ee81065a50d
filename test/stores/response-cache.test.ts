import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type CachedAnswer,
  type CacheKey,
  createResponseCache,
  openCacheKeys,
} from '../../shared/accounting/response-cache/index.ts';
import { sha256Hex, systemRandomness } from '../../shared/foundation/ids/index.ts';
import { chatCompletions } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { createMemoryBudget, type MemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { type JsonText, jsonTextOf } from '../../shared/protocol/wire/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
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

function openCache(store: Pick<Store, 'get' | 'put'> = database.store, memory?: MemoryBudget) {
  const errors: unknown[] = [];
  const clock = manualClock();
  const cache = createResponseCache({ store, memory, onError: (cause) => errors.push(cause) });
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

  it('that is too large for an item is not kept, which is no error, and leaves the former one alone', async () => {
    const { read, write, errors } = openCache();
    await write(json);
    await write(answerOf({ kind: 'json', text: incompressible(420_000) }));
    expect(await read()).toEqual(json);
    expect(errors).toEqual([]);
  });
});

it('an answer of nearly 300 KB that cannot shrink is cached', async () => {
  const { read, write } = openCache();
  const large = answerOf({ kind: 'json', text: incompressible(403_000) });
  await write(large);
  expect(JSON.stringify(await read()) === JSON.stringify(large)).toBe(true);
});

it('an answer for which there is no memory while it is written is not cached, which is no error, and takes no memory afterwards', async () => {
  const memory = createMemoryBudget(manualClock(), { maxBytes: 1_500_000 });
  const { read, write, errors } = openCache(database.store, memory);
  const large = answerOf({ kind: 'json', text: 'a'.repeat(100_000) });
  const other = memory.open();
  await other.openRequest().take({ workspace: 'a', bytes: 750_000, isLarge: true });
  await write(large);
  expect(await read()).toBeUndefined();
  other.end();
  const writing = write(large);
  expect(memory.bytesInUse()).toBe(300_000);
  await writing;
  expect(await read()).toEqual(large);
  expect(memory.bytesInUse()).toBe(0);
  expect(errors).toEqual([]);
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

describe('keys', () => {
  const body = {
    model: 'auto',
    messages: [{ role: 'user', content: 'hi' }],
    temperature: 0,
    stream: false,
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    reasoning: { effort: 'low' },
    stream_options: { include_usage: true },
    some_unknown_member: { deep: [1, { deeper: null }] },
  };
  type KeyParts = Parameters<typeof openCacheKeys>[0] & { readonly model: string };
  const parts: KeyParts = {
    interfaceId: 'chat-completions',
    workspace: 'team-a',
    model: 'acme/large-1',
    policy: { zdr: undefined, data_collection: 'deny', data_residency: ['eu'] },
    namespace: 'n',
    only: ['acme'],
    ignore: ['zen'],
    body: jsonTextOf(body),
    leftOut: chatCompletions.leftOutOfCacheKey(jsonTextOf(body)),
  };
  const cacheKey = ({ model, ...of }: KeyParts): string => openCacheKeys(of)(model)[0]?.hash ?? '';
  const plain = cacheKey(parts);
  const withBody = (text: JsonText) => ({ body: text, leftOut: chatCompletions.leftOutOfCacheKey(text) });
  const keyWith = (more: Record<string, unknown>): string =>
    cacheKey({ ...parts, ...withBody(jsonTextOf({ ...body, ...more })) });

  describe('the key of a cached answer', () => {
    it.each<[string, Partial<KeyParts>]>([
      ['interface', { interfaceId: 'messages' }],
      ['workspace', { workspace: 'team-b' }],
      ['resolved model', { model: 'acme/small-1' }],
      ['zdr', { policy: { ...parts.policy, zdr: true } }],
      ['data collection', { policy: { ...parts.policy, data_collection: undefined } }],
      ['data residency', { policy: { ...parts.policy, data_residency: ['eu', 'us'] } }],
      ['namespace', { namespace: 'm' }],
      ['absence of a namespace', { namespace: undefined }],
      ['provider.only', { only: ['acme', 'zen'] }],
      ['absence of provider.only', { only: undefined }],
      ['provider.ignore', { ignore: [] }],
    ])('changes with the %s', (_name, more) => {
      expect(cacheKey({ ...parts, ...more })).not.toBe(plain);
    });

    it.each(Object.keys(body).filter((name) => !['model', 'reasoning'].includes(name)))(
      'tells null under %s from its absence',
      (name) => {
        const { [name as keyof typeof body]: _value, ...rest } = body;
        expect(keyWith({ [name]: null })).not.toBe(cacheKey({ ...parts, body: jsonTextOf(rest) }));
      },
    );

    it.each<[string, KeyParts['policy'], KeyParts['policy']]>([
      ['zdr that is not asked for', { zdr: false }, {}],
      ['collection that is allowed', { data_collection: 'allow' }, {}],
      ['regions in another order', { data_residency: ['eu', 'de'] }, { data_residency: ['de', 'eu', 'de'] }],
    ])('does not change with what has no effect: %s', (_name, left, right) => {
      expect(cacheKey({ ...parts, policy: left as never })).toBe(cacheKey({ ...parts, policy: right as never }));
    });

    it('takes reasoning of null for absent', () => {
      const { reasoning: _reasoning, ...rest } = body;
      expect(keyWith({ reasoning: null })).toBe(cacheKey({ ...parts, body: jsonTextOf(rest) }));
    });

    it('cannot be reached from another part: a field is never taken for a workspace or a policy', () => {
      const posing = { workspace: 'team-b', policy: { zdr: true }, namespace: 'm', only: ['zen'], request: {} };
      const keys = [
        plain,
        keyWith(posing),
        cacheKey({ ...parts, workspace: 'team-b' }),
        keyWith({ workspace: 'team-b' }),
      ];
      expect(new Set(keys).size).toBe(keys.length);
    });

    it('never changes with the order of fields, at any depth', () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
          const turned = turn(members) as Record<string, unknown>;
          expect(cacheKey({ ...parts, body: jsonTextOf(turned) })).toBe(
            cacheKey({ ...parts, body: jsonTextOf(members) }),
          );
        }),
      );
    });

    it('changes with any value, at any depth', () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (members, where) => {
          fc.pre(Object.keys(members).every((name) => !gatewayMembers.includes(name)));
          const changedMembers = changeOne(members, where) as Record<string, unknown>;
          expect(cacheKey({ ...parts, body: jsonTextOf(changedMembers) })).not.toBe(
            cacheKey({ ...parts, body: jsonTextOf(members) }),
          );
        }),
      );
    });
  });

  const gatewayMembers = ['model', 'provider', 'cache', 'preset', 'usage', 'reasoning'];

  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

  /** Returns the same value with its fields in the opposite order. */
  function turn(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(turn);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, turn(member)]),
    );
  }

  /** Returns the same value with one leaf changed; `where` selects the path to it. */
  function changeOne(value: unknown, where: number): unknown {
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    const name = names[where % Math.max(1, names.length)];
    if (name === undefined) return `changed ${JSON.stringify(value)}`;
    const entries = Object.entries(value as Record<string, unknown>).map(([other, member]) =>
      other === name ? [other, changeOne(member, Math.floor(where / names.length))] : [other, member],
    );
    return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
  }
});
