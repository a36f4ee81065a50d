// Starts store, gateway file and server (or processes that serve) in this order, and prints how to call the gateway. A
// failure stops the parts that were started before.
import { join, resolve } from 'node:path';
import type { Composition } from '../../shared/composition/index.ts';
import { createOperator, readOperators, revokeOperator } from '../../shared/configuration/administration/index.ts';
import { masterKeyFile } from '../../shared/configuration/byok/index.ts';
import {
  ApplyInterrupted,
  type ApplyReport,
  destructiveChanges,
  type FileApplyOptions,
  formatProblem,
  type GatewayFilePlan,
  GatewayFileRefused,
  keepAppliedFile,
  type MemberChange,
  memberText,
  type PlannedChange,
  planGatewayFile,
  type ReadFile,
  readAppliedFile,
} from '../../shared/configuration/gateway-file/index.ts';
import { basePaths, metricsEndpoint, programs, rootPaths } from '../../shared/foundation/constants/index.ts';
import { readTelemetryEnvironment, readVariable } from '../../shared/foundation/environment/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { metricsAlone, readAlone } from '../metrics/index.ts';
import { checkGatewayFile, InvalidGatewayFile, readConfigFile } from './config-file.ts';
import { sharedFolderOf } from './data-folder.ts';
import {
  isDemoStore,
  type ProviderAddress,
  planDemo,
  revokeFormerKeys,
  revokePublishedKey,
} from './demo/demo-gateway.ts';
import { demoTraffic, startDemoTraffic } from './demo/demo-traffic.ts';
import { commandLineHint, describeStart, type StartedGateway, storeOption } from './describe-start.ts';
import { baseUrl, checkAddress, hostDefault, isWildcard, orOneLine } from './listen-address.ts';
import { listen, openComposition, type StartOptions, type Stop, stopAll } from './open-composition.ts';
import { sumProcessMetrics } from './process-metrics.ts';
import { countProcesses, startProcesses, withOwnFolder } from './processes.ts';
import { type Simulator, startSimulator } from './simulator/index.ts';
import { readTlsFiles } from './tls-files.ts';

export type { StartOptions };

interface LocalGateway {
  readonly url: string;
  readonly log: Log;
  stop(): Promise<void>;
}

type Say = (line: string) => void;

/**
 * Starts the gateway. Without `log` nothing is logged. Throws InvalidGatewayFile, or an Error with one line for the
 * terminal. `onServing` is called before the line that reports readiness, because a reader of this line may stop the
 * process at once.
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
    // The address is checked before the file is applied, so that a start that cannot listen changes nothing.
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
      const openPort = await orOneLine(
        metricsPort,
        metricsHost,
        () => server.listen(metricsPort, metricsHost),
        '--metrics-port',
      );
      started.push(() => server.close());
      say(`metrics ${new URL(metricsEndpoint.path, baseUrl(metricsHost, openPort))}`);
    }
    if (isWildcard(host)) say(`listening on ${host}: other machines can call this gateway`);
    for (const line of later.splice(0)) say(line);
    say(`base URL for OpenAI's SDKs and frameworks: ${new URL(basePaths[1], url)}`);
    say(`base URL for Claude Code and Anthropic's SDKs: ${new URL(url).origin}`);
    for (const line of await describeStart(composition, { ...options, url, keyTexts })) say(line);
    say(await consoleLine(composition, { ...options, url, isDemo }));
    say(commandLineHint(options));
    if (options.demoTraffic === true) {
      // Demo traffic needs the demo's simulated models, because calls of any other store may cost money.
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

/**
 * Checks the master key. If another gateway of the store has encrypted keys, this gateway needs the same master key.
 */
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

// Describes how to open the console of a gateway that was just started. The demo, and a store that ends with this
// process, get an operator key of their own, new at each start, because no command line could create an operator key
// for them in time, or at all.

const operatorName = 'console-of-the-local-start';

type Dependencies = Pick<Composition, 'operators' | 'clock' | 'randomness'>;

async function consoleLine(
  deps: Dependencies,
  started: Pick<StartedGateway, 'url' | 'data' | 'dynamodb'> & { readonly isDemo: boolean },
): Promise<string> {
  const address = new URL(rootPaths.console, started.url).href;
  const store = storeOption(started);
  if (store !== undefined && !started.isDemo) {
    return `console ${address} with an operator key: ${programs.commandLine} operators create --name NAME ${store}`;
  }
  return `console ${address}#key=${await renewOperator(deps)}`;
}

/** Creates an operator key. The key of a former start becomes invalid. */
async function renewOperator(deps: Dependencies): Promise<string> {
  for (const operator of await readOperators(deps)) {
    if (operator.name === operatorName && operator.status === 'active') await revokeOperator(deps, operator);
  }
  return (await createOperator(deps, operatorName)).text;
}

// Makes the changes of a start to the store. Applies a gateway file, or the demo if the store has nothing else.

const demoName = 'the demo';

interface NamedFile {
  readonly name: string;
  readonly content: ReadFile;
  /** Absent for the demo, all of which is applied. */
  readonly config?: {
    readonly path: string;
    /** Whether the whole file is applied although it was applied before. */
    readonly reapply: boolean;
    /** Option by which the command line names the store; undefined if it is in memory. */
    readonly storeOption: string | undefined;
  };
}

interface Start {
  readonly composition: Composition;
  readonly say: (line: string) => void;
  /**
   * Lines that are printed once the gateway answers. The lines are also printed when the start fails, because no other
   * output shows the keys in these lines.
   */
  readonly later: string[];
  readonly started: Stop[];
}

interface Configured {
  /** Keys that are active from now on, as far as this start knows the text of a key. */
  readonly keyTexts: readonly string[];
  readonly isDemo: boolean;
  /** Undefined when this start simulates no provider. */
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
  // Former keys are revoked first, because only one active key of a workspace may have a name.
  await revokeFormerKeys(composition, demo.key);
  await applyFile(start, { name: demoName, content: checkGatewayFile(demoName, demo.text) });
  later.push(`demo key: ${demo.key}`, ...demo.notes.map((note) => `note: ${note}`));
  return { keyTexts: [demo.key], simulator, isDemo: true };
}

async function applyFile(start: Start, named: NamedFile): Promise<readonly string[]> {
  const { composition, say, later } = start;
  const { name, config, content } = named;
  const former = config === undefined || config.reapply ? undefined : await readAppliedFile(composition.store);
  const plan = await planFile(composition, named, { former, keepsRevoked: true }).catch((error: unknown) => {
    throw error instanceof GatewayFileRefused ? new InvalidGatewayFile(name, error.problems) : error;
  });
  for (const line of changeLines(plan.changes)) say(line);
  later.push(...plan.notes.map((note) => `note: ${note}`));
  const showKeys = ({ createdKeys }: ApplyReport) => {
    later.push(...createdKeys.map(({ workspace, name, key }) => `key ${name} of ${workspace} (shown once): ${key}`));
    return createdKeys.map(({ key }) => key);
  };
  try {
    const keyTexts = showKeys(await plan.apply());
    const whole = former && (await planFile(composition, named, {}).catch(asRefusal));
    later.push(...describeDifferences({ applied: plan, whole }, { name, store: config?.storeOption }));
    if (config !== undefined) {
      const isStored = await keepAppliedFile(composition.store, content, {
        path: config.path,
        modelIds: plan.modelIds,
      });
      if (!isStored) later.push(`note: ${name} is too large to be kept: the next start applies it whole`);
    }
    return keyTexts;
  } catch (error) {
    if (error instanceof ApplyInterrupted) showKeys(error.report);
    throw error;
  }
}

function planFile(
  composition: Composition,
  { content: { file, lineOf } }: NamedFile,
  options: Pick<FileApplyOptions, 'former' | 'keepsRevoked'>,
): Promise<GatewayFilePlan> {
  const { randomness, clock } = composition;
  const nowMs = clock.nowMs();
  return planGatewayFile({ ...options, file, lineOf, stores: composition, readVariable, randomness, nowMs });
}

function asRefusal(error: unknown): GatewayFileRefused {
  if (error instanceof GatewayFileRefused) return error;
  throw error;
}

// Describes the effects of a start's gateway file: the changes in the store, and the values that stay as operators
// changed them.

/** Maximum number of lines; `gw apply --dry-run` prints all. */
const linesMax = 100;

/** Returns a line for each change of a stored value. Empty for the first file of a store. */
function changeLines(changes: readonly PlannedChange[]): string[] {
  const isFirst = changes.some(({ resource, change }) => resource === 'catalogue' && change === 'created');
  const lines = changes.flatMap((change) => linesOf(change, isFirst));
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `and ${more} more changes`] : lines;
}

function linesOf(change: PlannedChange, isFirst: boolean): string[] {
  const { resource, members } = change;
  switch (change.change) {
    case 'unchanged':
      return [];
    case 'created':
      return isFirst ? [] : [`adds: ${resource}`];
    case 'removed':
      return [`takes away: ${resource}`];
    case 'changed':
      return members.flatMap((member) => memberLines(resource, member));
  }
}

function memberLines(resource: string, member: MemberChange): string[] {
  const destructive = destructiveChanges([{ resource, change: 'changed', members: [member] }]);
  if (destructive.length > 0) return destructive.map((what) => `takes away: ${what}`);
  const isNewItem = 'to' in member && !('from' in member) && member.path.endsWith(']');
  return [isNewItem ? `adds: ${member.path} of ${resource}` : `changes: ${resource}: ${memberText(member)}`];
}

interface AppliedPlans {
  readonly applied: GatewayFilePlan;
  /** The complete file compared with the store afterwards; undefined if the complete file was applied. */
  readonly whole: GatewayFilePlan | GatewayFileRefused | undefined;
}

/**
 * Describes differences. `store` is the option by which the command line names the store; undefined if the store is in
 * memory.
 */
function describeDifferences(
  { applied, whole }: AppliedPlans,
  { name, store }: { readonly name: string; readonly store: string | undefined },
): string[] {
  if (whole instanceof GatewayFileRefused) {
    const [problem] = whole.problems;
    const reason = problem === undefined ? '' : `: ${formatProblem(problem, name)}`;
    return [
      ...revokedLines(applied.revokedKeys),
      `note: gw apply would refuse ${name}, as operators changed the store${reason}`,
    ];
  }
  const revoked = revokedLines([...new Set([...applied.revokedKeys, ...(whole?.revokedKeys ?? [])])]);
  const count = (whole?.changes ?? []).reduce((sum, one) => sum + settingsIn(one), 0);
  if (count === 0) return revoked;
  const differ = count === 1 ? '1 setting differs' : `${count} settings differ`;
  const command = `${programs.commandLine} apply -f ${name} --dry-run${store === undefined ? '' : ` ${store}`}`;
  return [
    ...revoked,
    `note: ${differ} from ${name}, as operators changed the store: ${command} names them, and --reapply sets them as in the file`,
  ];
}

const revokedLines = (keys: readonly string[]): string[] =>
  keys.map((key) => `note: ${key} was revoked and stays revoked`);

const settingsIn = ({ change, members }: PlannedChange): number =>
  change === 'unchanged' ? 0 : Math.max(1, members.length);
