import { afterEach, describe, expect, it } from '#jest';
import { storeCallTimeoutMs } from '../../shared/foundation/constants/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import { absent, type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import {
  answer,
  awsError,
  type ScriptedBehaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';
import { startSocketServer, unusedPort } from '../support/socket-server.ts';

const randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

function storeOn(endpoint: string, clock: Clock = systemClock): Store {
  const client = createDynamoClient({ endpoint, clock });
  cleanups.push(() => client.destroy());
  return createDynamoStore({ client, stage: 'test', clock, randomness });
}

async function serverAndStore(
  ...behaviours: [ScriptedBehaviour, ...ScriptedBehaviour[]]
): Promise<{ server: ScriptedServer; store: Store }> {
  return serverAndStoreAt(systemClock, ...behaviours);
}

async function serverAndStoreAt(
  clock: Clock,
  ...behaviours: [ScriptedBehaviour, ...ScriptedBehaviour[]]
): Promise<{ server: ScriptedServer; store: Store }> {
  const server = await startScriptedServer(behaviours);
  cleanups.push(() => server.stop());
  return { server, store: storeOn(server.endpoint, clock) };
}

const found = answer({ Item: { pk: { S: 'a' }, n: { N: '1' } } });
const increment = { table: 'keys', key: 'a', changes: { add: { n: 1 } } } as const;
const creation = { table: 'keys', item: { pk: 'a' }, condition: absent('pk') } as const;
/** The answer of a proxy between gateway and store. */
const unavailable: ScriptedBehaviour = { status: 503, body: '<html>unavailable</html>' };
const throttles = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];

describe('a store that is down', () => {
  it('gives StoreUnavailable for every call', async () => {
    const store = storeOn(`http://127.0.0.1:${await unusedPort()}`);
    await expect(store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
    await expect(store.put(creation)).rejects.toThrow(StoreUnavailable);
    await expect(store.update(increment)).rejects.toThrow(StoreUnavailable);
    await expect(store.delete('keys', 'a')).rejects.toThrow(StoreUnavailable);
    await expect(store.scan('keys')[Symbol.asyncIterator]().next()).rejects.toThrow(StoreUnavailable);
    await expect(store.query('records', 'a')[Symbol.asyncIterator]().next()).rejects.toThrow(StoreUnavailable);
  });

  it('gives StoreUnavailable when it stays silent beyond the time of a call, and is asked once', async () => {
    const server = await startScriptedServer(['silent']);
    cleanups.push(() => server.stop());
    const clock = manualClock();
    const reading = storeOn(server.endpoint, clock).get('keys', 'a');
    await server.firstRequest;
    clock.advance(storeCallTimeoutMs);
    await expect(reading).rejects.toThrow(StoreUnavailable);
    expect(server.operations()).toEqual(['GetItem']);
  });

  it('is not waited for when the caller gives up', async () => {
    const { server, store } = await serverAndStore('silent');
    const caller = new AbortController();
    const writing = store.update(increment, { signal: caller.signal });
    await server.firstRequest;
    caller.abort();
    await expect(writing).rejects.toThrow(StoreUnavailable);
    await expect(store.get('keys', 'a', { signal: caller.signal })).rejects.toThrow(StoreUnavailable);
    expect(server.operations()).toEqual(['UpdateItem']);
  });
});

describe('a store in trouble', () => {
  it('is asked again for a read, three times at most', async () => {
    for (const trouble of ['lost', 'cut', awsError(500, 'InternalServerError'), unavailable] as const) {
      const passing = await serverAndStore(trouble, trouble, found);
      await expect(passing.store.get('keys', 'a')).resolves.toEqual({ pk: 'a', n: 1 });
      expect(passing.server.operations()).toHaveLength(3);
      const lasting = await serverAndStore(trouble);
      await expect(lasting.store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
      expect(lasting.server.operations()).toHaveLength(3);
    }
  });

  it('is never asked twice for a write whose answer was lost', async () => {
    for (const trouble of ['lost', 'cut', awsError(500, 'InternalServerError'), unavailable] as const) {
      const { server, store } = await serverAndStore(trouble, answer({}));
      await expect(store.update(increment)).rejects.toThrow(StoreUnavailable);
      expect(server.operations()).toHaveLength(1);
    }
    const put = await serverAndStore('lost', answer({}));
    await expect(put.store.put(creation)).rejects.toThrow(StoreUnavailable);
    expect(put.server.operations()).toEqual(['PutItem']);
    const deletion = await serverAndStore('lost', answer({}));
    await expect(deletion.store.delete('keys', 'a')).rejects.toThrow(StoreUnavailable);
    expect(deletion.server.operations()).toEqual(['DeleteItem']);
  });

  it('is asked again for a write that says it is repeatable', async () => {
    const { server, store } = await serverAndStore('lost', answer({ Attributes: { pk: { S: 'a' } } }));
    const result = await store.update({ ...increment, repeatable: true });
    expect(result).toEqual({ kind: 'written', item: { pk: 'a' } });
    expect(server.operations()).toHaveLength(2);
  });

  it.each(throttles)('is asked again after a %s, for a write as well, more often than one that fails', async (name) => {
    const throttle = awsError(400, name);
    const writtenAnswer = answer({ Attributes: { pk: { S: 'a' } } });
    const { server, store } = await serverAndStore(throttle, throttle, throttle, throttle, writtenAnswer);
    await expect(store.update(increment)).resolves.toEqual({ kind: 'written', item: { pk: 'a' } });
    expect(server.operations()).toHaveLength(5);
  });

  it('gives StoreUnavailable and is not asked again when it refuses the call itself', async () => {
    for (const name of ['ValidationException', 'ResourceNotFoundException', 'AccessDeniedException']) {
      const { server, store } = await serverAndStore(awsError(400, name), found);
      await expect(store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
      expect(server.operations()).toHaveLength(1);
    }
  });
});

describe('connections to the store', () => {
  it('are closed, with the request that they carry, when its caller gives up', async () => {
    const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const silent = await startSocketServer((socket) => {
      socket.once('data', () => arrived.resolve());
      socket.once('close', () => closed.resolve());
    });
    cleanups.push(() => silent.stop());
    const caller = new AbortController();
    const store = storeOn(`http://127.0.0.1:${silent.port}`);
    const reading = store.get('keys', 'a', { signal: caller.signal });
    await arrived.promise;
    caller.abort();
    await expect(reading).rejects.toThrow(StoreUnavailable);
    await closed.promise;
  });

  it('are kept from one call to the next', async () => {
    const { server, store } = await serverAndStore(found);
    await store.get('keys', 'a');
    await store.get('keys', 'a');
    expect([server.requests.length, server.connections()]).toEqual([2, 1]);
  });

  it('that were open before a long pause carry no write, since they may be dead', async () => {
    const clock = manualClock();
    const { server, store } = await serverAndStoreAt(clock, found, answer({ Attributes: { pk: { S: 'a' } } }));
    await store.get('keys', 'a');
    clock.advance(15_001);
    await expect(store.update(increment)).resolves.toEqual({ kind: 'written', item: { pk: 'a' } });
    expect([server.operations(), server.connections()]).toEqual([['GetItem', 'UpdateItem'], 2]);
  });

  it('that the server has closed cost a read nothing but another attempt, however many there are', async () => {
    const { server, store } = await serverAndStore(found);
    await Promise.all(Array.from({ length: 8 }, () => store.get('keys', 'a')));
    server.hangUp();
    await expect(store.get('keys', 'a')).resolves.toEqual({ pk: 'a', n: 1 });
  });

  it('follow no redirect', async () => {
    const { server: elsewhere } = await serverAndStore(found);
    const { server, store } = await serverAndStore({
      status: 307,
      body: '',
      headers: { location: elsewhere.endpoint },
    });
    await expect(store.get('keys', 'a')).rejects.toThrow(StoreUnavailable);
    expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });
});

describe('a batch of puts', () => {
  const put = (pk: string) => ({ table: 'config', item: { pk } }) as const;
  const unprocessed = (...keys: string[]) =>
    answer({
      UnprocessedItems: { 'gw-test-config': keys.map((key) => ({ PutRequest: { Item: { pk: { S: key } } } })) },
    });
  const sentKeys = ({ requests }: ScriptedServer): string[][] =>
    requests.map(({ body }) =>
      JSON.parse(body).RequestItems['gw-test-config'].map(
        ({ PutRequest }: { PutRequest: { Item: { pk: { S: string } } } }) => PutRequest.Item.pk.S,
      ),
    );

  it('sends again what was not written, and only that', async () => {
    const { server, store } = await serverAndStore(unprocessed('b', 'c'), unprocessed('c'), answer({}));
    await store.batchPut([put('a'), put('b'), put('c')]);
    expect(sentKeys(server)).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']]);
  });

  it('is repeated after a lost answer, and as often as a throttled call if it is written in part', async () => {
    const passing = await serverAndStore('lost', answer({}));
    await passing.store.batchPut([put('a')]);
    expect(sentKeys(passing.server)).toEqual([['a'], ['a']]);
    const lasting = await serverAndStore(unprocessed('a'));
    await expect(lasting.store.batchPut([put('a')])).rejects.toThrow(StoreUnavailable);
    expect(lasting.server.requests).toHaveLength(16);
  });

  it('of nothing asks for nothing', async () => {
    const { server, store } = await serverAndStore(answer({}));
    await store.batchPut([]);
    expect(server.requests).toHaveLength(0);
  });
});
