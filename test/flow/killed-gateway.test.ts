// A gateway process that is killed in the middle of a call and of an execution (SIGKILL, no handler runs), and others at a
// later hour on the same store: what the first held comes back with its lease, and each retry takes over once.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createChatGateway } from '../../functions/gateway/routes.ts';
import { type BoundChild, spawnBoundChild } from '../../infra/local/bound-child.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { type Composition, createComposition } from '../../shared/composition/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import { nextTurn, systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/store/index.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt } from '../support/function-calls.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { hello } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The stage of a local run, whose tables need a server of their own. */
const environment = { stage: 'local', originSecretHashes: [], logLevel: 'silent' } as const;
const main = resolve(import.meta.dirname, '../../infra/local/main.ts');
/** What a call held comes back up to so much later than its lease. */
const expiryDelayMs = 5_000;
const [key, functionKey] = [newKey(), newKey()];
const callHeaders = { authorization: `Bearer ${key}`, 'idempotency-key': 'order-1', 'x-gw-span-id': 'span-1' };
const functionHeaders = { authorization: `Bearer ${functionKey}`, 'idempotency-key': crypto.randomUUID() };

const route = (upstream: string) => [{ provider: 'acme', upstream, more: { output_price_per_million: '9' } }];
const parts = {
  models: {
    ...modelsFor(['usage:1000:500', 'silent']),
    'acme/dear-silent': route('silent:dear'),
    'acme/paid': route('usage:1000:500'),
  },
  // One call of 1,000 tokens of output may cost 0.009 USD and a little: two do not fit.
  workspace: { credit_usd: '0.015' },
  key: { spend_limit_usd: '0.015' },
  moreWorkspaces: [
    {
      id: 'functions',
      credit_usd: '1',
      function_concurrency: 1,
      keys: [{ name: 'functions', key: functionKey, spend_limit_usd: '0.3' }],
      // Its first model never answers.
      functions: [prompt('stuck', { model: 'acme/silent', fallback_models: ['acme/usage:1000:500'] })],
    },
  ],
};

const post = (url: string, body: object, headers: Record<string, string>) =>
  fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
const paid = (url: string, model: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
  post(url, hello(model, { max_tokens: 1_000 }), headers);
const execute = (url: string, more: object = {}) => post(url, ask('stuck'), { ...functionHeaders, ...more });

describe('a gateway that is killed while its providers are silent', () => {
  let dynamo: EmbeddedDynamo;
  let client: ReturnType<typeof createDynamoClient>;
  let simulator: Simulator;
  let killed: BoundChild;
  /** Both calls arrived between these. */
  let [sentAtMs, receivedAtMs] = [0, 0];
  let stopAlive: () => Promise<void> = async () => {};

  beforeAll(async () => {
    [dynamo, simulator] = await Promise.all([startEmbeddedDynamo({ log: () => {} }), startSimulator({ paceMs: 0 })]);
    client = createDynamoClient({ endpoint: dynamo.endpoint });
    const config = join(temporaryFolder(), 'gateway.yaml');
    await writeFile(config, gatewayFileText(parts, simulator.urlOf, key));
    const args = [main, '--port', '0', '--log', 'off', '--config', config, '--dynamodb', dynamo.endpoint];
    killed = spawnBoundChild(process.execPath, args);
    const url = await readyUrl(killed);
    sentAtMs = Date.now();
    const lost = [
      await untilCalled(1, () => paid(url, 'acme/dear-silent', callHeaders)),
      await untilCalled(2, () => execute(url)),
    ];
    receivedAtMs = Math.max(...simulator.calls.map((call) => call.receivedAtMs));
    const ended = once(killed.process, 'exit');
    process.kill(killed.process.pid as number, 'SIGKILL');
    await ended;
    for (const { answer } of lost) await expect(answer).rejects.toThrow();
    await simulator.until((calls) => calls.every(({ closedEarly }) => closedEarly === true));
  });
  beforeEach(() => simulator.clear());
  afterEach(() => stopAlive());
  afterAll(async () => {
    client.destroy();
    await Promise.all([killed?.stop(), simulator.stop(), dynamo.stop()]);
  });

  /** On a busy machine the store of another process may be too slow for its first call: that one is refused. */
  async function untilCalled(count: number, send: () => Promise<Response>): Promise<{ answer: Promise<Response> }> {
    const reached = simulator.until((calls) => calls.length === count);
    for (;;) {
      const answer = send();
      answer.catch(() => {});
      const refused = await Promise.race([reached, answer]);
      if (refused === undefined) return { answer };
      await expectError(refused, 503, 'RATE_LIMITER_UNAVAILABLE');
    }
  }

  async function startAlive(clock: ManualClock): Promise<{ url: string; composition: Composition }> {
    const adapters = localAdapters({ data: undefined, dynamodb: undefined });
    const store = createDynamoStore({ client, stage: environment.stage });
    const composition = createComposition({ environment, clock, store, ...adapters });
    const server = createNodeServer(createChatGateway(composition), composition);
    const port = await server.listen(0, '127.0.0.1');
    stopAlive = async () => {
      await server.close();
      composition.transport.close();
    };
    return { url: `http://127.0.0.1:${port}/v1`, composition };
  }

  it('holds the money of a call for the lease and no longer, and lets one retry take over its key', async () => {
    const clock = manualClock(systemClock.nowMs());
    const { url, composition } = await startAlive(clock);
    const credit = () => composition.credit.show({ workspace: 'team', spendLimit: null });
    const { held, spent } = await credit();
    expect([held > 0n, spent]).toEqual([true, 0n]);

    clock.advance(leaseMs - 10_000);
    expect(await outcomeOf(await paid(url, 'acme/paid'))).toBe('PAYMENT_REQUIRED');
    expect(await outcomeOf(await paid(url, 'acme/dear-silent', callHeaders))).toBe('execution_in_progress');
    expect(simulator.calls).toEqual([]);
    clock.advance(10_000 + expiryDelayMs + 2_000);
    // The same key, span and body: the retry of the call that died. Its provider is still silent.
    const retry = paid(url, 'acme/dear-silent', callHeaders);
    await simulator.until((calls) => calls.length === 1);
    expect(await outcomeOf(await paid(url, 'acme/dear-silent', callHeaders))).toBe('execution_in_progress');
    clock.advance(55_000);
    expect(await outcomeOf(await retry)).toBe('request_deadline_exceeded');
    expect(await outcomeOf(await paid(url, 'acme/paid'))).toBe('ok');
    await stopAlive();
    expect(await credit()).toMatchObject({ held: 0n, spent: 5_500_000_000n });
  });

  it('lets exactly one retry take over an execution when its lease is over and not before, and the money is exact', async () => {
    // It arrived after `sentAtMs` and before `receivedAtMs`: so far its lease lasts for certain.
    const clock = manualClock(sentAtMs + leaseMs - 1);
    const { url, composition } = await startAlive(clock);
    const account = { workspace: 'functions', spendLimit: null };
    expect((await composition.credit.show(account)).held).toBeGreaterThan(0n);
    await expectError(await execute(url), 409, 'execution_in_progress');
    await expectError(await execute(url, { 'idempotency-key': crypto.randomUUID() }), 429, 'execution_capacity');

    clock.advance(receivedAtMs - sentAtMs + 1 + expiryDelayMs);
    const retries = Array.from({ length: 6 }, () => execute(url));
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

    await stopAlive();
    const { granted, available, spent, held } = await composition.credit.show(account);
    expect({ granted, available, spent, held }).toEqual({
      granted: 1_000_000_000_000n,
      available: 998_000_000_000n,
      spent: 2_000_000_000n,
      held: 0n,
    });
    const keyItem = (await composition.keys.readItem(parseApiKey(functionKey)?.publicId ?? '')) ?? {};
    expect([keyItem.balance_pico_usd, keyItem.spent_pico_usd].map(Number)).toEqual([-2_000_000_000, 2_000_000_000]);
    for (const slots of ['SLOTS', 'SLOTS#functions']) {
      expect(Number((await composition.store.get('ledger', slots))?.balance_slots)).toBe(0);
    }
  });
});

async function readyUrl({ process: { stdout } }: BoundChild): Promise<string> {
  if (stdout === null) throw new Error('the gateway has no output');
  for await (const line of createInterface({ input: stdout })) {
    if (line.startsWith('ready ')) return line.slice('ready '.length);
  }
  throw new Error('the gateway ended before it was ready');
}
