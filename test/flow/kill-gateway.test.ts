// A gateway that is killed between hold and settlement: what it held comes back with its lease, its Idempotency-Key can
// be taken over, and nothing was charged. The lease is 70 s: a second gateway on the same store looks at a later hour.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createChatGateway } from '../../functions/gateway/routes.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { type Composition, createComposition } from '../../shared/composition/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer, type NodeServer } from '../../shared/protocol/http/index.ts';
import { createDynamoStore } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { hello } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';

const main = resolve('infra/local/main.ts');

describe('a gateway that is killed while a provider is silent', () => {
  const key = newKey();
  let testStore: TestStore;
  let simulator: Simulator;
  let folder: string;
  let child: ChildProcess;
  let clock: ManualClock;
  let composition: Composition;
  let server: NodeServer;
  let url: string;

  beforeAll(async () => {
    [testStore, simulator, folder] = await Promise.all([
      startTestStore(),
      startSimulator({ paceMs: 0 }),
      mkdtemp(join(tmpdir(), 'gw-kill-')),
    ]);
    const route = (upstream: string) => [{ provider: 'acme', upstream, more: { output_price_per_million: '9' } }];
    const parts = {
      models: { 'acme/silent': route('silent'), 'acme/paid': route('usage:1000:500') },
      // One call of 1,000 tokens of output may cost 0.009 USD and a little: two do not fit.
      workspace: { credit_usd: '0.015' },
      key: { spend_limit_usd: '0.015' },
    };
    const config = join(folder, 'gateway.yaml');
    await writeFile(config, gatewayFileText(parts, simulator.urlOf, key));
    const args = [main, '--port', '0', '--log', 'off', '--config', config, '--dynamodb', testStore.endpoint];
    child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    url = await readyUrl(child);

    clock = manualClock(systemClock.nowMs());
    const store = createDynamoStore({ client: testStore.client, stage: 'local' });
    const environment = { stage: 'local', originSecretHashes: [], logLevel: 'silent' } as const;
    composition = createComposition({
      environment,
      clock,
      store,
      ...localAdapters({ data: undefined, dynamodb: undefined }),
    });
    server = createNodeServer(createChatGateway(composition), composition);
  });
  afterAll(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await server.close();
    composition.transport.close();
    await Promise.all([simulator.stop(), testStore.stop(), rm(folder, { recursive: true })]);
  });

  const post = (base: string, model: string, headers = {}) =>
    fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(hello(model, { max_tokens: 1_000 })),
    });
  const credit = () => composition.credit.show({ workspace: 'team', spendLimit: null });

  it('holds its money for the lease and no longer, and lets one retry take over its key', async () => {
    const names = { 'idempotency-key': 'order-1', 'x-gw-span-id': 'span-1' };
    const answer = post(url, 'acme/silent', names);
    answer.catch(() => {});
    await simulator.until((calls) => calls.length === 1);
    const { held } = await credit();
    expect(held).toBeGreaterThan(0n);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect(answer).rejects.toThrow();
    await simulator.until(([call]) => call?.closedEarly === true);
    expect(await credit()).toMatchObject({ held, spent: 0n });

    const second = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
    clock.advance(leaseMs - 10_000);
    expect(await outcomeOf(await post(second, 'acme/paid'))).toBe('PAYMENT_REQUIRED');
    expect(await outcomeOf(await post(second, 'acme/silent', names))).toBe('execution_in_progress');
    expect(simulator.calls).toHaveLength(1);
    // What it held comes back up to five seconds after its lease (contract 6), and it came after this clock was set.
    clock.advance(17_000);
    // The same key, span and body: the retry of the call that died. Its provider is still silent.
    const retry = post(second, 'acme/silent', names);
    await simulator.until((calls) => calls.length === 2);
    expect(await outcomeOf(await post(second, 'acme/silent', names))).toBe('execution_in_progress');
    clock.advance(55_000);
    expect(await outcomeOf(await retry)).toBe('request_deadline_exceeded');
    expect(await outcomeOf(await post(second, 'acme/paid'))).toBe('ok');
    await server.close();
    expect(await credit()).toMatchObject({ held: 0n, spent: 5_500_000_000n });
  });
});

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the gateway has no output');
  for await (const line of createInterface({ input: stdout })) {
    if (line.startsWith('ready ')) return line.slice('ready '.length);
  }
  throw new Error('the gateway ended before it was ready');
}
