// Opens one process of a local gateway, with its store, its dependencies and its server.

import { join } from 'node:path';
import {
  type Composition,
  type CompositionOptions,
  createComposition,
  localCredentials,
} from '../../shared/composition/index.ts';
import { localKeyWrapper } from '../../shared/configuration/byok/index.ts';
import { slowAnswerSeconds } from '../../shared/foundation/constants/index.ts';
import {
  readBytesInUseMax,
  readStageLimits,
  readTelemetryEnvironment,
} from '../../shared/foundation/environment/index.ts';
import { collectGarbage } from '../../shared/foundation/heap/index.ts';
import { createLog, type Log } from '../../shared/foundation/log/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import type { CheckedCredentials } from '../../shared/routing/providers/index.ts';
import { folderBlobs, memoryBlobs, sweepHourly, tableBlobs } from '../../shared/storage/blobs/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import { openSqliteStore } from '../../shared/storage/sqlite-store/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { createWholeGateway } from '../container/routes.ts';
import { type CallMetrics, createCallMetrics, type ReadMetrics } from '../metrics/index.ts';
import { builtFiles } from './built-files.ts';
import { createTables } from './create-tables.ts';
import { writeCredentialReport } from './credential-report.ts';
import { blobFolder, type StoreLocation, sharedFolderOf } from './data-folder.ts';
import { hostDefault, orOneLine } from './listen-address.ts';
import type { LocalOptions } from './start-options.ts';
import { createTerminalLog } from './terminal-log.ts';
import { readTlsFiles } from './tls-files.ts';

const localStage = 'local';
const logLevels = { text: 'info', json: 'info', off: 'silent' } as const;

export type StartOptions = Omit<LocalOptions, 'host' | 'log'> & Partial<Pick<LocalOptions, 'host' | 'log'>>;
/** Ends something that was started. The part that was started last is ended first. */
export type Stop = () => Promise<void> | void;

/** Stops each part, also after a failure. Rejects with the first failure. */
export async function stopAll(started: Stop[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stopOne of started.splice(0).reverse()) {
    try {
      await stopOne();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

export interface OpenedProcess {
  readonly composition: Composition;
  readonly metrics: CallMetrics;
}

/** Opens the process's parts. Without `log` nothing is logged. Throws an Error with one line for the terminal. */
export async function openComposition(options: StartOptions, started: Stop[]): Promise<OpenedProcess> {
  const { log = 'off', streamBudgetSeconds, dynamodb } = options;
  const store = await openStore(options, started);
  const { telemetry } = readTelemetryEnvironment();
  const slowSeconds = Math.max(streamBudgetSeconds ?? 0, slowAnswerSeconds);
  const limits = {
    streamBudgetSeconds,
    slowAnswerSeconds: slowSeconds,
    ...readStageLimits(),
    bytesInUseMax: readBytesInUseMax(),
  };
  const environment = { stage: localStage, logLevel: logLevels[log], ...limits, telemetry };
  const metrics = createCallMetrics();
  const composition = createComposition({
    environment,
    store,
    log: metrics.counted(logOf(log)),
    collectGarbage,
    ...localAdapters(options, dynamodb === undefined ? undefined : store),
    onCredentialsChecked: (checked) => void report(composition, checked),
  });
  metrics.watch(composition);
  started.push(sweepHourly(composition.blobs, systemClock));
  started.push(() => composition.transport.close());
  // Telemetry ends after the server, because the last requests have spans too.
  started.push(() => Promise.all([composition.telemetry?.close(), composition.alerts.close()]).then(() => {}));
  return { composition, metrics };
}

/** Starts to listen, and resolves with the port. Throws an Error with one line for the terminal. */
export async function listen(
  composition: Composition,
  readMetrics: ReadMetrics,
  options: StartOptions,
  started: Stop[],
): Promise<number> {
  const { port, host = hostDefault, signIn } = options;
  const tls = options.tls && (await readTlsFiles(options.tls, systemClock.nowMs()));
  const gateway = createWholeGateway(composition, builtFiles(), signIn, readMetrics);
  const server = createNodeServer(gateway, composition, { tls });
  const openPort = await orOneLine(port, host, () => server.listen(port, host));
  started.push(() => server.close());
  return openPort;
}

/** Stores the report. Never rejects, because only the output of `gw status` would be affected. */
const report = ({ store, log }: Composition, checked: CheckedCredentials): Promise<void> =>
  writeCredentialReport(store, checked).catch((cause: unknown) =>
    log.error({ event: 'credentials_not_reported' }, cause),
  );

function logOf(log: LocalOptions['log']): Log {
  if (log !== 'text') return createLog({ clock: systemClock, stage: localStage, level: logLevels[log] });
  const { stderr } = process;
  const isColoured = stderr.isTTY && (process.env.NO_COLOR ?? '') === '';
  return createTerminalLog({ clock: systemClock, isColoured, write: (line) => void stderr.write(line) });
}

async function openStore({ data, durable, dynamodb }: StartOptions, started: Stop[]): Promise<Store> {
  if (dynamodb === undefined) {
    const { store, close } = await openSqliteStore({ folder: data, isDurable: durable === true });
    started.push(close);
    return store;
  }
  const client = createDynamoClient({ endpoint: dynamodb });
  started.push(() => client.destroy());
  await createTables(client, localStage).catch((cause: unknown) => {
    throw new Error(`no DynamoDB answers at ${dynamodb}`, { cause });
  });
  return createDynamoStore({ client, stage: localStage });
}

// Adapters outside the store in a local run: large results, the key that encrypts BYOK keys, provider credentials.

/**
 * Creates the adapters. `shared` is the store of a server that other gateways use too. These gateways find large
 * results in that store, wherever they run.
 */
export function localAdapters(
  place: StoreLocation,
  shared?: Store,
): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials' | 'joinsWrites'> {
  const folder = sharedFolderOf(place);
  const ownBlobs = () => (folder === undefined ? memoryBlobs() : folderBlobs(join(folder, blobFolder)));
  return {
    blobs: shared === undefined ? ownBlobs() : tableBlobs(shared, systemClock),
    wrapper: localKeyWrapper({ folder }),
    credentials: localCredentials(systemClock),
    // Joins writes for SQLite; a server runs each write by itself.
    joinsWrites: place.dynamodb === undefined,
  };
}
