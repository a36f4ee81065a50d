// A gateway is killed while it serves, several times: its records still say what was charged.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '#jest';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { openSqliteStore } from '../../shared/storage/sqlite-store/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { startGateway } from '../support/gateway-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';

const kills = 4;
/** Returns how many answers are read before a kill; the number differs so that each kill meets another moment. */
const answersBefore = (kill: number): number => 30 + 7 * kill;
const callsAtOnce = 16;
/** One key has a spend limit, one has none, and one has so few slots that each slot is released before its answer. */
const keys = { limited: newKey(), open: newKey(), narrow: newKey() };
const keyNames = Object.keys(keys) as (keyof typeof keys)[];
/**
 * The number is below the spare slots, and suffices for the key's calls of every kill; slots of killed calls return
 * after a minute.
 */
const narrowSlots = 24;
const narrowCallsAtOnce = 3;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.stop());

/** Makes calls until the gateway is gone. */
async function callOn(url: string, n: number, onAnswer: () => void): Promise<void> {
  const key = n < narrowCallsAtOnce ? keys.narrow : n % 2 === 0 ? keys.limited : keys.open;
  const body = { model: 'acme/echo', messages: [{ role: 'user', content: 'Hello' }], stream: n % 4 < 2 };
  for (;;) {
    try {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
      await response.text();
      expect(response.status).toBe(200);
      onAnswer();
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

const amountOf = (value: unknown): bigint => BigInt((value ?? 0) as number | bigint);

async function sumOf(store: Store, table: 'keys' | 'ledger' | 'records', read: (item: Item) => bigint) {
  let sum = 0n;
  for await (const item of store.scan(table)) sum += read(item);
  return sum;
}

/** Returns what records and owners say was spent, for the workspace and for each key. */
async function totalsIn(folder: string) {
  const { store, close } = await openSqliteStore({ folder });
  const byRecords = (name?: string) =>
    sumOf(store, 'records', (item) =>
      name === undefined || item.key_name === name ? amountOf(item.cost_pico_usd) : 0n,
    );
  const byKey = (name: string) =>
    sumOf(store, 'keys', (item) => (item.name === name ? amountOf(item.spent_pico_usd) : 0n));
  const records: bigint[] = [await byRecords()];
  const owners = [await sumOf(store, 'ledger', (item) => amountOf(item.spent_pico_usd))];
  for (const name of keyNames) {
    records.push(await byRecords(name));
    owners.push(await byKey(name));
  }
  await close();
  return { records, owners };
}

it('a process that is killed under load leaves records that tell the same sum as each key and the workspace', async () => {
  const data = join(temporaryFolder(), 'data');
  const config = join(temporaryFolder(), 'gateway.yaml');
  const models = { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] };
  const workspace = {
    // The records of half of the calls wait for the file with their bodies.
    content_log: { keep: '1d', share: 0.5 },
    keys: [
      { name: 'limited', key: keys.limited, spend_limit_usd: '50' },
      { name: 'open', key: keys.open },
      { name: 'narrow', key: keys.narrow, concurrency: narrowSlots },
    ],
  };
  writeFileSync(config, gatewayFileText({ models, workspace }, simulator.urlOf, keys.limited));
  let spentBefore = 0n;
  for (let kill = 0; kill < kills; kill += 1) {
    const { url, process: child } = await startGateway(
      `--log off --data ${data} --config ${config}`,
      temporaryFolder(),
    );
    const ended = once(child, 'exit');
    let answers = 0;
    const calling = Array.from({ length: callsAtOnce }, (_none, n) =>
      callOn(url, n, () => {
        answers += 1;
        if (answers === answersBefore(kill)) child.kill('SIGKILL');
      }),
    );
    await Promise.all(calling).finally(() => child.kill('SIGKILL'));
    await ended;
    const { records, owners } = await totalsIn(data);
    expect(records).toEqual(owners);
    const [spent = 0n] = owners;
    expect(spent).toBeGreaterThan(spentBefore);
    spentBefore = spent;
  }
});
