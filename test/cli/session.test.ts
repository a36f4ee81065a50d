import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { projectRoot, type RunningGateway, startGateway, startShell } from './child-processes.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let simulator: Simulator;
let local: LocalStore;
let gateway: RunningGateway | undefined;
beforeAll(async () => {
  [simulator, local] = await Promise.all([startSimulator({ paceMs: 0 }), startLocalStore()]);
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([simulator.stop(), local.stop()]);
});

const looksMax = 20;

interface Session {
  readonly key: string;
  readonly public_id: string;
}

const call = async (key: string) => {
  const response = await fetch(`${gateway?.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/small', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const { usage, error } = (await response.json()) as { usage?: { cost_usd: string }; error?: string };
  return { status: response.status, cost: usage?.cost_usd, error };
};

// The sessions of the README work on a folder that both share.
describe('a whole session of the operator on a server that both share', () => {
  it('applies, makes a key, serves, counts to the last digit, and revokes for good', async () => {
    const { folder } = local;
    const file = local.write('gateway.yaml', gatewayFile({ baseUrl: simulator.urlOf('acme') }));
    const gw = (line: string) => operate(`${line} ${local.option}`);
    const gwJson = <Document>(line: string) => operateJson<Document>(`${line} ${local.option}`);

    expect(await gw(`apply -f ${file} --dry-run`)).toMatchObject({
      code: 0,
      out: expect.stringContaining('dry run, nothing was written: 3 created'),
    });
    expect((await gw(`apply -f ${file}`)).out).toMatch(/^team +ci +sk-gw-/m);
    expect((await gw(`apply -f ${file} --dry-run`)).out).toBe('dry run, nothing was written: 3 unchanged');

    await gateway?.stop();
    gateway = await startGateway(`--config ${file} ${local.option}`, folder);
    const { key, public_id } = await gwJson<Session>('keys create --workspace team --name build --spend-limit 2');
    const answer = await call(key);
    expect(answer.status).toBe(200);

    // A call settles and is recorded after its last byte, so perhaps after its answer was read.
    const readCredits = () => gwJson<{ credits: { held_usd: string }[] }>('credits show team');
    const readUsage = () => gwJson<{ groups: unknown[]; total: { calls: number } }>('usage --since 1h --by key');
    let [{ credits }, usage] = [await readCredits(), await readUsage()];
    const isOver = () => credits[0]?.held_usd === '0' && usage.total.calls > 0;
    for (let looks = 1; looks < looksMax && !isOver(); looks += 1)
      [{ credits }, usage] = [await readCredits(), await readUsage()];
    expect(credits).toMatchObject([{ workspace: 'team', granted_usd: '5', spent_usd: answer.cost, held_usd: '0' }]);
    const { keys } = await gwJson<{ keys: unknown }>('keys list');
    expect(keys).toMatchObject([
      { name: 'build', spend_limit_usd: '2', spent_usd: answer.cost, held_usd: '0' },
      { name: 'ci', spend_limit_usd: null, spent_usd: null },
    ]);
    expect(usage).toMatchObject({
      groups: [{ group: public_id, calls: 1, ok_calls: 1, cost_usd: answer.cost }],
      total: { calls: 1, cost_usd: answer.cost },
    });
    expect((await gw('usage --by model')).out).toMatch(/^acme\/small +1 +1 .*█+$/m);
    expect(await gwJson('status')).toMatchObject({
      workspaces: [{ workspace: 'team', held_usd: '0', expired_usd: '0' }],
      providers: [
        { model: 'acme/small', provider: 'acme', cooling: false, uptime: 1 },
        { model: 'acme/large', provider: 'acme', cooling: false, uptime: null },
      ],
    });

    const revoke = `keys revoke ${public_id}`;
    expect(await gw(revoke)).toMatchObject({ code: 2, out: '' });
    expect((await call(key)).status).toBe(200);
    expect((await gw(`${revoke} --yes`)).code).toBe(0);
    expect(await call(key)).toMatchObject({ status: 401, error: 'UNAUTHORIZED' });
    const everything = await gw('keys list');
    expect(everything.out).toMatch(new RegExp(`${public_id} +revoked`));
    expect(everything.out).not.toContain(key);
  });
});

interface Step {
  readonly command: string;
  readonly printed: string[];
}

/** Of each session the lines behind `$ `, each with what it prints. */
function readSessions(): Step[][] {
  const readme = readFileSync(join(projectRoot, 'infra/cli/README.md'), 'utf8');
  return [...readme.matchAll(/```console\n(.*?)```/gs)].map(([, block = '']) => readSteps(block));
}

function readSteps(block: string): Step[] {
  const steps: Step[] = [];
  for (const line of block.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), printed: [] });
    else steps.at(-1)?.printed.push(line);
  }
  return steps;
}

/** Without what differs each time: keys, ids, times and the width of columns. */
const stable = (line: string): string =>
  line
    .replace(/sk-gw-\w+-\w+/g, '<key>')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>')
    .replace(/\b[0-9A-Za-z]{16}\b/g, '<public id>')
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, '<time>')
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/ \d+ +\d+ +(\d+\+\d+) /, ' <ms> <ms> $1 ')
    // Percentiles of `usage`.
    .replace(/( +\d+){4}(?=( +\d+){2} +[\d.]+ +█)/, ' <ms>')
    .replace(/ +/g, ' ');

/** A line of `…` stands for any number of lines. */
function matchesPrinted(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first === '…')
    return actual.some((_line, index) => matchesPrinted(rest, actual.slice(index))) || rest.length === 0;
  return actual[0] !== undefined && stable(first) === stable(actual[0]) && matchesPrinted(rest, actual.slice(1));
}

describe('a session of the README prints what stands there, line by line', () => {
  const sessions = readSessions();
  let data: string;
  let running: RunningGateway;
  beforeAll(async () => {
    data = join(local.folder, 'readme');
    running = await startGateway(`--data ${data}`, local.folder);
  });
  afterAll(() => running.stop());

  it.each([
    ['a day', 0, 20],
    ['an outage', 1, 8],
  ])('%s', async (_name, index, stepsMin) => {
    const steps = sessions[index] ?? [];
    expect(steps.length).toBeGreaterThan(stepsMin);
    const shell = startShell();
    try {
      for (const { command, printed } of steps) {
        const line = command
          .replace('--data .gw', `--data ${data}`)
          .replace('http://127.0.0.1:8787/v1', running.url)
          .replace('gateway.yaml', join(local.folder, 'exported.yaml'))
          .replace('sleep 1', 'sleep 0.1');
        const actual = await shell.run(line);
        if (!matchesPrinted(printed, actual)) expect({ command, printed: actual }).toEqual({ command, printed });
      }
    } finally {
      shell.stop();
    }
  });
});
