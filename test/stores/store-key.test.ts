// The secret that all processes on a store share: it is made once, and wrapped if they share a master key.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type KeyWrapper, localKeyWrapper } from '../../shared/configuration/byok/index.ts';
import { createStoreKey } from '../../shared/configuration/store-key/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import { watchedWrapper } from '../support/watched-wrapper.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());
beforeEach(() => database.store.delete('spans', 'STOREKEY'));

const ofAccount = (): KeyWrapper => ({ ...localKeyWrapper(), isShared: true });
const keyOn = (wrapper: KeyWrapper, store: Pick<Store, 'get' | 'put'> = database.store) =>
  createStoreKey({ store, wrapper, stage: 'test', clock: systemClock, randomness: systemRandomness });
const storedKey = () => database.store.get('spans', 'STOREKEY');

describe.each([
  ['that share a master key', ofAccount],
  ['each with a master key of its own', undefined],
])('processes %s', (_which, shared) => {
  it('that begin together have one secret, and so has one that comes later', async () => {
    const wrapper = shared?.();
    const process = () => keyOn(wrapper ?? localKeyWrapper());
    const keys = await Promise.all(Array.from({ length: 8 }, () => process().read()));
    const texts = new Set([...keys, await process().read()].map((key) => Buffer.from(key).toString('hex')));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toHaveLength(64);
  });
});

it('the secret is wrapped by the master key of an account, and its item opens nothing', async () => {
  const key = Buffer.from(await keyOn(ofAccount()).read());
  expect(Object.keys((await storedKey()) ?? {}).toSorted()).toEqual(['pk', 'wrapped_key']);
  expect(JSON.stringify(await storedKey())).not.toContain(key.toString('base64').slice(0, 16));
});

it('the secret is read once in a process, with one call of the master key', async () => {
  const wrapper = ofAccount();
  await keyOn(wrapper).read();
  let reads = 0;
  const store = {
    put: database.store.put,
    get: (...args: Parameters<Store['get']>) => {
      reads += 1;
      return database.store.get(...args);
    },
  };
  const watchedKey = watchedWrapper(wrapper);
  const key = keyOn(watchedKey, store);
  const [first, second] = await Promise.all([key.read(), key.read()]);
  expect([await key.read(), second, reads, watchedKey.unwraps()]).toEqual([first, first, 1, 1]);
});

it('the secret is made anew if the master key that wrapped it is gone', async () => {
  const former = Buffer.from(await keyOn(ofAccount()).read());
  const wrapper = ofAccount();
  const key = Buffer.from(await keyOn(wrapper).read());
  expect(key.equals(former)).toBe(false);
  expect(Buffer.from(await keyOn(wrapper).read()).equals(key)).toBe(true);
});

it('the secret is not taken from an item that nothing wrapped, if a master key wraps it', async () => {
  const planted = Buffer.alloc(32, 7).toString('base64');
  await database.store.put({ table: 'spans', item: { pk: 'STOREKEY', key: planted } });
  const wrapper = ofAccount();
  const key = Buffer.from(await keyOn(wrapper).read());
  expect(key.toString('base64')).not.toBe(planted);
  expect(await storedKey()).not.toHaveProperty('key');
  expect(Buffer.from(await keyOn(wrapper).read()).equals(key)).toBe(true);
});

it('the secret is read again after a failure of the store or of the master key', async () => {
  const wrapper = ofAccount();
  await keyOn(wrapper).read();
  let fails = true;
  const failing: KeyWrapper = {
    ...wrapper,
    unwrap: (...args) => (fails ? Promise.reject(new Error('throttled')) : wrapper.unwrap(...args)),
  };
  const key = keyOn(failing);
  await expect(key.read()).rejects.toThrow(StoreUnavailable);
  fails = false;
  expect(await key.read()).toHaveLength(32);
});
