// Several gateways on one store: each has the store faults of its plan, and all share one clock that a test can
// advance.
import { createGateway } from '../../functions/gateway/routes.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import type { Wrappers } from '../support/dying-process.ts';
import { startDynamoTestStore } from '../support/dynamodb.ts';
import { startGatewayBackends } from '../support/gateway-backends.ts';
import { applyGatewayText, gatewayFileText } from '../support/gateway-file.ts';
import { patientCallTimeoutMs } from '../support/test-store.ts';
import { connectionVariable, faultFile, type Keys, makeKeys } from './fault-file.ts';
import { type FaultPlan, faultyClient } from './faulty-client.ts';
import { createWitness, type Witness } from './witness.ts';

export interface FaultyGatewayOptions {
  readonly plan?: FaultPlan | undefined;
  /** Replaces the gateway's client, clock and transport. */
  readonly wrap?: Wrappers | undefined;
}

export interface FaultyGateway {
  readonly composition: Composition;
  readonly gateway: Gateway;
}

export interface FaultHarness {
  readonly keys: Keys;
  readonly simulator: Simulator;
  readonly witness: Witness;
  readonly logLines: string[];
  /** The operator's composition, without faults. */
  readonly operator: Composition;
  readonly clock: Clock;
  /** Advances the clock of every gateway by this time. */
  advance(byMs: number): void;
  open(options?: FaultyGatewayOptions): FaultyGateway;
  stop(): Promise<void>;
}

/** The store counts its time limits in slices of this length. */
const storeSliceMs = 100;
const creditShards = 3;
/** The provider key that workspace `byok` has stored. */
const connectionKey = 'sk-stored-connection';

export interface FaultHarnessOptions {
  /** Behaviours of providers beside those of every mix; none by default. */
  readonly behaviours?: readonly string[];
}

export async function startFaultHarness(options: FaultHarnessOptions = {}): Promise<FaultHarness> {
  const { behaviours = [] } = options;
  const { client: realClient, stage, stop } = await startDynamoTestStore();
  const backends = await startGatewayBackends({ stage, stop }, { drawsFaults: true });
  const { simulator, logLines } = backends;
  const keys = makeKeys(systemRandomness);
  const witness = createWitness();
  let aheadMs = 0;
  const clock: Clock = {
    nowMs: () => systemClock.nowMs() + aheadMs,
    // A busy machine must not cause faults of its own, so the store's limits are longer, like those of providers in the
    // file.
    after: (delayMs, callback) => systemClock.after(delayMs === storeSliceMs ? 5 * delayMs : delayMs, callback),
  };

  function openComposition({ plan = () => undefined, wrap }: FaultyGatewayOptions): Composition {
    const processClock = wrap?.clock(clock) ?? clock;
    const client = faultyClient(realClient, plan, witness.see);
    // The client has no time limit of its own, because a busy machine would cause faults that the witness does not see.
    const faulty = wrap?.client(client) ?? client;
    const store = createDynamoStore({
      client: faulty,
      stage,
      clock: processClock,
      callTimeoutMs: patientCallTimeoutMs,
    });
    const composition = backends.createComposition({ clock: processClock, store, logLevel: 'error' });
    const credit = witness.watch(composition.credit);
    return { ...composition, credit, transport: wrap?.transport(composition.transport) ?? composition.transport };
  }

  const operator = openComposition({});
  const readVariable = (name: string) => (name === connectionVariable ? connectionKey : undefined);
  const fileText = gatewayFileText(faultFile(keys, behaviours), simulator.urlOf, keys.team);
  await applyGatewayText(operator, fileText, readVariable);
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
      const composition = openComposition(options);
      return { composition, gateway: createGateway(composition) };
    },
    stop: () => backends.stop(),
  };
}

/** Spreads the credit over shards, which are no setting of the gateway file. */
export async function shardCredit({ operator: { workspaceStore } }: FaultHarness): Promise<void> {
  const sharded = await workspaceStore.read('sharded');
  if (sharded !== undefined) await workspaceStore.write({ ...sharded, credit_shards: creditShards });
}
