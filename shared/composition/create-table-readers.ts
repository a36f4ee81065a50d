// Dependencies for listing models: the tables that are read for it, and the dependencies of every process. Code that
// counts or sends calls is in create-composition.ts, so that the bundle of that function does not contain it.
import { createStatisticsReader, type StatisticsReader } from '../accounting/provider-health/index.ts';
import type { AdministrationDependencies } from '../configuration/administration/index.ts';
import { type ConnectionList, createConnectionList } from '../configuration/byok/index.ts';
import { type CatalogueReader, createCatalogueReader, createCatalogueStore } from '../configuration/catalogue/index.ts';
import { createKeyStore } from '../configuration/keys/index.ts';
import { createFunctionList, type FunctionList } from '../configuration/stored-functions/index.ts';
import {
  createWorkspaceReader,
  createWorkspaceStore,
  type WorkspaceReader,
} from '../configuration/workspaces/index.ts';
import { type CallTimes, callTimes } from '../foundation/constants/index.ts';
import type { Environment, TelemetryEnvironment } from '../foundation/environment/index.ts';
import { type Randomness, systemRandomness } from '../foundation/ids/index.ts';
import { createLog, type Log } from '../foundation/log/index.ts';
import { openTrace, type Telemetry } from '../foundation/telemetry/index.ts';
import { type Clock, systemClock } from '../foundation/time/index.ts';
import { anyOrigin, createOriginCheck, type OriginCheck } from '../protocol/http/index.ts';
import { type Collect, createMemoryBudget, type MemoryBudget } from '../protocol/memory-budget/index.ts';
import { awsAccess, callWithAttempts, secretText } from '../storage/aws-clients/index.ts';
import { createDynamoClient, createDynamoStore } from '../storage/dynamodb-store/index.ts';
import type { Store } from '../storage/store/index.ts';
import type { ExporterDependencies } from './telemetry-exporter.ts';

export interface TableReaders
  extends Pick<AdministrationDependencies, 'clock' | 'randomness' | 'keys' | 'catalogues' | 'workspaceStore'> {
  readonly times: CallTimes;
  readonly log: Log;
  /** Undefined when telemetry is off. */
  readonly telemetry: Telemetry | undefined;
  readonly store: Store;
  readonly catalogue: CatalogueReader;
  readonly workspaces: WorkspaceReader;
  readonly connections: ConnectionList;
  readonly functionList: FunctionList;
  readonly statistics: StatisticsReader;
  readonly origin: OriginCheck;
  readonly memory: MemoryBudget;
  /** Settlements that still run, shared by all functions of the process. */
  readonly settling: Set<Promise<void>>;
}

export interface TableReadersOptions {
  readonly environment: Environment;
  readonly clock?: Clock | undefined;
  /** Log; by default, JSON lines on standard output. */
  readonly log?: Log | undefined;
  /** Collects garbage, for a process of many concurrent calls. If absent, only the runtime collects. */
  readonly collectGarbage?: Collect | undefined;
  /** Store; by default, the DynamoDB that the process is configured for. */
  readonly store?: Store | undefined;
}

export function createTableReaders(options: TableReadersOptions): TableReaders {
  const { environment, clock = systemClock } = options;
  const { stage, tableSuffix, version, logLevel: level, streamBudgetSeconds, slowAnswerSeconds } = environment;
  const store = options.store ?? createDynamoStore({ client: createDynamoClient(), stage, tableSuffix });
  const log = options.log ?? createLog({ clock, stage, version, level });
  for (const message of environment.telemetryNotes ?? []) log.error({ event: 'telemetry_setting', message });
  const randomness = systemRandomness;
  const onFailure = (cause: unknown) => log.error({ event: 'statistics_not_read' }, cause);
  const catalogues = createCatalogueStore(store);
  const workspaceStore = createWorkspaceStore(store);
  return {
    clock,
    times: callTimes(streamBudgetSeconds, slowAnswerSeconds),
    randomness,
    log,
    telemetry: environment.telemetry && createTelemetry(environment.telemetry, { clock, log, randomness }),
    store,
    keys: createKeyStore(store),
    catalogues,
    catalogue: createCatalogueReader({ catalogues, clock }),
    workspaceStore,
    workspaces: createWorkspaceReader({ workspaces: workspaceStore, clock }),
    connections: createConnectionList(store, clock),
    functionList: createFunctionList({ store, clock }),
    statistics: createStatisticsReader({ store, clock, onFailure }),
    origin: originCheck(environment, { clock, log, randomness }),
    memory: createMemoryBudget(clock, { maxBytes: environment.bytesInUseMax, collect: options.collectGarbage }),
    settling: new Set(),
  };
}

interface TelemetryDependencies extends ExporterDependencies {
  readonly randomness: Randomness;
}

function createTelemetry(settings: TelemetryEnvironment, deps: TelemetryDependencies): Telemetry {
  const { randomness, log } = deps;
  const loading = import('./telemetry-exporter.ts')
    .then(({ createExporter }) => createExporter(settings, deps))
    .catch((error: unknown) => void log.error({ event: 'telemetry_not_loaded' }, error));
  return {
    capturesContent: settings.capturesContent === true,
    open: (origin) => openTrace(origin, settings.sampleRatio, randomness),
    record(trace, request) {
      const spans = [request, ...trace.children];
      if (trace.isSampled || spans.some(({ isError }) => isError)) void loading.then((batches) => batches?.add(spans));
    },
    flush: async (limitMs) => (await loading)?.flush(limitMs),
    close: async () => (await loading)?.close(),
  };
}

// Decides which requests come through the edge, by the secret that the environment names.

interface OriginCheckDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly randomness: Randomness;
}

/** Creates the check; no request is made yet. */
function originCheck(
  { originSecret }: Pick<Environment, 'originSecret'>,
  { clock, log, randomness }: OriginCheckDependencies,
): OriginCheck {
  if (originSecret === undefined) return anyOrigin;
  const access = awsAccess({ clock });
  const attempts = { clock, randomness, limitMs: access.callTimeoutMs, kind: 'repeatable' } as const;
  const read = secretText(access, originSecret);
  return createOriginCheck({ clock, log, readSecrets: () => callWithAttempts(attempts, () => read()) });
}
