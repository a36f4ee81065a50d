// The gateway with its books open: several doors on one store, each of which can say when every request behind it has
// settled, and readers for credit, keys and call records.
import { expect } from '@jest/globals';
import { createChatGateway } from '../../functions/chat-completions/routes.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import type { CallRecord } from '../../shared/accounting/call-records/index.ts';
import type { CreditSummary } from '../../shared/accounting/credit/index.ts';
import { createRuntime, type Runtime } from '../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { createNodeServer, type Gateway } from '../../shared/protocol/http/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type FileParts, gatewayFileText, newKey } from '../support/gateway-file.ts';

export interface DoorOptions {
  readonly clock?: Clock | undefined;
  /** What stands between the gateway and the store. */
  readonly wrapStore?: ((store: Store) => Store) | undefined;
  readonly replace?: ((runtime: Runtime) => Partial<Runtime>) | undefined;
}

export interface Door {
  readonly url: string;
  readonly runtime: Runtime;
  post(body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** Resolves when no request is under way any more, settlement included. */
  settled(): Promise<void>;
}

export interface World extends Door {
  readonly key: string;
  readonly simulator: Simulator;
  readonly testStore: TestStore;
  readonly logLines: readonly string[];
  /** Another gateway on the same store. */
  open(options?: DoorOptions): Promise<Door>;
  apply(parts: FileParts): Promise<void>;
  credit(workspace?: string): Promise<CreditSummary>;
  records(workspace?: string): Promise<CallRecord[]>;
  keyItem(key?: string): Promise<Item>;
  stop(): Promise<void>;
}

export async function startWorld({ clock, wrapStore, replace, ...parts }: FileParts & DoorOptions): Promise<World> {
  const [testStore, simulator] = await Promise.all([startTestStore(), startSimulator({ paceMs: 0 })]);
  const adapters = localAdapters({ data: undefined, dynamodb: undefined });
  const logLines: string[] = [];
  const key = newKey();
  const stops: (() => Promise<void>)[] = [];
  const runtimeOn = (options: DoorOptions): Runtime => {
    const environment = { stage: testStore.stage, originSecretHashes: [], logLevel: 'silent' } as const;
    const store = options.wrapStore?.(testStore.store) ?? testStore.store;
    const real = createRuntime({ environment, clock: options.clock ?? clock, store, ...adapters });
    const log = createLog({ clock: real.clock, write: (line) => void logLines.push(line) });
    return { ...real, log, ...options.replace?.({ ...real, log }) };
  };
  // What the operator does is not what a test counts.
  const operator = runtimeOn({});
  const apply = (file: FileParts) => applyText(operator, gatewayFileText(file, simulator.urlOf, key));
  const open = async (options: DoorOptions = {}): Promise<Door> => {
    const { door, stop } = await openDoor(runtimeOn(options), key);
    stops.push(stop);
    return door;
  };
  await apply(parts);
  const first = await open({ wrapStore, replace });
  return {
    ...first,
    key,
    simulator,
    testStore,
    logLines,
    open,
    apply,
    credit: (workspace = 'team') => operator.credit.show({ workspace, spendLimit: null }),
    records: (workspace = 'team') => readRecords(operator, workspace),
    keyItem: async (text = key) => (await operator.keys.readItem(parseApiKey(text)?.publicId ?? '')) ?? {},
    async stop() {
      // First the providers: a call whose client left reads on until they end.
      await simulator.stop();
      for (const stop of stops) await stop();
      await testStore.stop();
    },
  };
}

async function applyText(runtime: Runtime, text: string): Promise<void> {
  const result = readGatewayFile(text);
  if (!result.ok) throw new Error(`the gateway file of the test is not valid: ${JSON.stringify(result.problems)}`);
  const { randomness, clock } = runtime;
  await applyGatewayFile({ file: result.file, stores: runtime, readVariable, randomness, nowMs: clock.nowMs() });
}

async function openDoor(runtime: Runtime, key: string): Promise<{ door: Door; stop: () => Promise<void> }> {
  const running = new Set<object>();
  const waiting = new Set<() => void>();
  const end = (mark: object) => {
    running.delete(mark);
    if (running.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const gateway = createChatGateway(runtime);
  const counted: Gateway = async (request, context) => {
    const mark = {};
    running.add(mark);
    const response = await gateway(request, context);
    return { ...response, finish: async () => response.finish?.().finally(() => end(mark)) };
  };
  const server = createNodeServer(counted, runtime);
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
  const door: Door = {
    url,
    runtime,
    post: (body, headers = {}, signal) =>
      fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    settled: () => new Promise((resolve) => (running.size === 0 ? resolve() : void waiting.add(resolve))),
  };
  const stop = async () => {
    await server.close();
    runtime.transport.close();
  };
  return { door, stop };
}

const dayMs = 86_400_000;

/** Of today and of the days around it: a test may run at midnight, or on a clock that it moved. */
async function readRecords({ records, clock }: Runtime, workspace: string): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  for (const days of [-1, 0, 1]) {
    const day = new Date(clock.nowMs() + days * dayMs).toISOString().slice(0, 10);
    for await (const record of records.read(workspace, day)) found.push(record);
  }
  return found.toSorted((a, b) => a.arrivedAtMs - b.arrivedAtMs);
}

/** The status of an answer, or its code where it is an error. Reads it to its end. */
export async function outcomeOf(response: Response): Promise<string> {
  const text = await response.text();
  return response.status === 200 ? 'ok' : (JSON.parse(text) as { error: string }).error;
}

export async function countOutcomes(answers: readonly Promise<Response>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(answers.map(async (answer) => outcomeOf(await answer)))) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/**
 * What holds after every call, however it ended: nothing is held, no money was made or lost, and the records that credit
 * paid for add up to what was spent. Gives what was spent.
 */
export async function expectBalancedBooks(world: World, workspace = 'team'): Promise<bigint> {
  const { granted, available, spent, held, holds } = await world.credit(workspace);
  expect({ held, holds: holds.filter(({ amount }) => amount > 0n) }).toEqual({ held: 0n, holds: [] });
  expect(granted).toBe(available + spent);
  const records = await world.records(workspace);
  expect(records.filter(({ isByok }) => !isByok).reduce((sum, record) => sum + record.costPicoUsd, 0n)).toBe(spent);
  for (const table of ['keys', 'ledger'] as const) {
    for await (const item of world.testStore.store.scan(table)) {
      expect(liveHolds(item)).toEqual([]);
      if (item.balance_pico_usd === undefined || item.granted_pico_usd !== undefined) continue;
      expect(BigInt(item.balance_pico_usd as number) + BigInt((item.spent_pico_usd as number) ?? 0)).toBe(0n);
    }
  }
  return spent;
}

const liveHolds = (item: Item) =>
  Object.entries(item).filter(
    ([name, hold]) => name.startsWith('hold#') && BigInt((hold as { amount: number }).amount) > 0n,
  );
