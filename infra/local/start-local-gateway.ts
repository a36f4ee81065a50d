// Starts store, gateway file and server (or processes that serve) in this order, and prints how to call it. A failure
// stops the parts that were started before.
import { join, resolve } from 'node:path';
import type { Composition } from '../../shared/composition/index.ts';
import { masterKeyFile } from '../../shared/configuration/byok/index.ts';
import { basePaths, metricsEndpoint } from '../../shared/foundation/constants/index.ts';
import { readTelemetryEnvironment } from '../../shared/foundation/environment/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { metricsAlone, readAlone } from '../metrics/index.ts';
import { readConfigFile } from './config-file.ts';
import { configure } from './configure-store.ts';
import { consoleLine } from './console-line.ts';
import { sharedFolderOf } from './data-folder.ts';
import { type ProviderAddress, revokePublishedKey } from './demo/demo-gateway.ts';
import { demoTraffic, startDemoTraffic } from './demo/demo-traffic.ts';
import { commandLineHint, describeStart, storeOption } from './describe-start.ts';
import { baseUrl, checkAddress, hostDefault, isWildcard, orOneLine } from './listen-address.ts';
import { listen, openComposition, type StartOptions, type Stop, stopAll } from './open-composition.ts';
import { sumProcessMetrics } from './process-metrics.ts';
import { countProcesses, startProcesses, withOwnFolder } from './processes.ts';
import { readTlsFiles } from './tls-files.ts';

export type { StartOptions };

interface LocalGateway {
  readonly url: string;
  readonly log: Log;
  stop(): Promise<void>;
}

type Say = (line: string) => void;

/**
 * Without `log` nothing is logged. Throws InvalidGatewayFile, or an Error with one line for the terminal. `onServing` is
 * called before the line that says ready: a reader of it may stop the process at once.
 */
export async function startLocalGateway(
  options: StartOptions,
  say: Say,
  onServing: () => void = () => {},
): Promise<LocalGateway> {
  const { config, port, host = hostDefault, metricsPort, metricsHost = hostDefault } = options;
  const started: Stop[] = [];
  const stop = () => stopAll(started);
  const later: string[] = [];
  try {
    const file =
      config === undefined
        ? undefined
        : {
            name: config,
            content: await readConfigFile(config),
            config: { path: resolve(config), reapply: options.reapply === true, storeOption: storeOption(options) },
          };
    // Checked before the file is applied: a start that cannot listen changes nothing.
    await checkAddress(port, host);
    if (metricsPort !== undefined) await checkAddress(metricsPort, metricsHost, '--metrics-port');
    const tls = options.tls && (await readTlsFiles(options.tls, systemClock.nowMs()));
    if (tls?.note !== undefined) later.push(`note: ${tls.note}`);
    const { count, note } = countProcesses(options.processes);
    if (note !== undefined) later.push(note);
    later.push(...readTelemetryEnvironment().notes.map((note) => `note: ${note}`));
    const opened = count === 1 ? options : withOwnFolder(options, started);
    const { composition, metrics } = await openComposition(opened, started);
    const readMetrics = count === 1 ? readAlone(metrics) : sumProcessMetrics(started);
    if (options.dynamodb !== undefined) await checkSealedKeys(composition, options);
    const { keyTexts, simulator, isDemo } = await configure({ composition, say, later, started }, file);
    const isSimulated = ({ id, base_url }: ProviderAddress) => simulator?.urlOf(id) === base_url;
    later.push(...(await revokePublishedKey(composition, isSimulated)).map((note) => `note: ${note}`));
    await lookAtCredentials(composition);
    const serve =
      count === 1 ? listen(composition, readMetrics, opened, started) : startProcesses(count, opened, say, started);
    const url = baseUrl(host, await serve, tls && 'https');
    onServing();
    say(`ready ${url}`);
    if (metricsPort !== undefined) {
      const server = createNodeServer(metricsAlone(readMetrics), composition);
      const taken = await orOneLine(
        metricsPort,
        metricsHost,
        () => server.listen(metricsPort, metricsHost),
        '--metrics-port',
      );
      started.push(() => server.close());
      say(`metrics ${new URL(metricsEndpoint.path, baseUrl(metricsHost, taken))}`);
    }
    if (isWildcard(host)) say(`listening on ${host}: other machines can call this gateway`);
    for (const line of later.splice(0)) say(line);
    say(`base URL for OpenAI's SDKs and frameworks: ${new URL(basePaths[1], url)}`);
    say(`base URL for Claude Code and Anthropic's SDKs: ${new URL(url).origin}`);
    for (const line of await describeStart(composition, { ...options, url, keyTexts })) say(line);
    say(await consoleLine(composition, { ...options, url, isDemo }));
    say(commandLineHint(options));
    if (options.demoTraffic === true) {
      // Only for simulated models: calls of any other store may cost money.
      const traffic = simulator && startDemoTraffic(url, keyTexts[0] ?? '');
      if (traffic !== undefined) started.push(() => traffic.stop());
      say(traffic ? `demo traffic: ${demoTraffic.callsMax} calls at most` : 'no demo traffic: this is not the demo');
    }
    return { url, log: composition.log, stop };
  } catch (error) {
    for (const line of later) say(line);
    await stop();
    throw error;
  }
}

/** Where another gateway of the store has sealed keys, this one needs the same master key. */
async function checkSealedKeys({ connectionStore }: Composition, options: StartOptions): Promise<void> {
  const closed = await connectionStore.findClosed();
  if (closed === undefined) return;
  const { workspace, provider } = closed;
  const path = join(sharedFolderOf(options) ?? '', masterKeyFile);
  throw new Error(
    `the key of the BYOK connection ${workspace}/${provider} was sealed with another master key: copy ${masterKeyFile} of the gateway that sealed it to ${path}, or start in the folder of that gateway`,
  );
}

/**
 * Checks credentials before the first call, which would check them too. A store without a catalogue is described later.
 */
const lookAtCredentials = async ({ catalogue, credentialCheck }: Composition): Promise<void> =>
  catalogue.current().then(credentialCheck.look, () => {});
