// Brings up store, tables, gateway file and server in this order, and says how to call it. A failure on the way stops what
// was started before.
import { join } from 'node:path';
import { type Composition, createComposition } from '../../shared/composition/index.ts';
import { masterKeyFile } from '../../shared/configuration/byok/index.ts';
import {
  ApplyInterrupted,
  type ApplyReport,
  destructiveChanges,
  type GatewayFile,
  GatewayFileRefused,
  planGatewayFile,
} from '../../shared/configuration/gateway-file/index.ts';
import { basePaths } from '../../shared/foundation/constants/index.ts';
import { readKeptBytesMax, readTelemetryEnvironment, readVariable } from '../../shared/foundation/environment/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import type { CheckedCredentials } from '../../shared/routing/providers/index.ts';
import { openSqliteStore } from '../../shared/storage/sqlite-store/index.ts';
import { createDynamoClient, createDynamoStore, type Store } from '../../shared/storage/store/index.ts';
import { createWholeGateway } from '../container/routes.ts';
import { builtFiles } from './built-files.ts';
import { checkGatewayFile, InvalidGatewayFile, readConfigFile } from './config-file.ts';
import { consoleLine } from './console-line.ts';
import { createTables } from './create-tables.ts';
import { writeCredentialReport } from './credential-report.ts';
import {
  isDemoStore,
  type ProviderAddress,
  planDemo,
  revokeFormerKeys,
  revokePublishedKey,
} from './demo/demo-gateway.ts';
import { demoTraffic, startDemoTraffic } from './demo/demo-traffic.ts';
import { commandLineHint, describeStart } from './describe-start.ts';
import { baseUrl, checkAddress, hostDefault, isWildcard, orOneLine } from './listen-address.ts';
import { localAdapters, sharedFolderOf } from './local-adapters.ts';
import { type Simulator, startSimulator } from './simulator/index.ts';
import type { LocalOptions } from './start-options.ts';
import { createTerminalLog } from './terminal-log.ts';

const localStage = 'local';
const demoName = 'the demo';
const logLevels = { text: 'info', json: 'info', off: 'silent' } as const;

export interface LocalGateway {
  readonly url: string;
  stop(): Promise<void>;
}

export type StartOptions = Omit<LocalOptions, 'host' | 'log'> & Partial<Pick<LocalOptions, 'host' | 'log'>>;
type Say = (line: string) => void;
type Stop = () => Promise<void> | void;

/** Without `log` nothing is logged. Throws InvalidGatewayFile, or an Error with one line for the terminal. */
export async function startLocalGateway(options: StartOptions, say: Say): Promise<LocalGateway> {
  const { config, port, host = hostDefault, log = 'off', streamBudgetSeconds } = options;
  const started: Stop[] = [];
  const stop = async () => {
    for (const stopOne of started.splice(0).reverse()) await stopOne();
  };
  /** Said once the gateway answers; also when the start fails, as keys among it are shown nowhere else. */
  const later: string[] = [];
  try {
    const file = config === undefined ? undefined : { name: config, content: readConfigFile(config) };
    // Before anything of the file is applied: a start that cannot listen changes nothing.
    await checkAddress(port, host);
    const store = await openStore(options, started);
    const { telemetry, notes } = readTelemetryEnvironment();
    later.push(...notes.map((note) => `note: ${note}`));
    const logLevel = logLevels[log];
    const keptBytesMax = readKeptBytesMax();
    const limits = { streamBudgetSeconds, keptBytesMax };
    const environment = { stage: localStage, originSecretHashes: [], logLevel, ...limits, telemetry };
    const composition = createComposition({
      environment,
      store,
      log: logOf(log),
      ...localAdapters(options, options.dynamodb === undefined ? undefined : store),
      onCredentialsChecked: (checked) => void report(composition, checked),
    });
    started.push(() => composition.transport.close());
    if (options.dynamodb !== undefined) await checkSealedKeys(composition, options);
    // Behind the server: the last requests have spans too.
    started.push(() => composition.telemetry?.close());
    const { keyTexts, simulator, isDemo } = await configure({ composition, say, later, started }, file);
    const isSimulated = ({ id, base_url }: ProviderAddress) => simulator?.urlOf(id) === base_url;
    later.push(...(await revokePublishedKey(composition, isSimulated)).map((note) => `note: ${note}`));
    await lookAtCredentials(composition);
    const server = createNodeServer(createWholeGateway(composition, builtFiles(), options.signIn), composition);
    const url = baseUrl(host, await orOneLine(port, host, () => server.listen(port, host)));
    started.push(() => server.close());
    say(`ready ${url}`);
    if (isWildcard(host)) say(`listening on ${host}: other machines can call this gateway`);
    for (const line of later.splice(0)) say(line);
    say(`base URL for OpenAI's SDKs and frameworks: ${new URL(basePaths[1], url)}`);
    say(`base URL for Claude Code and Anthropic's SDKs: ${new URL(url).origin}`);
    for (const line of await describeStart(composition, { ...options, url, keyTexts })) say(line);
    say(await consoleLine(composition, { ...options, url, isDemo }));
    say(commandLineHint(options));
    if (options.demoTraffic === true) {
      // Its models are simulated: a store that holds anything else may cost money.
      const traffic = simulator && startDemoTraffic(url, keyTexts[0] ?? '');
      if (traffic !== undefined) started.push(() => traffic.stop());
      say(traffic ? `demo traffic: ${demoTraffic.callsMax} calls at most` : 'no demo traffic: this is not the demo');
    }
    return { url, stop };
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

/** Before the first call, which would look too. A store without a catalogue is described later. */
const lookAtCredentials = async ({ catalogue, credentialCheck }: Composition): Promise<void> =>
  catalogue.current().then(credentialCheck.look, () => {});

/** Never rejects: what is lost is what `gw status` would show. */
const report = ({ store, log }: Composition, checked: CheckedCredentials): Promise<void> =>
  writeCredentialReport(store, checked).catch((cause: unknown) =>
    log.error({ event: 'credentials_not_reported' }, cause),
  );

/** Undefined: the JSON lines of a deployed stage on standard output, or none. */
function logOf(log: LocalOptions['log']): Log | undefined {
  if (log !== 'text') return undefined;
  const { stderr } = process;
  const isColoured = stderr.isTTY && (process.env.NO_COLOR ?? '') === '';
  return createTerminalLog({ clock: systemClock, isColoured, write: (line) => void stderr.write(line) });
}

interface NamedFile {
  readonly name: string;
  readonly content: GatewayFile;
}

interface Start {
  readonly composition: Composition;
  readonly say: Say;
  readonly later: string[];
  readonly started: Stop[];
}

interface Configured {
  /** Of keys that are active from now on, as far as this start knows them. */
  readonly keyTexts: readonly string[];
  readonly isDemo: boolean;
  /** Undefined: this start simulates no provider. */
  readonly simulator?: Simulator;
}

async function configure(start: Start, file: NamedFile | undefined): Promise<Configured> {
  const { composition, later, started } = start;
  if (file !== undefined) return { keyTexts: await applyFile(start, file), isDemo: false };
  if (!(await isDemoStore(composition))) {
    later.push('serving what the store holds, without a change; --config FILE applies a gateway file');
    return { keyTexts: [], isDemo: false };
  }
  const simulator = await startSimulator();
  started.push(() => simulator.stop());
  const demo = await planDemo(composition, simulator.urlOf, process.env);
  // Before: one active key of a workspace has a name.
  await revokeFormerKeys(composition, demo.key);
  await applyFile(start, { name: demoName, content: checkGatewayFile(demoName, demo.text) });
  later.push(`demo key: ${demo.key}`, ...demo.notes.map((note) => `note: ${note}`));
  return { keyTexts: [demo.key], simulator, isDemo: true };
}

async function applyFile({ composition, say, later }: Start, { name, content }: NamedFile): Promise<readonly string[]> {
  const { randomness, clock } = composition;
  const nowMs = clock.nowMs();
  const options = { file: content, stores: composition, readVariable, randomness, nowMs, keepsRevoked: true };
  const plan = await planGatewayFile(options).catch((error: unknown) => {
    throw error instanceof GatewayFileRefused ? new InvalidGatewayFile(name, error.problems) : error;
  });
  for (const taken of destructiveChanges(plan.changes)) say(`takes away: ${taken}`);
  later.push(...plan.notes.map((note) => `note: ${note}`));
  const showKeys = ({ createdKeys }: ApplyReport) => {
    later.push(...createdKeys.map(({ workspace, name, key }) => `key ${name} of ${workspace} (shown once): ${key}`));
    return createdKeys.map(({ key }) => key);
  };
  try {
    return showKeys(await plan.apply());
  } catch (error) {
    if (error instanceof ApplyInterrupted) showKeys(error.report);
    throw error;
  }
}

async function openStore({ data, dynamodb }: StartOptions, started: Stop[]): Promise<Store> {
  if (dynamodb === undefined) {
    const { store, close } = await openSqliteStore({ folder: data });
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
