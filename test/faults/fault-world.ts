// Gateways on one store, each behind a store that misbehaves as its plan says, and all on one clock that may jump.

import { createChatGateway } from '../../functions/chat-completions/routes.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { createRuntime, type Runtime } from '../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { storeCallTimeoutMs } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import type { Transport } from '../../shared/routing/providers/index.ts';
import { createDynamoStore, type DynamoClient } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { gatewayFileText } from '../support/gateway-file.ts';
import { connectionVariable, faultFile, type Keys, makeKeys } from './fault-file.ts';
import { type FaultPlan, faultyClient } from './faulty-client.ts';
import { createWitness, type Witness } from './witness.ts';

export interface GatewayOptions {
  readonly plan?: FaultPlan | undefined;
  /** What the gateway gets in place of the client, of the clock, of the transport. */
  readonly wrap?: Wrappers | undefined;
}

export interface Wrappers {
  readonly client: (client: DynamoClient) => DynamoClient;
  readonly clock: (clock: Clock) => Clock;
  readonly transport: (transport: Transport) => Transport;
}

export interface FaultyGateway {
  readonly runtime: Runtime;
  readonly gateway: Gateway;
}

export interface FaultWorld {
  readonly keys: Keys;
  readonly simulator: Simulator;
  readonly witness: Witness;
  readonly logLines: string[];
  /** A runtime without faults: the operator's. */
  readonly operator: Runtime;
  readonly clock: Clock;
  /** From now on it is so much later, for every gateway. */
  advance(byMs: number): void;
  open(options?: GatewayOptions): FaultyGateway;
  stop(): Promise<void>;
}

const creditShards = 3;
/** The provider key that workspace `own` has stored. */
export const connectionKey = 'sk-stored-connection';

/** Where the tables are. */
export type Tables = Pick<TestStore, 'client' | 'endpoint' | 'stage' | 'stop'>;

/** A busy machine must not make faults of its own: the witness would not see what became of them. */
const patient = (clock: Clock): Clock => ({
  ...clock,
  after: (delayMs, callback) => (delayMs >= storeCallTimeoutMs ? () => {} : clock.after(delayMs, callback)),
});

export interface WorldOptions {
  /** Default: tables of its own. */
  readonly tables?: Tables | undefined;
  /** Folder of what stands outside the store. Default: memory. */
  readonly folder?: string | undefined;
}

export async function startFaultWorld({ tables, folder }: WorldOptions = {}): Promise<FaultWorld> {
  const { client: realClient, stage, stop: stopTables } = tables ?? (await startTestStore());
  const simulator = await startSimulator({ paceMs: 0 });
  const keys = makeKeys(systemRandomness);
  const witness = createWitness();
  const logLines: string[] = [];
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const adapters = localAdapters({ data: folder, dynamodb: undefined });
  const environment = { stage, originSecretHashes: [], logLevel: 'silent' } as const;
  const transports: Runtime['transport'][] = [];

  function openRuntime({ plan = () => undefined, wrap }: GatewayOptions): Runtime {
    const own = wrap?.clock(clock) ?? clock;
    const client = faultyClient(realClient, plan, witness.see);
    const store = createDynamoStore({ client: wrap?.client(client) ?? client, stage, clock: patient(own) });
    const real = createRuntime({ environment, clock: own, store, ...adapters });
    transports.push(real.transport);
    const log = createLog({ clock: own, level: 'error', write: (line) => void logLines.push(line) });
    const credit = witness.watch(real.credit);
    return { ...real, credit, log, transport: wrap?.transport(real.transport) ?? real.transport };
  }

  const operator = openRuntime({});
  await applyFile(operator, keys, simulator);
  return {
    keys,
    simulator,
    witness,
    logLines,
    operator,
    clock,
    advance: (byMs) => {
      aheadMs += byMs;
    },
    open: (options = {}) => {
      const runtime = openRuntime(options);
      return { runtime, gateway: createChatGateway(runtime) };
    },
    async stop() {
      for (const transport of transports) transport.close();
      await simulator.stop();
      await stopTables();
    },
  };
}

/** What the children of a killed run read; the operator applies the same. */
export const fileText = (keys: Keys, simulator: Simulator): string =>
  gatewayFileText(faultFile(keys), simulator.urlOf, keys.team);

async function applyFile(runtime: Runtime, keys: Keys, simulator: Simulator): Promise<void> {
  const read = readGatewayFile(fileText(keys, simulator));
  if (!read.ok) throw new Error(`the gateway file of the suite is not valid: ${JSON.stringify(read.problems)}`);
  const readVariable = (name: string) => (name === connectionVariable ? connectionKey : undefined);
  const { randomness, clock } = runtime;
  await applyGatewayFile({ file: read.file, stores: runtime, readVariable, randomness, nowMs: clock.nowMs() });
}

/** The gateway file has no word for shards. */
export async function shardCredit({ operator: { workspaceStore } }: FaultWorld): Promise<void> {
  const sharded = await workspaceStore.read('sharded');
  if (sharded !== undefined) await workspaceStore.write({ ...sharded, credit_shards: creditShards });
}
