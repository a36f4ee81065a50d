// Parts that every gateway of a test shares: a store and the provider simulator.
import { localAdapters } from '../../infra/local/open-composition.ts';
import { type Composition, createComposition } from '../../shared/composition/index.ts';
import type { TelemetryEnvironment } from '../../shared/foundation/environment/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { startTestSimulator, type TestSimulator } from './test-simulator.ts';
import type { TestStore } from './test-store.ts';

export interface BackendOptions {
  /** Clock of the gateway. Default: the system's. */
  readonly clock?: Clock | undefined;
  readonly store: Store;
  /** Time limit of a stream. Default: 55. */
  readonly streamBudgetSeconds?: number | undefined;
  /** Request rate of keys without one of their own. Default: any number. */
  readonly keyRequestsPerMinute?: number | undefined;
  /** Destination of traces. Default: none. */
  readonly telemetry?: TelemetryEnvironment | undefined;
  /** Minimum level of log lines. Default: `info`. */
  readonly logLevel?: LogOptions['level'];
  /** Whether the store joins the writes of a turn. Default: true. */
  readonly joinsWrites?: boolean | undefined;
}

type LogOptions = Parameters<typeof createLog>[0];

export interface GatewayBackends {
  readonly simulator: TestSimulator;
  /** Every line that a gateway logged. */
  readonly logLines: string[];
  createComposition(options: BackendOptions): Composition;
  /** Closes these servers too. Rejects if a fault that a test scripted was never sent. */
  stop(servers?: readonly { close(): Promise<void> }[]): Promise<void>;
}

export async function startGatewayBackends(
  tables: Pick<TestStore, 'stage' | 'stop'>,
  simulatorOptions: Pick<NonNullable<Parameters<typeof startTestSimulator>[0]>, 'drawsFaults'> = {},
): Promise<GatewayBackends> {
  const simulator = await startTestSimulator(simulatorOptions);
  const adapters = localAdapters({ data: undefined, dynamodb: undefined });
  const environment = { stage: tables.stage, logLevel: 'silent' } as const;
  const logLines: string[] = [];
  const runtimes: Composition[] = [];
  return {
    simulator,
    logLines,
    createComposition({
      clock,
      store,
      streamBudgetSeconds,
      keyRequestsPerMinute,
      telemetry,
      logLevel = 'info',
      joinsWrites = true,
    }) {
      const log = createLog({
        clock: clock ?? systemClock,
        level: logLevel,
        write: (line) => void logLines.push(line),
      });
      const composition = createComposition({
        environment: { ...environment, streamBudgetSeconds, keyRequestsPerMinute, telemetry },
        clock,
        // The log is passed to the parts that log by themselves.
        ...(telemetry === undefined ? {} : { log }),
        store,
        ...adapters,
        joinsWrites,
      });
      runtimes.push(composition);
      return { ...composition, log };
    },
    async stop(servers = []) {
      // The providers stop first: a call whose client disconnected is read until they end.
      const [providers] = await Promise.allSettled([simulator.stop()]);
      for (const server of servers) await server.close();
      for (const { transport, telemetry, alerts } of runtimes) {
        transport.close();
        await alerts.close();
        await telemetry?.close();
      }
      await tables.stop();
      if (providers.status === 'rejected') throw providers.reason;
    },
  };
}
