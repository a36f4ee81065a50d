// Updates of one turn of the event loop on DynamoDB: one request for all of them, and a result for each.
import { afterEach, describe, expect, it } from '#jest';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import { atLeast, type Store, StoreUnavailable, type Update } from '../../shared/storage/store/index.ts';
import {
  answer,
  awsError,
  type ScriptedBehaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';
import { eventually } from '../support/watched-clock.ts';

const randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const itemOf = (n: number) => ({ pk: { S: 'a' }, n: { N: String(n) } });
const found = answer({ Item: itemOf(1) });
const single = (n: number) => answer({ Attributes: itemOf(n) });
const together = (...outcomes: object[]) => answer({ Responses: outcomes });
const failed = (Code: string, Item?: object) => ({ Error: { Code, ...(Item && { Item }) } });
const onKeys: Update = { table: 'keys', key: 'a', changes: { add: { n: 1 } }, condition: atLeast('n', 1) };
const onLedger: Update = { ...onKeys, table: 'ledger' };
const isLarge = { kind: 'written', item: { pk: 'a', n: 2 } };

/** Returns a store that has read the items of both tables. */
async function storeWhere(
  ...behaviours: readonly ScriptedBehaviour[]
): Promise<{ store: Store; operations: () => string[]; requests: ScriptedServer['requests'] }> {
  const server = await startScriptedServer([found, found, ...behaviours]);
  const client = createDynamoClient({ endpoint: server.endpoint });
  cleanups.push(
    () => client.destroy(),
    () => server.stop(),
  );
  const store = createDynamoStore({ client, stage: 'test', randomness });
  await store.get('keys', 'a');
  await store.get('ledger', 'a');
  return { store, operations: () => server.operations().slice(2), requests: server.requests };
}

const both = ({ update }: Store) => Promise.all([update(onKeys), update(onLedger)]);

describe('updates of the same turn', () => {
  it('are one request, in which each has its own condition and its own outcome', async () => {
    const { store, operations, requests } = await storeWhere(
      together({ Item: itemOf(2) }, failed('ConditionalCheckFailed', itemOf(0))),
    );
    expect(await both(store)).toEqual([isLarge, { kind: 'refused', item: { pk: 'a', n: 0 } }]);
    expect(operations()).toEqual(['BatchExecuteStatement']);
    const { Statements } = JSON.parse(requests.at(-1)?.body ?? '') as { Statements: object[] };
    const statementOn = (table: string) => ({
      Statement: `UPDATE "gw-test-${table}" SET "n" = if_not_exists("n", ?) + ? WHERE "pk" = ? AND ("n" >= ?) RETURNING ALL NEW *`,
      Parameters: [{ N: '0' }, { N: '1' }, { S: 'a' }, { N: '1' }],
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(Statements).toEqual([statementOn('keys'), statementOn('ledger')]);
  });

  it('of one item are two requests, as DynamoDB demands', async () => {
    const { store, operations } = await storeWhere(single(2), single(3));
    const outcomes = await Promise.all([store.update(onKeys), store.update(onKeys)]);
    expect(outcomes.map(({ item }) => item?.n).toSorted()).toEqual([2, 3]);
    expect(operations()).toEqual(['UpdateItem', 'UpdateItem']);
  });

  it('of items that may not exist go alone, because a statement would make none', async () => {
    const { store, operations } = await storeWhere(single(2));
    expect(await Promise.all([store.update({ ...onKeys, key: 'new' }), store.update(onLedger)])).toEqual([
      isLarge,
      isLarge,
    ]);
    expect(operations()).toEqual(['UpdateItem', 'UpdateItem']);
  });

  it.each([
    ['without its item, since it may be gone', undefined],
    ['though its condition holds in the item', itemOf(7)],
  ])('are decided alone if the request for several refuses one %s', async (_case, item) => {
    const { store, operations } = await storeWhere(
      together({ Item: itemOf(2) }, failed('ConditionalCheckFailed', item)),
      single(9),
    );
    expect(await both(store)).toEqual([isLarge, { kind: 'written', item: { pk: 'a', n: 9 } }]);
    expect(operations()).toEqual(['BatchExecuteStatement', 'UpdateItem']);
  });

  it('whose answer was lost are not sent again, but for what is repeatable', async () => {
    const { store, operations } = await storeWhere('lost', single(2));
    const outcomes = await Promise.allSettled([store.update(onKeys), store.update({ ...onLedger, repeatable: true })]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: expect.any(StoreUnavailable) },
      { status: 'fulfilled', value: isLarge },
    ]);
    expect(operations()).toEqual(['BatchExecuteStatement', 'UpdateItem']);
  });

  it.each(['ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded'])(
    'are sent again if a single one would be: after a %s, and the others are not',
    async (code) => {
      const { store, operations } = await storeWhere(together(failed(code), { Item: itemOf(2) }), single(2));
      expect(await both(store)).toEqual([isLarge, isLarge]);
      expect(operations()).toEqual(['BatchExecuteStatement', 'UpdateItem']);
    },
  );

  it('fail if DynamoDB failed on one, which may have been made, and the others do not', async () => {
    const { store, operations } = await storeWhere(together(failed('InternalServerError'), { Item: itemOf(2) }));
    const outcomes = await Promise.allSettled([store.update(onKeys), store.update(onLedger)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(operations()).toEqual(['BatchExecuteStatement']);
  });

  it('are not waited for by one whose caller gave up, and not sent if all gave up before', async () => {
    const { store, operations } = await storeWhere('silent');
    for (const calledCommands of [[], ['BatchExecuteStatement']]) {
      const caller = new AbortController();
      const updates = [onKeys, onLedger].map((update) => store.update(update, { signal: caller.signal }));
      const outcomes = Promise.allSettled(updates);
      await eventually(() => operations().length === calledCommands.length);
      caller.abort();
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(operations()).toEqual(calledCommands);
    }
  });
});

describe('an engine that does not take several updates in one request', () => {
  const refusals: readonly (readonly [string, ScriptedBehaviour])[] = [
    ...['ValidationException', 'AccessDeniedException', 'UnknownOperationException'].map(
      (name) => [name, awsError(400, name)] as const,
    ),
    ['a statement with an error', together(failed('ValidationError'), failed('AccessDenied'))],
  ];

  it.each(refusals)('gets each alone, and is not asked again after %s', async (_case, refusal) => {
    const { store, operations } = await storeWhere(refusal, single(2));
    for (let turn = 1; turn <= 2; turn += 1) expect(await both(store)).toEqual([isLarge, isLarge]);
    expect(operations()).toEqual(['BatchExecuteStatement', ...Array.from({ length: 4 }, () => 'UpdateItem')]);
  });

  it('is asked again if the same update fails alone too, because its words were not the fault', async () => {
    const failure = awsError(400, 'ValidationException');
    const { store, operations } = await storeWhere(
      failure,
      failure,
      failure,
      together({ Item: itemOf(2) }, { Item: itemOf(2) }),
    );
    await expect(both(store)).rejects.toThrow(StoreUnavailable);
    expect(await both(store)).toEqual([isLarge, isLarge]);
    expect(operations()).toEqual(['BatchExecuteStatement', 'UpdateItem', 'UpdateItem', 'BatchExecuteStatement']);
  });
});
