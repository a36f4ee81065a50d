// `npm start -- --processes N` runs several processes on one port and one store.
import { spawnSync } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Stop, stopAll } from '../../infra/local/open-composition.ts';
import { startProcesses } from '../../infra/local/processes.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { type RunningGateway, startGateway, startScript } from '../support/gateway-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';

let simulator: Simulator;
let running: RunningGateway | undefined;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.stop());
afterEach(async () => {
  await running?.stop();
  running = undefined;
  simulator.clear();
});

const start = async (line: string, variables: Record<string, string> = {}): Promise<RunningGateway> => {
  const gateway = await startGateway(line, temporaryFolder(), variables);
  running = gateway;
  // This is the last line that a start prints.
  await until(() => gateway.out().includes('command line: '));
  return gateway;
};

/** Returns the ids of the processes that serve. */
const servingOf = ({ process }: RunningGateway): number[] =>
  spawnSync('pgrep', ['-P', String(process.pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean)
    .map(Number);

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The test polls, because other processes report no change. */
const lookMs = 20;
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(systemClock, lookMs);
};

const ownFoldersIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('gw-processes-'));

/** Runs `npm run gw -- …`. */
async function operate(line: string) {
  const child = await startScript('infra/cli/main.ts', line.split(' '), temporaryFolder(), {});
  const ended = once(child, 'exit');
  const [out, error] = await Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
  const [code] = await ended;
  return { code, out: out ?? '', error };
}

const key = newKey();
const call = ({ url }: RunningGateway, model: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    // Each call has a connection of its own, because processes get connections in turn.
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    ...init,
  });

function writeFile(members: { readonly key?: Record<string, unknown> } = {}): string {
  const path = join(temporaryFolder(), 'gateway.yaml');
  const route = (upstream: string) => [{ provider: 'acme', upstream }];
  const models = { 'acme/quick': route('echo'), 'acme/silent': route('silent') };
  writeFileSync(path, gatewayFileText({ models, ...members }, simulator.urlOf, key));
  return path;
}

describe('several processes', () => {
  it('share the port, say what a start says once, keep the limits of all to the unit, and end by themselves when the main process is killed', async () => {
    const temporary = temporaryFolder();
    const config = writeFile({ key: { concurrency: 5 } });
    const gateway = await start(`--processes 2 --log off --config ${config}`, { TMPDIR: temporary });
    const serving = servingOf(gateway);
    expect(serving).toHaveLength(2);
    for (const line of ['ready ', 'base URL for OpenAI', 'console ', 'command line: '])
      expect(
        gateway
          .out()
          .split('\n')
          .filter((printedLine) => printedLine.startsWith(line)),
      ).toHaveLength(1);
    const leaving = new AbortController();
    const statuses: number[] = [];
    const calls = Array.from({ length: 40 }, async () => {
      const { status } = await call(gateway, 'acme/silent', { signal: leaving.signal });
      statuses.push(status);
    });
    await until(() => statuses.length === 35);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(simulator.calls).toHaveLength(5);
    leaving.abort();
    await Promise.allSettled(calls);
    expect(ownFoldersIn(temporary)).toHaveLength(1);
    gateway.process.kill('SIGKILL');
    await once(gateway.process, 'exit');
    await until(() => !serving.some(isRunning));
    expect(ownFoldersIn(temporary)).toEqual([]);
  });

  it('serve while the command line works on their folder, show what it changed, replace one that is killed, and serve on', async () => {
    const data = join(temporaryFolder(), 'data');
    const gateway = await start(`--processes 2 --log off --data ${data} --config ${writeFile()}`);
    const created = await operate(`keys create --workspace team --name second --data ${data}`);
    expect([created.code, created.error]).toEqual([0, '']);
    const [second = ''] = /sk-gw-[\w-]+/.exec(created.out) ?? [];
    const headers = { authorization: `Bearer ${second}`, connection: 'close' };
    const statusesOfCalls = async () => {
      const calls = Array.from({ length: 8 }, () => call(gateway, 'acme/quick', { headers }));
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await statusesOfCalls()).toEqual(Array(8).fill(200));
    const status = await operate(`status --data ${data}`);
    expect([status.code, status.error]).toEqual([0, '']);

    const [killed = 0, other = 0] = servingOf(gateway);
    const leaving = new AbortController();
    const open = call(gateway, 'acme/silent', { signal: leaving.signal }).catch(() => 'broken');
    await simulator.until((calls) => calls.some(({ body }) => JSON.stringify(body).includes('silent')));
    // A pid of 0 would mean the test's own process group.
    expect(killed).toBeGreaterThan(0);
    process.kill(killed, 'SIGKILL');
    await until(() => gateway.out().includes('a process has ended (SIGKILL): another takes its place'));
    await until(() => servingOf(gateway).length === 2);
    expect(servingOf(gateway)).toContain(other);
    expect(servingOf(gateway)).not.toContain(killed);
    expect(await statusesOfCalls()).toEqual(Array(8).fill(200));
    leaving.abort();
    await open;
    await gateway.stop();
    expect(readdirSync(data)).not.toContain('gw.sqlite-wal');
  });

  it.each([1, 2])('(%i) live on after a rejection that nothing handles, and log it', async (count) => {
    const onSignal = "process.on('SIGUSR2', () => void Promise.reject(new Error('lost')))";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(onSignal)}`;
    const gateway = await start(`--processes ${count} --config ${writeFile()}`, { NODE_OPTIONS });
    const pids = [gateway.process.pid ?? 0, ...servingOf(gateway)];
    for (const pid of pids) process.kill(pid, 'SIGUSR2');
    await until(() => gateway.error().split('unhandled_rejection').length > pids.length);
    expect(pids.filter(isRunning)).toEqual(pids);
    expect((await call(gateway, 'acme/quick')).status).toBe(200);
  });

  it('are no more than there are processors, in one line, and end when the main process is asked to stop, with their own folder', async () => {
    const temporary = temporaryFolder();
    const processors = availableParallelism();
    const gateway = await start(`--processes ${processors + 7} --log off`, { TMPDIR: temporary });
    expect(gateway.out()).toContain(
      `note: --processes ${processors + 7} is ${processors} here, one for each processor\n`,
    );
    const serving = servingOf(gateway);
    expect(serving).toHaveLength(processors);
    expect(ownFoldersIn(temporary)).toHaveLength(1);
    await gateway.stop();
    expect(gateway.process.exitCode).toBe(0);
    expect(serving.filter(isRunning)).toEqual([]);
    expect(ownFoldersIn(temporary)).toEqual([]);
  });

  it('that cannot open their store end the start in one line', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'gw.sqlite'), 'not a database, but a text '.repeat(100));
    const started = start(`--processes 2 --log off --data ${folder}`);
    await expect(started).rejects.toThrow(/gw: .*gw\.sqlite was made by another program: choose another folder\n$/);
    expect(existsSync(join(folder, 'gw.sqlite-wal'))).toBe(false);
  });

  it('that cannot be started at all fail the start, and are waited for no longer', async () => {
    cluster.setupPrimary({ cwd: join(temporaryFolder(), 'no-folder') });
    const started: Stop[] = [];
    try {
      const options = { port: 0, config: undefined, data: temporaryFolder(), dynamodb: undefined };
      await expect(startProcesses(1, options, () => {}, started)).rejects.toThrow(
        /^a process ended before it served \(spawn .* ENOENT\)$/,
      );
      await stopAll(started);
    } finally {
      cluster.setupPrimary({ cwd: process.cwd() });
    }
  });
});

describe('a stop', () => {
  it.each(['--log off', '--processes 2 --log off'])(
    'with the line that says ready is one like any other: %s',
    async (line) => {
      running = await startGateway(line, temporaryFolder());
      await running.stop();
      expect([running.process.exitCode, running.process.signalCode, running.error()]).toEqual([0, null, '']);
    },
  );
});

describe('a stop that fails', () => {
  const noEnd =
    "import { DatabaseSync } from 'node:sqlite'; DatabaseSync.prototype.close = () => { throw new Error('no end') };";
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noEnd)}` };

  it('ends the process with 1 and one line, and no trace', async () => {
    const gateway = await start('--log off', variables);
    await gateway.stop();
    expect([gateway.process.exitCode, gateway.error()]).toEqual([1, 'gw: no end\n']);
  });

  it('of processes that serve is one line of each, and all of them end', async () => {
    const gateway = await start(`--processes 2 --log off --data ${temporaryFolder()}`, variables);
    const serving = servingOf(gateway);
    await gateway.stop();
    expect(serving.filter(isRunning)).toEqual([]);
    expect([gateway.process.exitCode, gateway.error()]).toEqual([1, 'gw: no end\n'.repeat(3)]);
  });
});
