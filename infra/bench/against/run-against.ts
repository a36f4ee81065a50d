// Compares this tree with another commit, in one run on one machine. The gateways of both trees are started alike, each
// with a store of its own, in its process and on DynamoDB. They are warmed alike, and called in alternating turns. The
// comparison uses only `npm start` with a gateway file, which every commit has.

import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { isEngineInstalled, openDynamoEngine } from '../../dynamodb-engine/start-engine.ts';
import {
  type BenchCall,
  createClient,
  drive,
  jsonBody,
  type MeasuredEndpoint,
  streamBody,
} from '../measuring-client.ts';
import { atMost, machineText, median, sum, tableText } from '../report.ts';
import { firstChunkMaxMs } from '../targets.ts';
import { gatewayFileText, models, newKeys } from '../test-bed/bench-file.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { flushMs } from '../test-bed/measured-calls.ts';
import { type PeerChoice, startPeers } from '../test-bed/peer.ts';
import { startProvider } from '../test-bed/provider.ts';
import {
  type BenchFigures,
  type BenchTurn,
  compare,
  type Kind,
  type Names,
  summaryOf,
  tableOf,
  targetsOf,
} from './compare.ts';

interface ComparisonPlan {
  readonly turns: number;
  /** Time until the delayed writes of a turn are done. */
  readonly flushMs: number;
  /** Number of first calls of two new processes, on 32 connections. */
  readonly firstCalls: number;
  readonly jsonPerTurn: Readonly<Record<1 | 32, number>>;
  readonly streamsPerTurn: Readonly<Record<1 | 32, number>>;
}
/**
 * A turn on 32 connections takes nearly a second, because in a turn of half a second a single garbage collection is a
 * tenth of the result. There are many turns, because the speed of the machine varies more from one second to the next
 * than the two trees differ.
 */
const fullPlan: ComparisonPlan = {
  ...{ turns: 16, flushMs, firstCalls: 640 },
  ...{ jsonPerTurn: { 1: 40, 32: 1_280 }, streamsPerTurn: { 1: 8, 32: 192 } },
};
const quickPlan: ComparisonPlan = { ...fullPlan, turns: 4 };
/** Pauses on one connection, because the work that a call leaves after its answer is done during the next call. */
const pausesMs = { 1: 20, 32: 0 } as const;

interface Contestant {
  readonly name: string;
  readonly endpoint: MeasuredEndpoint;
  readonly model: string;
  readonly key?: string;
  /** Returns the processor time that was used until now. */
  readonly cpu?: () => Promise<number>;
}

interface AgainstOptions {
  readonly other: { readonly name: string; readonly tree: string };
  readonly peers: PeerChoice;
  readonly isQuick: boolean;
  /** URL of an engine that both trees share. If absent, each tree has an engine of its own. */
  readonly dynamodb: string | undefined;
}

const here = 'this tree';
const onDynamo = (tree: string): string => `${tree}, on DynamoDB`;

/** Runs the comparison in `folder`, which is empty at first and which the caller removes. */
export async function runAgainst(
  { other, peers: choice, isQuick, dynamodb }: AgainstOptions,
  folder: string,
  print: (text: string) => void,
) {
  const plan = isQuick ? quickPlan : fullPlan;
  const machine = machineText();
  print(`${machine}${isQuick ? ', a quick run' : ''}\n`);
  const stops: (() => unknown)[] = [];
  const keep = <Part extends { stop(): unknown }>(part: Part): Part => {
    stops.unshift(part.stop);
    return part;
  };
  try {
    const provider = keep(await startProvider());
    const keys = newKeys();
    const configFile = join(folder, 'gateway.yaml');
    await writeFile(configFile, gatewayFileText(provider.url, keys));
    const gateways = await startTrees([other, { name: here }], {
      configFile,
      folder,
      key: keys.limited,
      dynamodb,
      keep,
    });
    const started = (await startPeers(choice, provider.url, folder)).map(keep);
    const peers = started.map(
      (peer): Contestant => ({
        ...{ name: peer.name, endpoint: peer, model: 'bench' },
        cpu: async () => sum([peer.pid, ...descendantsOf(peer.pid)].map(cpuMsOf)),
      }),
    );
    const direct: Contestant = { name: provider.name, endpoint: provider, model: 'bench' };

    async function takeTurn(kind: Kind, turn: number): Promise<BenchTurn> {
      const alone = (await callInLoop(direct, kind, plan.flushMs)).waitMs;
      const all = [...gateways, ...peers];
      const first = turn % all.length;
      const figures = new Map<string, BenchFigures>();
      for (const one of [...all.slice(first), ...all.slice(0, first)]) {
        figures.set(one.name, figuresOf(await callInLoop(one, kind, plan.flushMs), kind, alone));
      }
      return figures;
    }

    const kinds = kindsOf(plan);
    const busyJson: Kind = { name: 'JSON', connections: 32, count: plan.firstCalls };
    // The client and the provider are warm before either gateway is called for the first time.
    await callInLoop(direct, busyJson, plan.flushMs);
    const firstTurn = await takeTurn(busyJson, 0);
    for (const kind of kinds) await takeTurn(kind, 1);
    const turnsOf = new Map<Kind, BenchTurn[]>(kinds.map((kind) => [kind, []]));
    for (let turn = 0; turn < plan.turns; turn += 1) {
      for (const [kind, turns] of turnsOf) turns.push(await takeTurn(kind, turn));
    }
    const compareWith = (names: Names, onStore = '') =>
      [...turnsOf].flatMap(([{ name, connections }, turns]) => compare(name + onStore, connections, turns, names));
    const others = [other, ...peers].map(({ name }) => ({ name, compared: compareWith({ that: name, here }) }));
    const onDynamoBeside = [other, ...peers].map(({ name }) => {
      const names = { that: name === other.name ? onDynamo(name) : name, here: onDynamo(here) };
      return { name, names, compared: compareWith(names, ' on DynamoDB') };
    });
    const first = compare('JSON, the first calls', 32, [firstTurn], { that: other.name, here });
    const tables = [
      ...others.map(({ name: that, compared }, at) =>
        tableOf(at === 0 ? [...first, ...compared] : compared, { that, here }),
      ),
      ...onDynamoBeside.flatMap(({ names, compared }) => (compared.length === 0 ? [] : [tableOf(compared, names)])),
      summaryOf(here, others),
    ];
    const firstChunk = others[0]?.compared.find(
      ({ connections, figure }) => connections === 1 && figure === 'added to the first chunk, ms',
    );
    const targets = [
      ...[...others, ...onDynamoBeside].flatMap(targetsOf),
      atMost('stream on 1: added to the first chunk', firstChunk?.here, firstChunkMaxMs, ' ms'),
    ];
    for (const table of tables) print(`\n${tableText(table)}`);
    for (const { name, keeps } of started) print(`\n${name} keeps ${keeps}.\n`);
    print(`\n${tableText({ title: 'Targets', columns: ['what', 'target', 'measured', ''], rows: targets })}`);
    return { machine, tables, targets };
  } finally {
    for (const stop of stops) await stop();
  }
}

interface TreesStart {
  readonly configFile: string;
  readonly folder: string;
  readonly key: string;
  readonly dynamodb: string | undefined;
  readonly keep: <Part extends { stop(): unknown }>(part: Part) => Part;
}

/**
 * Starts each tree twice: with a store in its process, and on an engine of DynamoDB. The processor time of the engine
 * does not count as the gateway's time, just as the processor time of AWS would not.
 */
async function startTrees(
  trees: readonly { readonly name: string; readonly tree?: string }[],
  { configFile, folder, key, dynamodb, keep }: TreesStart,
): Promise<Contestant[]> {
  const startTree = async (start: (typeof trees)[number] & { readonly storeUrl?: string }) => {
    const gateway = keep(await startGateway({ ...start, configFile, folder }));
    return { name: start.name, endpoint: gateway, model: models.limited, key, cpu: cpuReader(gateway) };
  };
  const gateways: Contestant[] = [];
  for (const tree of trees) gateways.push(await startTree(tree));
  if (dynamodb !== undefined || isEngineInstalled())
    for (const tree of trees) {
      const { endpoint: storeUrl } = keep(await openDynamoEngine(dynamodb));
      gateways.push(await startTree({ ...tree, name: onDynamo(tree.name), storeUrl }));
    }
  return gateways;
}

const kindsOf = ({ jsonPerTurn, streamsPerTurn }: ComparisonPlan): readonly Kind[] => [
  { name: 'JSON', connections: 1, count: jsonPerTurn[1] },
  { name: 'JSON', connections: 32, count: jsonPerTurn[32] },
  { name: 'stream', connections: 1, count: streamsPerTurn[1] },
  { name: 'stream', connections: 32, count: streamsPerTurn[32] },
];

function cpuReader({ pid, inspect }: Awaited<ReturnType<typeof startGateway>>) {
  const storeProcesses = descendantsOf(pid);
  return async () => (await inspect()).cpuMs + sum(storeProcesses.map(cpuMsOf));
}

async function callInLoop({ name, endpoint, model, key, cpu }: Contestant, kind: Kind, flushMs: number) {
  const { connections, count } = kind;
  const call: BenchCall = { key, body: kind.name === 'JSON' ? jsonBody(model) : streamBody(model) };
  const client = createClient(endpoint, connections);
  const before = await cpu?.();
  const { answers, failed, elapsedMs } = await drive(client, call, count, connections, pausesMs[connections]);
  if (cpu !== undefined) await sleep(systemClock, flushMs);
  const after = await cpu?.();
  client.close();
  // A refused call is cheap, so a run in which calls fail has no valid figures.
  if (failed > 0) throw new Error(`${failed} of ${count} calls of ${name} failed`);
  const cpuMs = ((after ?? NaN) - (before ?? NaN)) / count;
  const waits = answers.map(({ firstByteMs, totalMs }) => (kind.name === 'JSON' ? totalMs : firstByteMs));
  const perSecond = (count / elapsedMs) * 1_000;
  return { perSecond, cpuMs, waitMs: median(waits) };
}

function figuresOf(measured: Awaited<ReturnType<typeof callInLoop>>, { name }: Kind, aloneMs: number): BenchFigures {
  const addedMs = measured.waitMs - aloneMs;
  return {
    'calls a second': measured.perSecond,
    'CPU of gateway and store, ms': measured.cpuMs,
    'added latency, ms': name === 'JSON' ? addedMs : NaN,
    'added to the first chunk, ms': name === 'stream' ? addedMs : NaN,
  };
}

// The processor time of the processes that a gateway starts, as Linux counts it. Before 0.1.0 the gateway's store was a
// process of its own.

/** Linux's unit of time is the same on every machine that Node runs on. */
const msPerTick = 10;

/** Positions in /proc/PID/stat, counted after the name of the process, because that name may contain spaces. */
const [parentAt, userTicksAt, systemTicksAt] = [1, 11, 12];

function statOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    // The process has ended, or the system is not Linux.
    return [];
  }
}

function cpuMsOf(pid: number): number {
  const stat = statOf(pid);
  return ((stat[userTicksAt] ?? NaN) + (stat[systemTicksAt] ?? NaN)) * msPerTick;
}

/** Returns the child processes of a process, and their children. */
function descendantsOf(pid: number): readonly number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = new Map(all.map((one) => [one, statOf(one)[parentAt]]));
  const below = (parent: number): number[] =>
    all.filter((one) => parents.get(one) === parent).flatMap((one) => [one, ...below(one)]);
  return below(pid);
}
