// Is the entry point of a container, which serves the whole gateway with many concurrent calls. The server listens on
// every address of the container. The surrounding network decides who reaches the server.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGateway } from '../../functions/gateway/routes.ts';
import { pageFolder } from '../../functions/operator/console/page-folder.ts';
import { bundleAdapters, createComposition, warmGateway } from '../../shared/composition/index.ts';
import {
  containerKeepAliveMs,
  containerPort,
  containerStop,
  processMetricSeries,
  rootPaths,
} from '../../shared/foundation/constants/index.ts';
import {
  readContainerEnvironment,
  readEnvironment,
  readSignInEnvironment,
} from '../../shared/foundation/environment/index.ts';
import { collectGarbage } from '../../shared/foundation/heap/index.ts';
import { createLineBatches, createLog, type Log } from '../../shared/foundation/log/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer, guardProcess } from '../../shared/protocol/http/index.ts';
import { createCallMetrics, metricsAlone, readAlone } from '../metrics/index.ts';
import { createWholeGateway } from './routes.ts';

/** Four reports in the shortest period of a metric, so that its average does not depend on chance. */
const reportEveryMs = 15_000;

const environment = readEnvironment();
const { hasConsole, port = containerPort, metricsPort } = readContainerEnvironment();
const lines = createLineBatches(systemClock, (text) => void process.stdout.write(text));
const { stage, version, logLevel: level } = environment;
// Calls are counted only if a scraper may read the counts.
const metrics = metricsPort === undefined ? undefined : createCallMetrics();
const written = createLog({ clock: systemClock, stage, version, level, write: lines.add });
const log = metrics?.counted(written) ?? written;
const composition = createComposition({ environment, log, collectGarbage, ...bundleAdapters(environment, log) });
metrics?.watch(composition);
guardProcess(log);
// A process that ends because of a fault of the gateway writes the reason.
process.on('exit', lines.flush);

// The build places both next to this bundle.
const page = pageFolder(join(__dirname, 'page'), environment.gatewayUrl);
const describeApi = () => readFile(join(__dirname, rootPaths.openapi), 'utf8');
const gateway = hasConsole
  ? createWholeGateway(composition, { page, describeApi }, readSignInEnvironment())
  : createGateway(composition, describeApi);
const server = createNodeServer(gateway, composition, {
  ...{ anyHost: true, closing: containerStop },
  keepAliveTimeoutMs: containerKeepAliveMs,
});
const metricsServer = metrics && createNodeServer(metricsAlone(readAlone(metrics)), composition, { anyHost: true });
const report = reportCallsInFlight(composition, server.inFlight);

const everyAddress = '0.0.0.0';
void warmGateway(composition)
  .then(async () => {
    const openPort = await metricsServer?.listen(metricsPort ?? 0, everyAddress);
    if (openPort !== undefined) log.info({ event: 'metrics_listening', port: openPort });
    return server.listen(port, everyAddress);
  })
  .then((taken) => log.info({ event: 'listening', port: taken }))
  .catch((cause: unknown) => {
    log.error({ event: 'server_failed' }, cause);
    process.exit(1);
  });

async function stop(): Promise<void> {
  log.info({ event: 'stopping' });
  lines.flush();
  await server.close();
  await metricsServer?.close();
  report.stop();
  await Promise.all([composition.telemetry?.close(), composition.alerts.close()]);
  composition.transport.close();
  process.exit(0);
}

process.once('SIGTERM', () => void stop());

// Reports how many calls are in flight in this process, as a metric of its log lines. The average over the processes of
// a stage shows whether the stage needs more processes. Their processor time would show this too late, because calls
// that wait use no processor.

interface CallsInFlightReport {
  stop(): void;
}

function reportCallsInFlight(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  inFlight: () => number,
): CallsInFlightReport {
  const write = () => {
    const values = { CallsInFlight: { unit: 'Count', value: inFlight() } } as const;
    log.info({ event: 'calls_in_flight' }, { dimensions: {}, series: processMetricSeries, values });
    cancel = clock.after(reportEveryMs, write);
  };
  let cancel = clock.after(reportEveryMs, write);
  return { stop: () => cancel() };
}
