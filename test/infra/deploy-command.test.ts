// `npm run deploy` from its line to its last run of cdk: the account is a mock, and cdk is noted in place of being run.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { describe, expect, it } from '#jest';
import { readCommit } from '../../infra/cdk/deployment/commit.ts';
import { deployStage } from '../../infra/cdk/deployment/deploy-stage.ts';
import { findImageBuilder } from '../../infra/cdk/deployment/image-builder.ts';
import { runCdk } from '../../infra/cdk/deployment/run-cdk.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { account, allTables, inShell, mockAccount, refusal } from './mocked-account.ts';

const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
const { mocks, haveTable, haveStack, askedOperations } = mockAccount();
/** What a deployment may ask an account for: none of it changes anything. */
const looks = /^(Describe|Get|List|Head)\w+Command$|^AssumeRoleCommand$/;

interface Run {
  /** Lines for the terminal and runs of cdk, in their order. */
  readonly events: readonly string[];
  readonly failure: string | undefined;
}

async function deploy(
  line: string,
  {
    stages = { dev, prod },
    exitCodes = [],
    builder = () => 'finch',
  }: {
    readonly stages?: Readonly<Record<string, StageSettings>>;
    readonly exitCodes?: number[];
    readonly builder?: () => string;
  } = {},
): Promise<Run> {
  const events: string[] = [];
  let askedBeforeCdk: number | undefined;
  const failure = await inShell(() =>
    deployStage(line.split(' '), {
      stages,
      print: (text) => void events.push(text),
      findImageBuilder: builder,
      async runCdk(args, imageBuilder) {
        askedBeforeCdk ??= askedOperations().length;
        events.push(['cdk', ...args, ...(imageBuilder === undefined ? [] : [`with ${imageBuilder}`])].join(' '));
        return exitCodes.shift() ?? 0;
      },
    }),
  ).then(
    () => undefined,
    (error: unknown) => String((error as Error).message),
  );
  expect(askedOperations().filter((name) => !looks.test(name))).toEqual([]);
  // Everything is asked before anything is built.
  if (askedBeforeCdk !== undefined) expect(askedOperations()).toHaveLength(askedBeforeCdk);
  return { events, failure };
}

const place = `account ${account}, region eu-west-1`;
const cdkOf = ({ events }: Run) => events.filter((event) => event.startsWith('cdk'));
const commit = { DeployedCommit: readCommit() };
const served = { ...commit, BaseUrl: 'https://d1.cloudfront.net/v1', DistributionId: 'E1', AcceptedOrigins: '1' };

describe('the command that deploys a stage', () => {
  it('says where, asks the account, and deploys a new stage: protected ones in two runs, data first', async () => {
    expect(await deploy('--stage dev -- -v')).toEqual({
      events: [`stage dev: ${place}`, 'cdk deploy dev/* -v'],
      failure: undefined,
    });
    expect(askedOperations()).toEqual(
      expect.arrayContaining([
        ...['GetCallerIdentityCommand', 'DescribeStacksCommand', 'DescribeTableCommand', 'HeadBucketCommand'],
        ...['DescribeSecretCommand', 'GetAccountSettingsCommand', 'AssumeRoleCommand'],
      ]),
    );
    expect(await deploy('--stage prod')).toEqual({
      events: [`stage prod: ${place}`, 'cdk deploy prod/data --context firstDeployment=true', 'cdk deploy prod/*'],
      failure: undefined,
    });
  });

  it('stops behind the run that fails', async () => {
    const run = await deploy('--stage prod', { exitCodes: [1] });
    expect(cdkOf(run)).toEqual(['cdk deploy prod/data --context firstDeployment=true']);
    expect(run.failure).toBe('prod was not deployed; cdk says why above');
  });

  const away = { ...dev, account: '999988887777' };
  const tasks = { ...prod, compute: 'container' as const };
  const standing = () => {
    haveStack('gw-prod-data', allTables);
    haveStack('gw-prod-api', [], served);
  };
  const noBuilder = () => findImageBuilder('no-such-program');

  it.each([
    ['an option that nothing knows', '--stage dev --edge none', {}, () => {}, /^there is no option --edge/, []],
    [
      'an account that is not the one of the settings',
      '--stage dev',
      { stages: { dev: away, prod } },
      () => {},
      /^stage dev belongs to account 999988887777/,
      [],
    ],
    [
      'a table that belongs to no stack',
      '--stage prod',
      {},
      () => haveTable('gw-prod-keys'),
      /table gw-prod-keys; .* --adopt$/,
      [`stage prod: ${place}`],
    ],
    [
      'a region that was not bootstrapped',
      '--stage dev',
      {},
      () => mocks.sts.on(AssumeRoleCommand).rejects(refusal(403)),
      /^this region is not bootstrapped/,
      [`stage dev: ${place}`],
    ],
    [
      'a stack that cannot be read',
      '--stage dev',
      {},
      () => mocks.cloudFormation.on(DescribeStacksCommand).rejects(refusal()),
      /^this identity may not: .*cloudformation:DescribeStacks/,
      [`stage dev: ${place}`],
    ],
    [
      'a question, where there is no terminal to ask on',
      '--stage prod',
      { stages: { dev, prod: { ...prod, originSecrets: [2] } } },
      standing,
      /^this would change what stands before the functions; .*: pass --yes, as there is no terminal to ask on$/,
      [`stage prod: ${place}`],
    ],
    [
      'tasks without a program that builds their image',
      '--stage prod --yes',
      { stages: { dev, prod: tasks }, builder: noBuilder },
      standing,
      /^compute: 'container' needs a program that builds its image: no-such-program is not installed/,
      [`stage prod: ${place}`],
    ],
  ])('runs nothing at %s', async (_case, line, options, prepare, failure, events) => {
    prepare();
    const run = await deploy(line, options);
    expect(run.failure).toMatch(failure);
    expect(run.events).toEqual(events);
  });

  it('tells a refused shell before it looks at anything else', async () => {
    mocks.sts.on(GetCallerIdentityCommand).rejects(refusal(403));
    const run = await deploy('--stage dev');
    expect(run).toEqual({ events: [], failure: expect.stringMatching(/^AWS does not know this shell: /) });
    expect(askedOperations()).toEqual(['GetCallerIdentityCommand']);
  });

  it('moves a stage to tasks: asks, hands their builder to cdk, keeps the functions, and ends with the second deployment', async () => {
    standing();
    const flags = '--yes --require-approval never';
    const question = 'have the tasks run new calls; the functions stay until you deploy once more';
    expect(await deploy('--stage prod --yes', { stages: { dev, prod: tasks } })).toEqual({
      events: [
        `stage prod: ${place}`,
        `--yes was passed: this will ${question}`,
        `cdk deploy prod/* --context alsoRuns=functions ${flags} with finch`,
        'the functions are still there. Once no call runs in them: npm run deploy -- --stage prod',
      ],
      failure: undefined,
    });
    haveStack('gw-prod-api', [], { ...served, Compute: 'container' });
    const second = await deploy('--stage prod', { stages: { dev, prod: tasks } });
    expect(second).toEqual({ events: [`stage prod: ${place}`, 'cdk deploy prod/* with finch'], failure: undefined });
    // Back: the image of the tasks that stay for one deployment is built too.
    expect(cdkOf(await deploy('--stage prod --yes'))).toEqual([
      `cdk deploy prod/* --context alsoRuns=container ${flags} with finch`,
    ]);
  });

  it('that fails names no second deployment', async () => {
    standing();
    const run = await deploy('--stage prod --yes', { stages: { dev, prod: tasks }, exitCodes: [1] });
    expect(run.failure).toBe('prod was not deployed; cdk says why above');
    expect(run.events.at(-1)).toMatch(/^cdk deploy/);
  });

  it('runs cdk with the Node of this project, without notices and telemetry, and gives its exit code', async () => {
    const folder = temporaryFolder();
    const [standIn, noted] = [join(folder, 'cdk.mjs'), join(folder, 'noted.json')];
    writeFileSync(
      standIn,
      `import { writeFileSync } from 'node:fs';
      const { argv, env, execPath } = process;
      writeFileSync(argv[2], JSON.stringify({ args: argv.slice(3), execPath, path: env.PATH, docker: env.CDK_DOCKER, telemetry: env.CDK_DISABLE_CLI_TELEMETRY }));
      process.exit(7);`,
    );
    expect(await runCdk([noted, 'deploy', 'dev/*'], 'podman', standIn)).toBe(7);
    const { path, ...rest } = JSON.parse(readFileSync(noted, 'utf8')) as { path: string };
    expect(rest).toEqual({
      args: ['deploy', 'dev/*', '--no-notices'],
      execPath: process.execPath,
      docker: 'podman',
      telemetry: '1',
    });
    expect(path.startsWith(dirname(process.execPath))).toBe(true);
  });
});
