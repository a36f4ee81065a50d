import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { commandsIn, fullName } from '../../infra/cli/args/command-line.ts';
import { createProgram } from '../../infra/cli/args/run.ts';
import { projectRoot } from '../support/source-files.ts';
import { operate } from './operator.ts';

const commands = commandsIn(await createProgram(async () => {})).map((command) => ({
  name: fullName(command),
  options: command.options.map(({ long }) => String(long)),
  asks: command.options.some(({ long }) => long === '--yes'),
}));
/** Nothing listens at this address: a refused line must not even try to connect. */
const nowhere = '--dynamodb http://127.0.0.1:1';
const nineTags = Array.from({ length: 9 }, (_, at) => `--tag n${at}=v`).join(' ');
const leaked = 'sk-gw-ELF4BT6C9u28TpYs-6VlvgRItLiLJkxt1ILM1tEqX63DCSVqw4OaDHtCYI1m05wkIx';

describe('a line that cannot be run', () => {
  it.each([
    [
      'nothing',
      'no such command; there are start, apply, export, import, status, calls, usage, providers, models, workspaces, keys, operators, credits, functions, credentials, alerts, pause, resume, policy; usage: ',
    ],
    ['keys', 'keys create, keys list, keys update, keys rotate, keys revoke'],
    ['keys made --data d', 'keys create, keys list, keys update, keys rotate, keys revoke'],
    ['--data d keys list', 'it comes before its options'],
    [`keys create --workspace team ${nowhere}`, '--name N is required'],
    [`keys create --workspace te/am --name ci ${nowhere}`, '--workspace is 1 to 64 letters'],
    [`keys create --workspace team --name ci --rpm 0 ${nowhere}`, '--rpm is a whole number from 1'],
    [`keys create --workspace team --name ci --spend-limit 1,50 ${nowhere}`, '--spend-limit is an amount of USD'],
    [`keys create --workspace team --name ci --expires 2020-01-01 ${nowhere}`, '--expires is not in the future'],
    [`keys create --workspace team --name ci --expires soon ${nowhere}`, '--expires is 2027-01-01'],
    [`keys create --workspace team --name ci --models acme/small, ${nowhere}`, '--models is all, or ids'],
    ...['--tag team', '--tag Team=a', '--tag team=a --tag team=b', '--tag none --tag a=b', nineTags].map((wrong) => [
      ...[`keys update ABCDEFGHIJKLMNOP ${wrong} ${nowhere}`, '--tag'],
    ]),
    [`keys rotate ci --grace soon --workspace team ${nowhere}`, '--grace is a length of time'],
    [`keys rotate ci --grace 900d --workspace team ${nowhere}`, '--grace is a length of time of at most a year'],
    [`operators create --name x --role member ${nowhere}`, 'viewer, editor, owner'],
    [`keys create --workspace team --name ci --limit 1 ${nowhere}`, "unknown option '--limit'"],
    [`keys list --workspace a --workspace b ${nowhere}`, '--workspace is written twice'],
    [`keys revoke ${nowhere}`, 'give a KEY, or --owner EMAIL'],
    [`credits add team ${nowhere}`, 'USD is missing'],
    [`credits add team 0 ${nowhere}`, 'USD is an amount of USD above 0'],
    [`credits add team -0.0 ${nowhere}`, 'USD is an amount of USD above 0'],
    [`credits add team --5 ${nowhere}`, 'unknown option'],
    [`keys update ABCDEFGHIJKLMNOP ${nowhere}`, 'say what to change: see keys update --help'],
    [`keys update ABCDEFGHIJKLMNOP --rpm unlimited ${nowhere}`, '--rpm is a whole number from 1'],
    [`calls --since soon ${nowhere}`, '--since is a length of time or a day of UTC'],
    [`calls everything ${nowhere}`, 'there is no such command; there are calls, calls show'],
    [`workspaces update team ${nowhere}`, 'say what to change'],
    [`workspaces update team --data-residency EU ${nowhere}`, 'codes of regions or countries in lower case'],
    [`workspaces create ${nowhere}`, 'WORKSPACE is missing'],
    [`usage --since yesterday ${nowhere}`, '--since is a length of time or a day of UTC'],
    [`usage --since 2026-02-30 ${nowhere}`, '--since is a length of time or a day of UTC'],
    [`usage --since 9000d ${nowhere}`, '--since is at most 366 days back'],
    [`usage --by colour ${nowhere}`, '--by is one of model, provider, key, day'],
    ['keys list', 'say which store: --stage NAME, --dynamodb URL or --data DIR (or the variable GW_DATA)'],
    [`keys list ${nowhere} --workspace`, "option '--workspace <W>' argument missing"],
    ['keys list --data d --stage dev', '--data is a store of its own'],
    ['keys list --data d --profile p', 'they need --stage'],
    [`keys list --region eu-west-1 ${nowhere}`, 'they need --stage'],
    ['keys list --stage dev --region Ireland', '--region takes an AWS region such as eu-west-1'],
    ['policy --data d', 'needs --stage'],
    ['keys list --dynamodb 127.0.0.1:8000', '--dynamodb takes a URL'],
    ['keys list --stage a/b', '--stage takes letters'],
    [`functions qualify team f r1 --url ftp://x/v1 ${nowhere}`, '--url is the base URL of a gateway'],
    ['credentials set sk-live-0123456789abcdef --stage dev', 'the credential itself is read from standard input'],
    ['credentials set acme --data d', 'local runs read provider credentials from environment variables'],
  ])('%s: one line says why, with the usage, exit 2', async (line, reason) => {
    const { code, out, error } = await operate(line);
    expect(error).toContain(reason);
    expect(error).toContain('usage: npm run gw -- ');
    expect(error.split('\n')).toHaveLength(1);
    expect([code, out]).toEqual([2, '']);
  });

  it.each([
    `keys revoke ${leaked} ${nowhere}`,
    `credentials set acme ${leaked} --stage dev`,
    'credentials set sk-live-0123456789abcdef --stage dev',
    `credentials set --value=${leaked} --stage dev`,
    `keys list ${leaked} ${nowhere}`,
  ])('does not repeat a secret at the wrong place: %#', async (line) => {
    const { code, out, error } = await operate(line);
    expect(code).toBe(2);
    expect(out + error).not.toContain(leaked.slice(24, 60));
    expect(out + error).not.toContain('0123456789');
  });
});

describe('a mistyped command', () => {
  it.each([
    ['kyes list --data d', 'did you mean keys?'],
    ['keys lst --data d', 'did you mean keys list?'],
    ['help kyes', 'did you mean keys?'],
    ['calls shw --data d', 'did you mean calls show?'],
    ['keys lst --help', 'did you mean keys list?'],
    ['keys list --worksapce a --data d', 'did you mean --workspace?'],
    // An unknown option is reported before a missing one, and before its value counts as an argument.
    ['keys create --worksapce a --name b --data d', "unknown option '--worksapce'; did you mean --workspace?"],
    ['keys create --worksapce=a --data d', "unknown option '--worksapce'; did you mean --workspace?"],
    ['keys create -workspace a --name b --data d', 'did you mean --workspace?'],
    ['keys create workspace a --name b --data d', 'more arguments than it takes; did you mean --workspace?'],
    ['keys create workspace=a --name b --data d', 'more arguments than it takes; did you mean --workspace?'],
    ['credits add --iid x --data d', "unknown option '--iid'; did you mean --id?"],
    ['functions publish team --actvate --data d', "unknown option '--actvate'; did you mean --activate?"],
    ['keys list workspace a --data d', 'more arguments than it takes; did you mean --workspace?'],
  ])('%s: one line names what was probably meant, exit 2', async (line, suggestion) => {
    const { code, out, error } = await operate(line);
    expect(error).toContain(suggestion);
    expect(error.split('\n')).toHaveLength(1);
    expect([code, out]).toEqual([2, '']);
  });
});

describe('--version', () => {
  it('tells the release that package.json names, and opens nothing', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(await operate('--version')).toMatchObject({ code: 0, out: `gw ${version}`, error: '' });
  });
});

describe('help', () => {
  it.each([
    ['', '--help'],
    ['help', '--help'],
    ['-h', '--help'],
    ['help keys', 'keys --help'],
    ['help keys create', 'keys create --help'],
    ['keys create -h --workspace', 'keys create --help'],
  ])('`%s` prints what `%s` prints, exit 0', async (line, same) => {
    const { code, out, error } = await operate(line);
    expect(out).toContain('usage: npm run gw -- ');
    expect({ code, out, error }).toEqual({ code: 0, out: (await operate(same)).out, error: '' });
  });

  it('names every command, opens nothing and exits 0', async () => {
    const { code, out, error } = await operate('--help');
    for (const { name } of commands) expect(out).toContain(`  ${name} `);
    expect([code, error]).toEqual([0, '']);
  });

  it.each(commands.map(({ name }) => name))('%s --help shows its usage and every option', async (name) => {
    const { code, out } = await operate(`${name} --help`);
    const command = commands.find((known) => known.name === name);
    expect(code).toBe(0);
    // A gateway also has a start script of its own.
    expect(out).toContain(name === 'start' ? 'usage: npm start -- ' : `usage: npm run gw -- ${name}`);
    for (const option of command?.options ?? []) expect(out).toContain(option);
    expect(out.includes('--yes')).toBe(command?.asks === true);
  });
});

describe('a store that cannot be used', () => {
  it.each(['keys list', 'status', 'usage', 'credits show', 'functions list'])(
    '%s: one line names the server, exit 1',
    async (line) => {
      const { code, out, error } = await operate(`${line} ${nowhere} --json`);
      expect(error).toBe(`gw ${line}: no DynamoDB answers at http://127.0.0.1:1`);
      expect([code, out]).toEqual([1, '']);
    },
  );
});

it.each(['keys list', 'calls', 'pause'])('%s loads no other command, and neither YAML nor the gateway file', (line) => {
  const hooks = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (process._rawDebug('loaded ' + url), next(url, context)) });`;
  const observed = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, 'infra/cli/main.ts'];
  const { stderr } = spawnSync(process.execPath, [...observed, ...line.split(' '), '--help'], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  const loaded = stderr.split('\n').filter((one) => one.startsWith('loaded '));
  expect(loaded.length).toBeGreaterThan(100);
  const [name = ''] = line.split(' ');
  expect(loaded.filter((url) => url.endsWith(`infra/cli/commands/${name}.ts`))).toHaveLength(1);
  expect(
    loaded.filter((url) => /infra\/cli\/commands\/apply\.ts|gateway-file\/|node_modules\/yaml\//.test(url)),
  ).toEqual([]);
});

it('each command is found by its first word alone', async () => {
  const all = commandsIn(await createProgram(async () => {})).map(fullName);
  for (const name of new Set(all.map((one) => one.split(' ')[0] ?? ''))) {
    const found = commandsIn(await createProgram(async () => {}, name)).map(fullName);
    const isOwn = (one: string) => one === name || one.startsWith(`${name} `);
    expect(found.filter(isOwn)).toEqual(all.filter(isOwn));
  }
});
