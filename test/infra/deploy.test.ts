import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { describe, expect, it } from '#jest';
import { planOriginChange } from '../../infra/cdk/deployment/accepted-origins.ts';
import { planComputeChange } from '../../infra/cdk/deployment/check-before-deployment.ts';
import { readCommit } from '../../infra/cdk/deployment/commit.ts';
import { cdkRuns, readDeployOptions, stagesLine } from '../../infra/cdk/deployment/deploy-options.ts';
import { deployStage } from '../../infra/cdk/deployment/deploy-stage.ts';
import { findImageBuilder, runCdk } from '../../infra/cdk/deployment/run-cdk.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { contextOf, readContext } from '../../infra/cdk/this-deployment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { account, allTables, inShell, mockAccount, refusal } from './mocked-account.ts';
import { synthesizeStage } from './synthesized-stage.ts';

const root = join(import.meta.dirname, '../..');
const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
const stages = { dev, prod };
const read = (...args: string[]) => readDeployOptions(args, stages);

describe('the arguments of a deployment', () => {
  it('name one stage, and what stands behind -- is handed to cdk as it was', () => {
    const flags = ['--outputs-file=out.json', '-vv', '--no-rollback', '-t', 'c=d', '--require-approval', 'never'];
    expect(read('--stage', 'dev', '--', ...flags)).toMatchObject({ stage: 'dev', flags });
  });

  it('choose profile and region for the script and for cdk', () => {
    expect(read('--profile=work', '--region', 'eu-west-1', '--stage=prod', '--', '-v')).toMatchObject({
      profile: 'work',
      region: 'eu-west-1',
      flags: ['--profile', 'work', '--region', 'eu-west-1', '-v'],
    });
  });

  it('ask nothing with --yes, and import what exists with --adopt where the stage retains it', () => {
    expect(read('--stage', 'dev', '--yes')).toMatchObject({
      isConfirmed: true,
      flags: ['--yes', '--require-approval', 'never'],
    });
    expect(read('--stage', 'prod', '--adopt')).toMatchObject({ isAdopting: true, flags: [] });
    expect(() => read('--stage', 'dev', '--adopt')).toThrow("--adopt needs removal: 'retain' in the settings of dev");
  });

  it.each([
    ['no stage', [], '--stage is missing (known: dev, prod)'],
    ['a stage without a name', ['--stage'], "Option '--stage <value>' argument missing"],
    [
      'an option in the place of a name',
      ['--stage', '--yes'],
      "Option '--stage' argument is ambiguous; what a stage is",
    ],
    ['a stage that is in no settings', ['--stage', 'test'], 'there is no stage test (known: dev, prod)'],
    [
      'an option that would not be heard: what a stage is stands in its settings',
      ['--stage', 'dev', '--edge', 'none'],
      "Unknown option '--edge'; what a stage is stands in infra/cdk/stage-settings.ts, and flags of cdk deploy stand behind --",
    ],
    ['a flag of cdk in front of --', ['--stage', 'dev', '--hotswap'], "Unknown option '--hotswap'"],
    ['a letter that stands for nothing', ['--stage', 'dev', '-Z'], "Unknown option '-Z'"],
    ['another stage beside the named one', ['--stage', 'dev', 'prod/*'], "Unexpected argument 'prod/*'"],
    ['a value where none belongs', ['--stage', 'dev', '--yes=no'], "Option '-y, --yes' does not take an argument"],
    [
      'an account that only cdk would hear of',
      ['--stage', 'dev', '--', '--profile=other'],
      '--profile=other stands before --',
    ],
  ])('stop at %s', (_case, args, message) => {
    expect(() => read(...args)).toThrow(message);
  });

  it('stop at settings that are not valid', () => {
    const stage = { dev: { ...dev, memoryMb: 1 } };
    expect(() => readDeployOptions(['--stage', 'dev'], stage)).toThrow('stage dev: memoryMb must be');
  });
});

describe('the runs of cdk', () => {
  const place = '111122223333/eu-west-1';
  const all = (stage: string) => ['deploy', `${stage}/*`];
  const first = (stage: string) => ['deploy', `${stage}/data`, '--context', 'firstDeployment=true'];

  it('protect the data stack after its first success, not before', () => {
    for (const status of [undefined, 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'REVIEW_IN_PROGRESS', 'CREATE_FAILED']) {
      expect(cdkRuns(read('--stage', 'prod'), status, {}, place)).toEqual([first('prod'), all('prod')]);
    }
    for (const status of ['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE']) {
      expect(cdkRuns(read('--stage', 'prod'), status, {}, place)).toEqual([all('prod')]);
    }
  });

  it('are one where nothing is protected', () => {
    expect(cdkRuns(read('--stage', 'dev'), undefined, {}, place)).toEqual([all('dev')]);
  });

  it('adopt in the first run too, and say where the bucket is: CloudFormation imports only what has a literal name', () => {
    const imports = ['--context', `importsIn=${place}`, '--import-existing-resources'];
    const flags = [...imports, '--yes', '--require-approval', 'never'];
    expect(cdkRuns(read('--stage', 'prod', '--adopt', '--yes'), undefined, { importsIn: place }, place)).toEqual([
      [...first('prod'), ...flags],
      [...all('prod'), ...flags],
    ]);
  });
});

describe('what one deployment alone does', () => {
  it('reaches the app as it was said, and a deployment that says nothing says nothing to it', () => {
    const said = {
      firstDeployment: true,
      importsIn: '111122223333/eu-west-1',
      isImportingRestored: true,
      alsoAccepts: '1',
      alsoRuns: 'container',
      isAtOnce: true,
      accountConcurrency: 10,
    } as const;
    const read = (args: string[]) =>
      readContext((name) => args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1));
    expect(read(contextOf(said))).toEqual(said);
    expect(contextOf({ isAtOnce: false, alsoRuns: undefined })).toEqual([]);
    expect(read([])).toEqual({});
  });
});

describe('plain cdk', () => {
  it('runs the app with the Node of this project, whatever Node cdk itself runs on, and the app names the stages', () => {
    const { app } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { app: string };
    expect(app).toMatch(/ infra\/cdk\/app\.ts$/);
    // Without the folder of this project's Node, as a shell has it.
    const own = dirname(process.execPath);
    const path = String(process.env.PATH)
      .split(':')
      .filter((folder) => folder !== own && !folder.includes('node_modules'));
    const command = app.replace('infra/cdk/app.ts', '--version');
    const env = { PATH: path.join(':'), HOME: process.env.HOME };
    expect(execFileSync('/bin/sh', ['-c', command], { cwd: root, env, encoding: 'utf8' }).trim()).toBe(process.version);
    expect(stagesLine(Object.keys(stageSettings))).toBe(
      "stages: dev, staging, prod. cdk needs one named: npx cdk deploy 'dev/*'; with all checks: npm run deploy -- --stage dev\n",
    );
  });
});

describe('the deploy script', () => {
  const script = new URL('../../infra/cdk/deploy.ts', import.meta.url).pathname;
  const run = (args: readonly string[], env: Record<string, string>) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(process.execPath, [script, ...args], { env }, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      });
    });

  it('stops with one line and a failure before it calls anything', async () => {
    const outcome = await run(['--stage', 'nowhere'], {});
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^deploy: there is no stage nowhere [^\n]+\n$/);
  });

  it('stops with one line where the shell names no account, and starts no deployment', async () => {
    const outcome = await run(['--stage', 'dev', '--profile', 'nobody'], {
      HOME: '/nonexistent',
      AWS_REGION: 'eu-west-1',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^deploy: AWS does not know this shell: [^\n]+\n$/);
  });
});

describe('putting CloudFront in front, or changing its secret', () => {
  const cloudfront = (...originSecrets: number[]) => ({ edge: 'cloudfront' as const, originSecrets });
  const url = 'https://abc.lambda-url.eu-west-1.on.aws/v1';

  it.each([
    [{ BaseUrl: url, AcceptedOrigins: 'direct' }, cloudfront(1), 'direct'],
    [{ BaseUrl: url }, cloudfront(1), 'direct'],
    [{ BaseUrl: 'https://d1.cloudfront.net/v1', DistributionId: 'E1', AcceptedOrigins: '1' }, cloudfront(2), '1'],
  ])(
    'over %j accepts both first, asks, and names the deployment that takes the former away',
    (outputs, settings, former) => {
      const plan = planOriginChange('prod', settings, outputs);
      expect(plan).toMatchObject({ alsoAccepts: former, question: expect.stringContaining('stays accepted until') });
      expect(plan.next).toMatch(/is still accepted\. Once nothing uses it: npm run deploy -- --stage prod$/);
      expect(cdkRuns(read('--stage', 'dev'), undefined, plan, 'a/r')).toEqual([
        ['deploy', 'dev/*', '--context', `alsoAccepts=${former}`],
      ]);
      const second = planOriginChange('prod', settings, {
        ...outputs,
        DistributionId: 'E1',
        AcceptedOrigins: `${settings.originSecrets[0]},${former}`,
      });
      expect(second).toEqual({ question: expect.stringMatching(/^refuse .* from now on$/) });
    },
  );

  it('asks nothing where nothing changes, and where there is nothing yet; taking the distribution away is asked', () => {
    expect(planOriginChange('prod', cloudfront(1), undefined)).toEqual({});
    expect(planOriginChange('prod', cloudfront(2, 1), { BaseUrl: url, AcceptedOrigins: '1' })).toEqual({});
    expect(
      planOriginChange('prod', cloudfront(1), { BaseUrl: url, DistributionId: 'E1', AcceptedOrigins: '1' }),
    ).toEqual({});
    const none = { edge: 'none' as const, originSecrets: [1] };
    expect(planOriginChange('prod', none, { BaseUrl: url, AcceptedOrigins: 'direct' })).toEqual({});
    const { question } = planOriginChange('prod', none, { BaseUrl: url, AcceptedOrigins: '1' });
    expect(question).toContain('remove the distribution');
  });

  it('has functions that accept everybody, or both secrets, for that one deployment', () => {
    const hashes = 'GW_ORIGIN_SECRET_SHA256';
    const open = synthesizeStage('prod', {}, { alsoAccepts: 'direct' }).api;
    expect(JSON.stringify(open.toJSON())).not.toContain(hashes);
    expect(JSON.stringify(open.toJSON())).toContain('x-gw-origin-secret');
    const both = synthesizeStage('prod', { originSecrets: [2] }, { alsoAccepts: '1' }).api;
    both.resourceCountIs('AWS::SecretsManager::Secret', 2);
    both.hasOutput('AcceptedOrigins', { Value: '2,1' });
    expect(JSON.stringify(both.toJSON())).toContain(hashes);
  });
});

describe('a stage that moves between functions and tasks', () => {
  const outputs = { BaseUrl: 'https://d1.cloudfront.net/v1', DistributionId: 'E1' };
  const settingsOf = (compute: 'functions' | 'container') =>
    ({ compute, edge: 'cloudfront', customDomain: null }) as const;

  it.each([
    // A stage of a release from before the output.
    [
      'container',
      undefined,
      'functions',
      'have the tasks run new calls; the functions stay until you deploy once more',
    ],
    [
      'container',
      'functions',
      'functions',
      'have the tasks run new calls; the functions stay until you deploy once more',
    ],
    [
      'functions',
      'container',
      'container',
      'have the functions run new calls; the tasks stay until you deploy once more',
    ],
  ] as const)('to %s keeps what runs for one deployment, asks, and names the second', (to, Compute, kept, question) => {
    const deployed = Compute === undefined ? outputs : { ...outputs, Compute };
    const change = planComputeChange('prod', settingsOf(to), deployed);
    expect(change).toEqual({
      alsoRuns: kept,
      question,
      next: expect.stringMatching(/^the .* Once no call runs in them: npm run deploy -- --stage prod$/),
    });
    const [run] = cdkRuns(read('--stage', 'dev'), 'UPDATE_COMPLETE', change, 'a/r');
    expect(run).toEqual(['deploy', 'dev/*', '--context', `alsoRuns=${kept}`]);
    // The second one: the output says what the settings say.
    expect(planComputeChange('prod', settingsOf(to), { ...outputs, Compute: to })).toEqual({});
  });

  it('for the first time changes nothing, and asks before tasks of the private way are ended', () => {
    expect(planComputeChange('prod', settingsOf('container'), undefined)).toEqual({});
    const change = planComputeChange(
      'prod',
      { compute: 'functions', edge: 'none', customDomain: null },
      { BaseUrl: 'https://llm.example.com/v1', Compute: 'container' },
    );
    expect(change).toEqual({ question: 'end the tasks: clients of https://llm.example.com/v1 get no answer any more' });
  });
});

describe('what builds the image of a stage with tasks', () => {
  const having =
    (...programs: string[]) =>
    (program: string) =>
      programs.includes(program) ? undefined : 'is not installed';

  it('is the first that answers, or the one that the shell names', () => {
    expect(findImageBuilder(undefined, having('finch', 'podman'))).toBe('finch');
    expect(findImageBuilder('podman', having('docker', 'podman'))).toBe('podman');
  });

  it('is named where it is missing, and no other one than the chosen is taken', () => {
    expect(() => findImageBuilder(undefined, having())).toThrow(
      "compute: 'container' needs a program that builds its image: docker is not installed; finch is not installed; podman is not installed. Start or install one of docker, finch, podman, or name another in CDK_DOCKER",
    );
    expect(() => findImageBuilder('nerdctl', having('docker'))).toThrow('nerdctl is not installed. Start');
    // Asked for real.
    expect(() => findImageBuilder('no-such-program')).toThrow('no-such-program is not installed');
    expect(() => findImageBuilder('false')).toThrow('false does not answer: is its service started?');
    expect(findImageBuilder('true')).toBe('true');
  });
});

// `npm run deploy` from its line to its last run of cdk: the account is a mock, and cdk is noted in place of being run.
describe('the whole command', () => {
  const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
  const { mocks, haveTable, haveStack, askedOperations } = mockAccount();
  /** Calls that change nothing: the only ones that a deployment may make itself. */
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
      ['an option that nothing knows', '--stage dev --edge none', {}, () => {}, /^Unknown option '--edge'/, []],
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
});
