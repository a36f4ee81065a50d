// A gateway process that is killed in the middle of an execution (SIGKILL, no handler runs), and another one on the same
// store: what the first held comes back with its lease, and its call is taken over once.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createChatGateway } from '../../functions/gateway/routes.ts';
import { type BoundChild, spawnBoundChild } from '../../infra/local/bound-child.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { type Composition, createComposition } from '../../shared/composition/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { createDynamoStore } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt } from '../support/function-calls.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

/** The stage of a local run. */
const environment = { stage: 'local', originSecretHashes: [], logLevel: 'error' } as const;
const main = resolve(import.meta.dirname, '../../infra/local/main.ts');
const key = newKey();
const headers = { authorization: `Bearer ${key}`, 'idempotency-key': crypto.randomUUID() };

describe('an execution whose gateway is killed', () => {
  let folder: string;
  let testStore: TestStore;
  let simulator: Simulator;
  let killed: BoundChild;
  const stops: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    [folder, testStore, simulator] = await Promise.all([
      mkdtemp(join(tmpdir(), 'gw-killed-')),
      startTestStore(),
      startSimulator({ paceMs: 0 }),
    ]);
    const parts = {
      // Silent for the first caller; the second one is another model name, so that it is answered.
      models: { ...modelsFor(['usage:1000:500']), 'acme/silent': [{ provider: 'acme', upstream: 'silent' }] },
      workspace: {
        credit_usd: '1',
        function_concurrency: 1,
        functions: [
          prompt('stuck', { model: 'acme/silent', fallback_models: ['acme/usage:1000:500'] }),
          prompt('quick', { model: 'acme/usage:1000:500' }),
        ],
      },
      key: { spend_limit_usd: '0.3' },
    };
    await writeFile(join(folder, 'gateway.yaml'), gatewayFileText(parts, simulator.urlOf, key));
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    await Promise.all([killed?.stop(), simulator.stop(), testStore.stop()]);
    await rm(folder, { recursive: true });
  });

  const post = (url: string, more: object = headers) =>
    fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(ask('stuck')),
    });

  /** On a busy machine the store of another process may be too slow for its first call: that one is refused. */
  async function reachProvider(url: string): Promise<{ answer: Promise<Response> }> {
    const reached = simulator.until((calls) => calls.length === 1);
    for (;;) {
      const answer = post(url);
      answer.catch(() => {});
      const refused = await Promise.race([reached, answer]);
      if (refused === undefined) return { answer };
      await expectError(refused, 503, 'RATE_LIMITER_UNAVAILABLE');
    }
  }

  async function startKilled(): Promise<string> {
    const options = [
      '--port',
      '0',
      '--log',
      'off',
      '--config',
      join(folder, 'gateway.yaml'),
      '--dynamodb',
      testStore.endpoint,
    ];
    killed = spawnBoundChild(process.execPath, [main, ...options]);
    const lines = createInterface({ input: killed.process.stdout as NonNullable<typeof killed.process.stdout> });
    for await (const line of lines) {
      const [, url] = /^ready (\S+)$/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error('the gateway ended before it was ready');
  }

  async function startAlive(
    clock: ManualClock,
  ): Promise<{ url: string; composition: Composition; settled(): Promise<void> }> {
    const adapters = localAdapters({ data: folder, dynamodb: undefined });
    const store = createDynamoStore({ client: testStore.client, stage: environment.stage });
    const real = createComposition({ environment, clock, store, ...adapters });
    const composition = { ...real, log: createLog({ clock, write: () => {} }) };
    const server = createNodeServer(createChatGateway(composition), composition);
    const port = await server.listen(0, '127.0.0.1');
    const stop = async () => {
      await server.close();
      composition.transport.close();
    };
    stops.push(stop);
    return { url: `http://127.0.0.1:${port}/v1`, composition, settled: () => server.close() };
  }

  it('is taken over by exactly one retry when its lease is over and not before, and the money is exact', async () => {
    const sentAtMs = Date.now();
    const url = await startKilled();
    const lost = await reachProvider(url);
    const [{ receivedAtMs = 0 } = {}] = simulator.calls;
    const ended = once(killed.process, 'exit');
    process.kill(killed.process.pid as number, 'SIGKILL');
    await ended;
    await expect(lost.answer).rejects.toThrow();

    // It arrived after `sentAtMs` and before `receivedAtMs`: so far its lease lasts for certain.
    const clock = manualClock(sentAtMs + leaseMs - 1);
    const alive = await startAlive(clock);
    const account = { workspace: 'team', spendLimit: null };
    const held = await alive.composition.credit.show(account);
    expect(held.held).toBeGreaterThan(0n);
    await expectError(await post(alive.url), 409, 'execution_in_progress');
    await expectError(await post(alive.url, { 'idempotency-key': crypto.randomUUID() }), 429, 'execution_capacity');

    // What it held comes back up to five seconds after its lease (contract 6).
    clock.advance(receivedAtMs - sentAtMs + 1 + 5_000);
    simulator.clear();
    const retries = Array.from({ length: 6 }, () => post(alive.url));
    let refused = 0;
    for (const answer of retries) void answer.then(({ status }) => (refused += status === 409 ? 1 : 0));
    await simulator.until((calls) => calls.length === 1);
    while (refused < 5) await nextTurn();
    // The silent model is given up in favour of the fallback.
    clock.advance(45_000);
    const winner = (await Promise.all(retries)).find(({ status }) => status === 200);
    if (winner === undefined) throw new Error('no retry took over');
    const { usage, gw } = await answerOf(winner);
    expect(gw.fallback_used).toBe(true);
    expect(usage).toMatchObject({ attempts: 2, cost_usd: '0.002' });
    expect(simulator.calls.map(({ model }) => model)).toEqual(['silent', 'usage:1000:500']);

    await alive.settled();
    const { granted, available, spent, held: stillHeld } = await alive.composition.credit.show(account);
    expect({ granted, available, spent, stillHeld }).toEqual({
      granted: 1_000_000_000_000n,
      available: 998_000_000_000n,
      spent: 2_000_000_000n,
      stillHeld: 0n,
    });
    const keyItem = (await alive.composition.keys.readItem(parseApiKey(key)?.publicId ?? '')) ?? {};
    expect([keyItem.balance_pico_usd, keyItem.spent_pico_usd].map(Number)).toEqual([-2_000_000_000, 2_000_000_000]);
    for (const slots of ['SLOTS', 'SLOTS#team']) {
      expect(Number((await alive.composition.store.get('ledger', slots))?.balance_slots)).toBe(0);
    }
  });
});
