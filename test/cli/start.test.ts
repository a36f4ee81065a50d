// `npm start` as a person types it: processes, signals and exit codes.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '#jest';
import { readOptions } from '../../infra/local/start-options.ts';
import { builtPrograms } from '../support/built-programs.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { hello } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { startTestStore } from '../support/test-store.ts';
import { operate } from './operator.ts';

const root = resolve('.');
const folder = temporaryFolder();

/** The machine's own provider keys are removed, because a real key would change the demo. */
const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };

/** Runs the command behind `npm start`, without npm. */
async function start(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['infra/local/main.ts', ...args], {
    cwd: root,
    env: { ...env, ...(await builtPrograms()) },
    encoding: 'utf8',
  });
  return { status, stdout, lines: stderr.trimEnd().split('\n') };
}

describe('npm start', () => {
  it('--help prints every option and ends with 0', async () => {
    const { status, stdout } = await start('--help');
    expect(status).toBe(0);
    const options = ['--data', '--durable', '--processes', '--dynamodb'];
    for (const name of ['--port', '--host', '--config', ...options, '--stream-budget', '--log', '--help']) {
      expect(stdout).toContain(`  ${name}`);
    }
  });

  it('with a file that is not valid has one line for each problem and ends with 1', async () => {
    const path = join(folder, 'bad.yaml');
    const unknown = Array.from({ length: 40 }, (_, number) => `x${number}: 1`);
    writeFileSync(path, `providers: []\nmodels: 2\nworkspace: []\nservice: { ${unknown.join(', ')} }`);
    const { status, stdout, lines } = await start('--port', '0', '--config', path);
    expect([status, stdout]).toEqual([1, '']);
    expect(lines).toHaveLength(42);
    expect(lines.slice(0, 2)).toEqual([
      `gw: ${path}: models: must be a list (line 2)`,
      `gw: ${path}: workspace: is not known here; did you mean workspaces? (line 3)`,
    ]);
  });

  it('on a damaged store names its file', async () => {
    const data = join(folder, 'damaged');
    await (await startTestStore(data)).stop();
    const path = join(data, 'gw.sqlite');
    const bytes = readFileSync(path);
    // Opening the file reads the schema on the first page, so only the bytes after that page are damaged.
    writeFileSync(path, bytes.fill(0xa5, 4_096));
    const damage = `${path} is damaged: stop what uses the folder, and restore a copy of it`;
    expect(await start('--port', '0', '--data', data)).toMatchObject({ status: 1, lines: [`gw: ${damage}`] });
    const { code, error } = await operate(`keys list --data ${data}`);
    expect([code, error]).toEqual([1, expect.stringContaining(damage)]);
  });

  it('with an option that there is not says where the options are', async () => {
    const { status, lines } = await start('--hosts', 'x');
    expect(status).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/^gw: .*--hosts.*; npm start -- --help prints the options$/)]);
  });
});

describe('options', () => {
  const read = (...args: string[]) => readOptions(args);

  it('have their defaults: port 8787 of this machine, in memory', () => {
    expect(read()).toEqual({
      port: 8787,
      host: '127.0.0.1',
      config: undefined,
      reapply: false,
      data: undefined,
      durable: false,
      processes: 1,
      dynamodb: undefined,
      streamBudgetSeconds: undefined,
      demoTraffic: false,
      log: 'text',
    });
  });

  it('are read as they are given', () => {
    expect(read('--port', '0', '--host', '0.0.0.0', '--log', 'json', '--data', 'd')).toMatchObject({
      port: 0,
      host: '0.0.0.0',
      log: 'json',
      data: 'd',
    });
    expect(read('--stream-budget', '840')).toMatchObject({ streamBudgetSeconds: 840 });
    expect(read('--demo-traffic')).toMatchObject({ demoTraffic: true });
    expect(read('--config', 'x', '--reapply')).toMatchObject({ config: 'x', reapply: true });
    expect([read('--help', '--port', '1'), read('-h')]).toEqual(['help', 'help']);
  });

  it('take the folder of the variable GW_DATA if no store is named, and so does the command line', async () => {
    const data = join(folder, 'of-variable');
    const variables = { GW_DATA: data };
    expect(readOptions([], variables)).toMatchObject({ data });
    expect(readOptions(['--data', 'other'], variables)).toMatchObject({ data: 'other' });
    expect(readOptions(['--dynamodb', 'http://127.0.0.1:1'], variables)).toMatchObject({ data: undefined });
    expect(readOptions([], { GW_DATA: '' })).toMatchObject({ data: undefined });
    await (await startTestStore(data)).stop();
    expect(await operate('keys list', { variables })).toMatchObject({
      code: 0,
      out: expect.stringContaining('there are no keys'),
    });
    expect(await operate('keys list', { variables: { GW_DATA: '' } })).toMatchObject({ code: 2 });
  });

  it.each([
    [['--port', 'many'], '--port takes 0 to 65535'],
    [['--port', ''], '--port takes 0 to 65535'],
    [['--port', '65536'], '--port takes 0 to 65535'],
    [['--host', ''], '--host takes an address'],
    ...['', 'a.pem', 'a.pem,', ',b.pem', 'a,b,c'].map((tls) => [['--tls', tls], '--tls takes two files'] as const),
    [['--tls', 'a.pem,b.pem', '--demo-traffic'], 'use it without --tls'],
    [['--stream-budget', '54'], '--stream-budget takes 55 to 840 seconds'],
    [['--stream-budget', '5m'], '--stream-budget takes 55 to 840 seconds'],
    [['--log', 'loud'], '--log takes text, json or off'],
    [['--reapply'], '--reapply applies a whole gateway file: use it with --config FILE'],
    [['--durable'], '--durable is for data that is kept: use it with --data DIR'],
    ...['0', 'two', '1.5', ''].map((n) => [['--processes', n], '--processes takes a number from 1 on'] as const),
    [['--dynamodb', 'here'], '--dynamodb takes the URL of a server'],
    [['--data', 'x', '--dynamodb', 'http://127.0.0.1:1'], 'use one of them'],
    [['--demo-traffic', '--config', 'x'], '--demo-traffic is for the demo'],
    [['stray'], 'stray'],
    [['--prot', '1'], 'there is no option --prot; did you mean --port?'],
    [['--congif', 'x'], 'did you mean --config?'],
  ])('%j are refused', (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });
});

interface Process {
  readonly pid: number;
  readonly parent: number;
}

/** Returns all running processes, without the ended ones that were not waited for. */
function processes(): Process[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [pid, parent, state = ''] = line.trim().split(/\s+/);
      return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
    });
}

function descendantsOf(pid: number, all = processes()): number[] {
  const children = all.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child.pid, ...descendantsOf(child.pid, all)]);
}

async function eventually(isSo: () => boolean): Promise<void> {
  const looks = 100;
  for (let look = 0; look < looks && !isSo(); look += 1) await new Promise((done) => setTimeout(done, 100));
  expect(isSo()).toBe(true);
}

interface Npm {
  readonly url: string;
  readonly pid: number;
}

/** Starts `npm start -- …` in a process group of its own. */
async function startNpm(...args: string[]): Promise<Npm> {
  const npm = spawn('npm', ['start', '--', '--port', '0', ...args], {
    cwd: root,
    env,
    stdio: 'pipe',
    detached: true,
  });
  let text = '';
  const ready = new Promise<string>((found, reject) => {
    npm.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /^ready (\S+)$/m.exec(text)?.[1];
      if (url !== undefined) found(url);
    });
    npm.once('exit', () => reject(new Error(`npm ended: ${text}`)));
  });
  return { url: await ready, pid: npm.pid ?? 0 };
}

it('SIGINT to the process group, as Ctrl-C in a terminal does, ends the gateway and its children', async () => {
  const { url, pid } = await startNpm();
  expect((await fetch(`${url}/models`)).status).toBe(401);
  const family = descendantsOf(pid);
  // The group has the gateway and its database at least.
  expect(family.length).toBeGreaterThanOrEqual(2);
  process.kill(-pid, 'SIGINT');
  await eventually(() => !processes().some((one) => family.includes(one.pid)));
  await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
});

it('SIGTERM to npm alone ends a gateway and its children with a stream that would never end, and the stream gets its error line', async () => {
  const simulator = await startTestSimulator({ paceMs: 25 });
  const key = newKey();
  const file = join(folder, 'endless.yaml');
  const models = { 'acme/endless': [{ provider: 'acme', upstream: 'endless:50' }] };
  writeFileSync(file, gatewayFileText({ models }, simulator.urlOf, key));
  const { url, pid } = await startNpm('--config', file, '--log', 'off');
  const stream = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(hello('acme/endless', { stream: true })),
  });
  const family = descendantsOf(pid);
  process.kill(pid, 'SIGTERM');
  expect(await stream.text()).toContain('"no_available_provider"');
  await eventually(() => !processes().some((one) => family.includes(one.pid)));
  await simulator.stop();
});
