import '../support/errors-across-realms.ts';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type Store,
  StoreUnavailable,
} from '../../shared/storage/store/index.ts';
import { answer, type Behaviour, dynamoError, type FakeDynamo, startFakeDynamo } from './fake-dynamodb.ts';

const randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

function storeOn(endpoint: string, clock: Clock = systemClock): Store {
  const client = createDynamoClient({ endpoint });
  cleanups.push(() => client.destroy());
  return createDynamoStore({ client, stage: 'test', clock, randomness });
}

async function fakeAndStore(...behaviours: [Behaviour, ...Behaviour[]]): Promise<{ fake: FakeDynamo; store: Store }> {
  const fake = await startFakeDynamo(behaviours);
  cleanups.push(() => fake.stop());
  return { fake, store: storeOn(fake.endpoint) };
}

const found = answer({ Item: { pk: { S: 'a' }, n: { N: '1' } } });
const increment = { table: 'keys', key: 'a', expression: 'ADD n :one', values: { ':one': 1 } } as const;
const creation = { table: 'keys', item: { pk: 'a' }, condition: 'attribute_not_exists(pk)' } as const;
const throttles = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];

describe('a store that is down', () => {
  it('gives StoreUnavailable for every call', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const store = storeOn(`http://127.0.0.1:${port}`);
    await expect(store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
    await expect(store.put(creation)).rejects.toThrow(StoreUnavailable);
    await expect(store.update(increment)).rejects.toThrow(StoreUnavailable);
    await expect(store.delete('keys', 'a')).rejects.toThrow(StoreUnavailable);
    await expect(store.scan('keys')[Symbol.asyncIterator]().next()).rejects.toThrow(StoreUnavailable);
    await expect(store.query('records', 'a')[Symbol.asyncIterator]().next()).rejects.toThrow(StoreUnavailable);
  });

  it('gives StoreUnavailable when it stays silent beyond the time of a call, and is asked once', async () => {
    const fake = await startFakeDynamo(['silent']);
    cleanups.push(() => fake.stop());
    let timeIsUp = () => {};
    const clock: Clock = {
      nowMs: () => 0,
      after: (_delayMs, callback) => {
        timeIsUp = callback;
        return () => {};
      },
    };
    const reading = storeOn(fake.endpoint, clock).get('keys', 'a');
    await fake.firstRequest;
    timeIsUp();
    await expect(reading).rejects.toThrow(StoreUnavailable);
    expect(fake.operations).toEqual(['GetItem']);
  });

  it('is not waited for when the caller gives up', async () => {
    const { fake, store } = await fakeAndStore('silent');
    const caller = new AbortController();
    const writing = store.update(increment, { signal: caller.signal });
    await fake.firstRequest;
    caller.abort();
    await expect(writing).rejects.toThrow(StoreUnavailable);
    await expect(store.get('keys', 'a', { signal: caller.signal })).rejects.toThrow(StoreUnavailable);
    expect(fake.operations).toEqual(['UpdateItem']);
  });
});

describe('a store in trouble', () => {
  it('is asked again for a read, three times at most', async () => {
    for (const trouble of ['lost', dynamoError(500, 'InternalServerError')] as const) {
      const passing = await fakeAndStore(trouble, trouble, found);
      await expect(passing.store.get('keys', 'a')).resolves.toEqual({ pk: 'a', n: 1 });
      expect(passing.fake.operations).toHaveLength(3);
      const lasting = await fakeAndStore(trouble);
      await expect(lasting.store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
      expect(lasting.fake.operations).toHaveLength(3);
    }
  });

  it('is never asked twice for a write whose answer was lost', async () => {
    for (const trouble of ['lost', dynamoError(500, 'InternalServerError'), dynamoError(503, 'Unavailable')] as const) {
      const { fake, store } = await fakeAndStore(trouble, answer({}));
      await expect(store.update(increment)).rejects.toThrow(StoreUnavailable);
      expect(fake.operations).toHaveLength(1);
    }
    const put = await fakeAndStore('lost', answer({}));
    await expect(put.store.put(creation)).rejects.toThrow(StoreUnavailable);
    expect(put.fake.operations).toEqual(['PutItem']);
    const deletion = await fakeAndStore('lost', answer({}));
    await expect(deletion.store.delete('keys', 'a')).rejects.toThrow(StoreUnavailable);
    expect(deletion.fake.operations).toEqual(['DeleteItem']);
  });

  it('is asked again for a write that says it is repeatable', async () => {
    const { fake, store } = await fakeAndStore('lost', answer({ Attributes: { pk: { S: 'a' } } }));
    const result = await store.update({ ...increment, repeatable: true });
    expect(result).toEqual({ kind: 'written', item: { pk: 'a' } });
    expect(fake.operations).toHaveLength(2);
  });

  it.each(throttles)('is asked again after a %s, for a write as well', async (name) => {
    const { fake, store } = await fakeAndStore(dynamoError(400, name), answer({ Attributes: { pk: { S: 'a' } } }));
    await expect(store.update(increment)).resolves.toEqual({ kind: 'written', item: { pk: 'a' } });
    expect(fake.operations).toHaveLength(2);
  });

  it('gives StoreUnavailable and is not asked again when it refuses the call itself', async () => {
    for (const name of ['ValidationException', 'ResourceNotFoundException', 'AccessDeniedException']) {
      const { fake, store } = await fakeAndStore(dynamoError(400, name), found);
      await expect(store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
      expect(fake.operations).toHaveLength(1);
    }
  });
});
