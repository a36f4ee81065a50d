// The grants of the functions against what the gateway really calls: a permission that is missing would be an outage
// that only AWS shows, one too many would be found by nobody.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatTableActions, modelsTableActions, type TableAction } from '../../infra/cdk/constructs/table-actions.ts';
import type { TableName } from '../../shared/foundation/constants/index.ts';
import { ask, prompt } from '../contract/function-calls.ts';
import { type Door, startWorld, type World } from '../flow/money-world.ts';
import { aroundStore, type StoreCall } from '../flow/wrapped-store.ts';
import { hello } from '../support/harness.ts';

const actionOf: Readonly<Record<StoreCall['method'], TableAction | 'DeleteItem'>> = {
  get: 'GetItem',
  put: 'PutItem',
  update: 'UpdateItem',
  batchPut: 'BatchWriteItem',
  delete: 'DeleteItem',
};

/** A snapshot is made by whoever finds an old one; other shards of credit are looked at where one runs short. */
const seldom: Readonly<Record<string, readonly TableAction[]>> = {
  statistics: ['GetItem', 'PutItem'],
  ledger: ['GetItem'],
};

process.env.GW_TEST_CONNECTION_KEY = 'sk-client-connection-key-5811';
const limited = { rate_limit_rpm: 100, rate_limit_tpm: 100_000 };
describe('the tables, while the gateway serves every kind of request', () => {
  let world: World;
  let door: Door;
  const seen = new Map<string, Set<string>>();
  /** Table → calls, since the last time it was asked. */
  const take = (): Record<string, string[]> => {
    const calls = Object.fromEntries([...seen].map(([table, actions]) => [table, [...actions].toSorted()]));
    seen.clear();
    return calls;
  };
  const send = async (body: object, headers: Record<string, string> = {}): Promise<number> => {
    const response = await door.post(body, headers);
    await response.text();
    await door.settled();
    return response.status;
  };

  beforeAll(async () => {
    world = await startWorld({
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo', more: limited }],
        'acme/failing': [
          { provider: 'acme', upstream: 'error-500' },
          { provider: 'bolt', upstream: 'echo', more: { output_price_per_million: '9' } },
        ],
      },
      providers: { acme: { accepts_byok_header: true }, bolt: {} },
      key: { rpm: 1_000, spend_limit_usd: '10' },
      workspace: {
        features: { byok: true },
        byok: { connections: [{ provider: 'acme', key: { env: 'GW_TEST_CONNECTION_KEY' }, policy: 'allowed' }] },
        functions: [prompt('answer')],
      },
    });
    door = await world.open({
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          seen.set(call.table, (seen.get(call.table) ?? new Set()).add(actionOf[call.method]));
          return run();
        }),
    });
  });
  afterAll(() => world?.stop());

  it('are called by the chat function exactly as its role allows', async () => {
    const cached = hello('acme/echo', { cache: { enabled: true } });
    const replayed = { 'idempotency-key': 'once' };
    const statuses = [
      await send(hello('acme/echo')),
      await send(hello('acme/echo', { stream: true })),
      await send(hello('acme/failing')),
      await send(hello('acme/echo'), replayed),
      await send(hello('acme/echo'), replayed),
      await send(hello('acme/echo'), { 'x-gw-trace-id': 'a-trace', 'x-gw-span-id': 'a-span' }),
      await send(hello('acme/echo', { max_tokens: 5 }), {
        ...replayed,
        'x-gw-trace-id': 'a-trace',
        'x-gw-span-id': 'b-span',
      }),
      await send(cached),
      await send(cached),
      await send(ask('answer')),
    ];
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 409, 200, 200, 200]);
    const called = take();
    for (const [table, actions] of Object.entries(chatTableActions)) {
      const found = [...(called[table] ?? []), ...(seldom[table] ?? [])];
      expect({ table, actions: [...new Set(found)].toSorted() }).toEqual({ table, actions: actions.toSorted() });
    }
    expect(Object.keys(chatTableActions)).toEqual(expect.arrayContaining(Object.keys(called)));
  });

  it('are called by the listing no more than its role allows', async () => {
    const response = await fetch(`${door.url}/models`, { headers: { authorization: `Bearer ${world.key}` } });
    expect(response.status).toBe(200);
    await door.settled();
    for (const [table, actions] of Object.entries(take())) {
      expect({ table, allowed: modelsTableActions[table as TableName & keyof typeof modelsTableActions] }).toEqual({
        table,
        allowed: expect.arrayContaining(actions),
      });
    }
  });
});
