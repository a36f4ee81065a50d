// Reads the secret of a store. The processes that serve calls on the store share the secret, so that each recognizes
// the signatures of the others. The first process that needs the secret makes it. If all processes have one master key
// (KMS), the secret is wrapped with it. Otherwise the secret is stored unwrapped, because gateways on several machines
// share no other key.
//
// The secret is one item in the table `spans`, whose items every gateway already reads and writes:
//
//   pk            STOREKEY
//   wrapped_key   base64   or   key   base64
import { createReadCache } from '../../foundation/cache/index.ts';
import { storeCallTimeoutMs, storeKeyItem } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';
import { absent, type Condition, equals, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import { type KeyWrapper, SealBroken } from '../byok/index.ts';

const keyBytes = 32;

export interface StoreKey {
  /** Reads the secret, once in a process. Throws StoreUnavailable, also if the master key does not answer. */
  read(): Promise<Uint8Array>;
}

interface StoreKeyOptions {
  readonly store: Pick<Store, 'get' | 'put'>;
  readonly wrapper: KeyWrapper;
  readonly stage: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export function createStoreKey({ store, wrapper, stage, clock, randomness }: StoreKeyOptions): StoreKey {
  /** The context is authenticated, so that bytes that were wrapped for another purpose are not a key of a store. */
  const context = { purpose: storeKeyItem.purpose, stage };
  const cached = createReadCache<Uint8Array>({ sizeMax: 1, clock });

  const kmsAnswer = <Answer>(call: Promise<Answer>): Promise<Answer> =>
    waitAtMost(clock, storeCallTimeoutMs, call, () => {
      throw new StoreUnavailable('key wrapper timeout');
    }).catch((error: unknown) => {
      throw error instanceof SealBroken || error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
    });

  /** Returns undefined if there is no key, or if it was wrapped by a master key that is lost. */
  async function openItem(item: Item | undefined): Promise<Uint8Array | undefined> {
    // An unwrapped key is not accepted if all processes have a master key, because it was stored without the master
    // key.
    if (!wrapper.isShared && typeof item?.key === 'string') return Buffer.from(item.key, 'base64');
    if (typeof item?.wrapped_key !== 'string') return undefined;
    try {
      return await kmsAnswer(wrapper.unwrap(Buffer.from(item.wrapped_key, 'base64'), context));
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }

  async function makeItem(): Promise<Item> {
    if (!wrapper.isShared) return { pk: storeKeyItem.key, key: randomness.bytes(keyBytes).toString('base64') };
    const { clear, wrapped } = await kmsAnswer(wrapper.createDataKey(context));
    clear.fill(0);
    return { pk: storeKeyItem.key, wrapped_key: Buffer.from(wrapped).toString('base64') };
  }

  const isAsRead = (found: Item | undefined): Condition => {
    if (found === undefined) return absent('pk');
    const { wrapped_key: wrapped, key } = found;
    return wrapped === undefined ? equals('key', key) : equals('wrapped_key', wrapped);
  };

  async function readOrMake(): Promise<Uint8Array> {
    const found = await store.get('spans', storeKeyItem.key);
    const known = await openItem(found);
    if (known !== undefined) return known;
    // Only the item that was read is replaced, so that of processes that start together only one makes the key.
    const item = await makeItem();
    const written = await store.put({
      table: 'spans',
      item,
      condition: isAsRead(found),
    });
    const storeKey = await openItem(written.kind === 'written' ? item : await store.get('spans', storeKeyItem.key));
    if (storeKey === undefined) throw new StoreUnavailable('the key of the store does not open');
    return storeKey;
  }

  return { read: () => cached.get(storeKeyItem.key, readOrMake) };
}
