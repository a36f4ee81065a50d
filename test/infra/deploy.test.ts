import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeEach, describe, expect, it } from '#jest';
import { planOriginChange } from '../../infra/cdk/deployment/accepted-origins.ts';
import { planComputeChange } from '../../infra/cdk/deployment/check-before-deployment.ts';
import { readCommit } from '../../infra/cdk/deployment/commit.ts';
import { cdkRuns, readDeployOptions, stagesLine } from '../../infra/cdk/deployment/deploy-options.ts';
import { deployStage } from '../../infra/cdk/deployment/deploy-stage.ts';
import { findImageBuilder, runCdk } from '../../infra/cdk/deployment/run-cdk.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { GatewayStage } from '../../infra/cdk/stage.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { contextOf, readContext } from '../../infra/cdk/this-deployment.ts';
import { routePaths } from '../../shared/foundation/constants/index.ts';
import { interfaceList } from '../../shared/protocol/interface-list/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { account, allTables, inShell, mockAccount, refusal } from './mocked-account.ts';
import { cdkContext, resourcesOf, stubBundles, synthesizeStage } from './synthesized-stage.ts';

const root = join(import.meta.dirname, '../..');
const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
const stages = { dev, prod };
const read = (...args: string[]) => readDeployOptions(args, stages);

describe('the arguments of a deployment', () => {
  it('name one stage, and the words after -- are passed to cdk unchanged', () => {
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

  it('ask nothing with --yes, and import what exists with --adopt if the stage retains it', () => {
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
  const first = (stage: string) => ['deploy', `${stage}/data`, '--context', `${stage}.firstDeployment=true`];

  it('protect the data stack after its first success, not before', () => {
    for (const status of [undefined, 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'REVIEW_IN_PROGRESS', 'CREATE_FAILED']) {
      expect(cdkRuns(read('--stage', 'prod'), status, {}, place)).toEqual([first('prod'), all('prod')]);
    }
    for (const status of ['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE']) {
      expect(cdkRuns(read('--stage', 'prod'), status, {}, place)).toEqual([all('prod')]);
    }
  });

  it('are one if nothing is protected', () => {
    expect(cdkRuns(read('--stage', 'dev'), undefined, {}, place)).toEqual([all('dev')]);
  });

  it('adopt in the first run too, and say where the bucket is: CloudFormation imports only what has a literal name', () => {
    const imports = ['--context', `prod.importsIn=${place}`, '--import-existing-resources'];
    const flags = [...imports, '--yes', '--require-approval', 'never'];
    expect(cdkRuns(read('--stage', 'prod', '--adopt', '--yes'), undefined, { importsIn: place }, place)).toEqual([
      [...first('prod'), ...flags],
      [...all('prod'), ...flags],
    ]);
  });
});

describe('what one deployment alone does', () => {
  it('reaches the app as it was said, and a deployment that says nothing says nothing to it', () => {
    const parameters = {
      firstDeployment: true,
      importsIn: '111122223333/eu-west-1',
      isImportingRestored: true,
      alsoAccepts: '1',
      alsoRuns: 'container',
      isAtOnce: true,
      accountConcurrency: 10,
    } as const;
    const read = (args: string[], stage = 'prod') =>
      readContext(stage, (name) => args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1));
    expect(read(contextOf('prod', parameters))).toEqual(parameters);
    expect(contextOf('prod', { isAtOnce: false, alsoRuns: undefined })).toEqual([]);
    expect(read([])).toEqual({});
    // The app has all stages, so it also reads the context of another stage.
    expect(read(contextOf('prod', parameters), 'dev')).toEqual({});
  });

  it('reaches that stage alone: the app with all stages synthesizes, and the templates of the others are as without it', () => {
    const context = ['prod.alsoAccepts=2', 'prod.isAtOnce=true', 'prod.accountConcurrency=10'];
    const synthesizeAll = (more: readonly string[], originSecrets: Readonly<Record<string, number[]>>) => {
      const options = Object.fromEntries(more.map((one) => one.split('=')));
      const app = new App({ context: { ...cdkContext, ...options }, outdir: temporaryFolder() });
      const bundlesRoot = stubBundles();
      return Object.fromEntries(
        Object.entries(stageSettings).map(([stage, known]) => {
          const settings = { ...known, originSecrets: originSecrets[stage] ?? known.originSecrets };
          const deployment = readContext(stage, (name) => app.node.tryGetContext(name));
          const { api } = new GatewayStage(app, stage, { settings, bundlesRoot, commit: 'a1b2c3d', deployment });
          return [stage, Template.fromStack(api).toJSON()];
        }),
      );
    };
    const before = synthesizeAll([], {});
    const changedStages = synthesizeAll(context, { prod: [1] });
    for (const stage of ['dev', 'staging']) expect(changedStages[stage]).toEqual(before[stage]);
    expect(JSON.stringify(changedStages.prod)).toContain('OriginSecretSecret2');
    expect(JSON.stringify(changedStages.prod?.Outputs)).toContain('"1,2"');
  });
});

describe('plain cdk', () => {
  it('runs the app with the Node of this project, whatever Node cdk itself runs on, and the app names the stages', () => {
    const { app } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { app: string };
    expect(app).toMatch(/ infra\/cdk\/app\.ts$/);
    // The path lacks the folder of this project's Node, as in a shell.
    const nodeFolder = dirname(process.execPath);
    const path = String(process.env.PATH)
      .split(':')
      .filter((folder) => folder !== nodeFolder && !folder.includes('node_modules'));
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

  it('stops with one line if the shell names no account, and starts no deployment', async () => {
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
        ['deploy', 'dev/*', '--context', `dev.alsoAccepts=${former}`],
      ]);
      const second = planOriginChange('prod', settings, {
        ...outputs,
        DistributionId: 'E1',
        AcceptedOrigins: `${settings.originSecrets[0]},${former}`,
      });
      expect(second).toEqual({ question: expect.stringMatching(/^refuse .* from now on$/) });
    },
  );

  it('asks nothing if nothing changes, and if there is nothing yet; taking the distribution away is asked', () => {
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

  it('has functions that accept every request, or both secrets, for that one deployment', () => {
    const acceptedIn = (api: Template) =>
      JSON.stringify(
        resourcesOf(api, 'AWS::SecretsManager::Secret').find(({ Properties }) => Properties.Name === 'gw/prod/origin')
          ?.Properties.SecretString,
      );
    const open = synthesizeStage('prod', {}, { alsoAccepts: 'direct' }).api;
    expect(acceptedIn(open)).toMatch(/":SecretString:::}}"\]\]},"direct"\]\]}$/);
    expect(JSON.stringify(open.toJSON())).toContain('x-gw-origin-secret');
    const both = synthesizeStage('prod', { originSecrets: [2] }, { alsoAccepts: '1' }).api;
    both.resourceCountIs('AWS::SecretsManager::Secret', 3);
    both.hasOutput('AcceptedOrigins', { Value: '2,1' });
    expect(acceptedIn(both)).toMatch(/Secret2\w+".*Secret1\w+"/);
    expect(acceptedIn(synthesizeStage('prod').api)).not.toContain('direct');
  });

  it('changes no version of any function and no task, with which calls would have to move', () => {
    const codeOf = (overrides: Partial<StageSettings>, deployment = {}) => {
      const { api } = synthesizeStage('prod', { console: true, consoleSharesTaskRole: true, ...overrides }, deployment);
      const types = ['AWS::Lambda::Function', 'AWS::Lambda::Version', 'AWS::Lambda::Alias', 'AWS::ECS::TaskDefinition'];
      return types.flatMap((type) => resourcesOf(api, type));
    };
    for (const compute of ['functions', 'container'] as const) {
      const before = codeOf({ compute });
      expect(before.length).toBeGreaterThan(0);
      for (const [originSecrets, alsoAccepts] of [
        [[2], '1'],
        [[2], undefined],
        [[2, 1], undefined],
        [[1], 'direct'],
      ] as const) {
        expect(codeOf({ compute, originSecrets }, { alsoAccepts })).toEqual(before);
      }
    }
  });
});

describe('a stage that moves between functions and tasks', () => {
  const outputs = { BaseUrl: 'https://d1.cloudfront.net/v1', DistributionId: 'E1' };
  const settingsOf = (compute: 'functions' | 'container') =>
    ({ compute, edge: 'cloudfront', customDomain: null }) as const;

  it.each([
    // This stage was deployed by a release without this output.
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
  ] as const)(
    'to %s keeps what runs for one deployment, asks, and names the second',
    (to, Compute, runningCompute, question) => {
      const deployed = Compute === undefined ? outputs : { ...outputs, Compute };
      const change = planComputeChange('prod', settingsOf(to), deployed);
      expect(change).toEqual({
        alsoRuns: runningCompute,
        question,
        next: expect.stringMatching(/^the .* Once no call runs in them: npm run deploy -- --stage prod$/),
      });
      const [run] = cdkRuns(read('--stage', 'dev'), 'UPDATE_COMPLETE', change, 'a/r');
      expect(run).toEqual(['deploy', 'dev/*', '--context', `dev.alsoRuns=${runningCompute}`]);
      // The second deployment changes nothing, because the output agrees with the settings.
      expect(planComputeChange('prod', settingsOf(to), { ...outputs, Compute: to })).toEqual({});
    },
  );

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

  it('is named if it is missing, and no other one than the chosen is taken', () => {
    expect(() => findImageBuilder(undefined, having())).toThrow(
      "compute: 'container' needs a program that builds its image: docker is not installed; finch is not installed; podman is not installed. Start or install one of docker, finch, podman, or name another in CDK_DOCKER",
    );
    expect(() => findImageBuilder('nerdctl', having('docker'))).toThrow('nerdctl is not installed. Start');
    // This call runs the real search.
    expect(() => findImageBuilder('no-such-program')).toThrow('no-such-program is not installed');
    expect(() => findImageBuilder('false')).toThrow('false does not answer: is its service started?');
    expect(findImageBuilder('true')).toBe('true');
  });
});

// `npm run deploy` from its command line to its last run of cdk: the account is a mock, and runs of cdk are recorded in
// place of being made.
describe('the whole command', () => {
  const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
  const { mocks, haveTable, haveStack, askedOperations } = mockAccount();
  const standingStacks = new Set<string>();
  beforeEach(() => standingStacks.clear());
  /** Matches calls that change nothing, the only ones that a deployment may make itself. */
  const looks = /^(Describe|Get|List|Head)\w+Command$|^AssumeRoleCommand$/;

  interface Run {
    /** Lines for the terminal and runs of cdk, in their order. */
    readonly events: readonly string[];
    readonly failure: string | undefined;
    /** Requests to the stage after its deployment, as path and status. */
    readonly questions: readonly string[];
  }

  async function deploy(
    line: string,
    {
      stages = { dev, prod },
      exitCodes = [],
      builder = () => 'finch',
      secondsPerAnswer = 0,
      answer = () => ({ status: 401, text: '{"error":"UNAUTHORIZED"}' }),
    }: {
      readonly stages?: Readonly<Record<string, StageSettings>>;
      readonly exitCodes?: number[];
      readonly builder?: () => string;
      readonly secondsPerAnswer?: number;
      /** Answers for the deployed stage. Rejects if it does not answer. */
      readonly answer?: (
        url: string,
        headers: Readonly<Record<string, string>>,
      ) => { readonly status: number; readonly text: string };
    } = {},
  ): Promise<Run> {
    const events: string[] = [];
    const questions: string[] = [];
    const clock = manualClock();
    let askedBeforeCdk: number | undefined;
    const failure = await inShell(() =>
      deployStage(line.split(' '), {
        stages,
        print: (text) => void events.push(text),
        findImageBuilder: builder,
        async runCdk(args, imageBuilder) {
          askedBeforeCdk ??= askedOperations().length;
          events.push(['cdk', ...args, ...(imageBuilder === undefined ? [] : [`with ${imageBuilder}`])].join(' '));
          const api = `gw-${String(args[1]).split('/')[0]}-api`;
          if (!standingStacks.has(api)) haveStack(api, [], edgeOutputs);
          return exitCodes.shift() ?? 0;
        },
        // Pauses take no time.
        clock: {
          ...clock,
          after(delayMs, work) {
            queueMicrotask(() => {
              clock.advance(delayMs);
              work();
            });
            return () => {};
          },
        },
        async ask(url, headers) {
          const { pathname } = new URL(url);
          const isOpen = ['/', '/health', '/api/hello', '/openapi.json', '/console'].includes(pathname);
          clock.advance(secondsPerAnswer * 1_000);
          const response = answer(url, headers);
          const { status, text } = isOpen && response.status === 401 ? { status: 200, text: '' } : response;
          questions.push(`${status} ${url}`);
          return { status, text };
        },
      }),
    ).then(
      () => undefined,
      (error: unknown) => String((error as Error).message),
    );
    expect(askedOperations().filter((name) => !looks.test(name))).toEqual([]);
    // Every read happens before anything is built, except the outputs of the stage, which are read at the end.
    if (askedBeforeCdk !== undefined)
      expect(askedOperations().length - askedBeforeCdk).toBeLessThanOrEqual(failure?.includes('cdk says') ? 0 : 1);
    return { events, failure, questions };
  }

  const place = `account ${account}, region eu-west-1`;
  const routesAnswer = (stage: string) => `all routes of ${stage} answer at https://d1.cloudfront.net`;
  const cdkOf = ({ events }: Run) => events.filter((event) => event.startsWith('cdk'));
  const commit = { DeployedCommit: readCommit() };
  const edgeOutputs = {
    ...commit,
    BaseUrl: 'https://d1.cloudfront.net/v1',
    DistributionId: 'E1',
    AcceptedOrigins: '1',
  };

  describe('the command that deploys a stage', () => {
    it('says where, asks the account, and deploys a new stage: protected ones in two runs, data first', async () => {
      expect(await deploy('--stage dev -- -v')).toMatchObject({
        events: [`stage dev: ${place}`, 'cdk deploy dev/* -v', routesAnswer('dev')],
        failure: undefined,
      });
      expect(askedOperations()).toEqual(
        expect.arrayContaining([
          ...['GetCallerIdentityCommand', 'DescribeStacksCommand', 'DescribeTableCommand', 'HeadBucketCommand'],
          ...['DescribeSecretCommand', 'GetAccountSettingsCommand', 'AssumeRoleCommand'],
        ]),
      );
      expect(await deploy('--stage prod')).toMatchObject({
        events: [
          `stage prod: ${place}`,
          'cdk deploy prod/data --context prod.firstDeployment=true',
          'cdk deploy prod/*',
          routesAnswer('prod'),
        ],
        failure: undefined,
      });
    });

    it('stops after the run that fails', async () => {
      const run = await deploy('--stage prod', { exitCodes: [1] });
      expect(cdkOf(run)).toEqual(['cdk deploy prod/data --context prod.firstDeployment=true']);
      expect(run.failure).toBe('prod was not deployed; cdk says why above');
    });

    const away = { ...dev, account: '999988887777' };
    const tasks = { ...prod, compute: 'container' as const };
    const standing = () => {
      haveStack('gw-prod-data', allTables);
      haveStack('gw-prod-api', [], edgeOutputs);
      standingStacks.add('gw-prod-api');
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
      expect(run).toMatchObject({ events: [], failure: expect.stringMatching(/^AWS does not know this shell: /) });
      expect(askedOperations()).toEqual(['GetCallerIdentityCommand']);
    });

    it('moves a stage to tasks: asks, hands their builder to cdk, keeps the functions, and ends with the second deployment', async () => {
      standing();
      const flags = '--yes --require-approval never';
      const question = 'have the tasks run new calls; the functions stay until you deploy once more';
      expect(await deploy('--stage prod --yes', { stages: { dev, prod: tasks } })).toMatchObject({
        events: [
          `stage prod: ${place}`,
          `--yes was passed: this will ${question}`,
          `cdk deploy prod/* --context prod.alsoRuns=functions ${flags} with finch`,
          routesAnswer('prod'),
          'the functions are still there. Once no call runs in them: npm run deploy -- --stage prod',
        ],
        failure: undefined,
      });
      haveStack('gw-prod-api', [], { ...edgeOutputs, Compute: 'container' });
      const second = await deploy('--stage prod', { stages: { dev, prod: tasks } });
      const run = [`stage prod: ${place}`, 'cdk deploy prod/* with finch', routesAnswer('prod')];
      expect(second).toMatchObject({ events: run, failure: undefined });
      // On the way back, the image for the tasks that stay for one more deployment is built too.
      expect(cdkOf(await deploy('--stage prod --yes'))).toEqual([
        `cdk deploy prod/* --context prod.alsoRuns=container ${flags} with finch`,
      ]);
    });

    it('asks each of its own routes where clients call it, without a valid key, and says that all answer', async () => {
      const stages = { dev: { ...dev, console: true }, prod };
      const { questions, failure } = await deploy('--stage dev', { stages });
      expect(failure).toBeUndefined();
      const at = (path: string) => `https://d1.cloudfront.net${path}`;
      expect(questions).toEqual(
        expect.arrayContaining([
          `200 ${at('/health')}`,
          `401 ${at('/v1/chat/completions')}`,
          `401 ${at('/v1/models')}`,
          `401 ${at('/openai/v1/models/none')}`,
          `401 ${at('/v1/responses/none/cancel')}`,
          `401 ${at('/v1/models/none:streamGenerateContent')}`,
          `401 ${at('/v1beta/models/none:generateContent')}`,
          `401 ${at('/v1beta/models')}`,
          `401 ${at('/bedrock/model/none/converse-stream')}`,
          `401 ${at('/bedrock/inference-profiles')}`,
          `200 ${at('/console')}`,
          `401 ${at('/v1/manage/session')}`,
        ]),
      );
      const ofVendors = questions.filter((line) => /\/v1beta\/|\/bedrock\/|none:/.test(line));
      // The requests include every call in the list of interfaces, and the lists of both vendors.
      const listedRoutes = Object.values(interfaceList).flatMap(({ routes }) => routes);
      const calls = listedRoutes.map(({ base, path }) => (base === 'all' ? '/v1' : base) + path.replace('**', 'none'));
      expect(calls.filter((path) => !questions.includes(`401 ${at(path)}`))).toEqual([]);
      expect(ofVendors).toHaveLength(calls.filter((path) => /\/v1beta\/|\/bedrock\/|none:/.test(path)).length + 2);
      expect(questions).toHaveLength(4 + Object.keys(routePaths).length + 3 + ofVendors.length + 2);
      expect(new Set(questions).size).toBe(questions.length);
      expect(questions.filter((line) => line.includes('*'))).toEqual([]);
      // A stage without a console has none of its routes, and a stage with its own names is called by the
      // distribution's name.
      const outputs = {
        ...edgeOutputs,
        BaseUrl: 'https://llm.example.com/v1',
        DistributionDomainName: 'd2.cloudfront.net',
      };
      haveStack('gw-prod-api', [], outputs);
      standingStacks.add('gw-prod-api');
      const plain = await deploy('--stage prod --yes');
      expect(plain.events.at(-1)).toBe('all routes of prod answer at https://d2.cloudfront.net');
      expect(plain.questions.filter((line) => /console|manage|example/.test(line))).toEqual([]);
    });

    it('asks the console at its own address if there is no distribution, and stops asking once its time is over', async () => {
      const ownUrl = 'https://abc.lambda-url.eu-west-1.on.aws';
      haveStack('gw-dev-api', [], {
        ...commit,
        BaseUrl: `${ownUrl}/v1`,
        ConsoleUrl: 'https://ops.lambda-url.eu-west-1.on.aws/console',
        AcceptedOrigins: 'direct',
      });
      standingStacks.add('gw-dev-api');
      const bare = { dev: { ...dev, edge: 'none' as const, console: true }, prod };
      const { questions, failure } = await deploy('--stage dev', { stages: bare });
      expect(failure).toBeUndefined();
      expect(
        questions
          .filter((line) => line.includes('ops.'))
          .map((line) => line.replace('ops.lambda-url.eu-west-1.on.aws', '')),
      ).toEqual(['200 https:///console', '401 https:///v1/manage/session']);
      const slow = await deploy('--stage dev', {
        stages: bare,
        secondsPerAnswer: 50,
        answer: () => ({ status: 503, text: 'busy' }),
      });
      expect(slow.questions).toHaveLength(3);
      expect(slow.failure).toMatch(/^dev was deployed, but does not serve \/health, .*: 503 busy$/);
    });

    it('fails if a route is refused at the end, names each of them with the reason, and names no second deployment', async () => {
      standing();
      const refusal = { status: 404, text: '{"error":"not_found",\n"message":"There is no such path."}' };
      const answer = (url: string) => (url.endsWith('/models') ? refusal : { status: 401, text: '' });
      const run = await deploy('--stage prod --yes', { stages: { dev, prod: tasks }, answer });
      expect(run.failure).toBe(
        'prod was deployed, but does not serve /v1/models, /openai/v1/models, /v1beta/models at https://d1.cloudfront.net: 404 {"error":"not_found", "message":"There is no such path."}',
      );
      expect(run.events.at(-1)).toMatch(/^cdk deploy/);
      // The requests go on for two minutes, and only for refused routes.
      expect(run.questions.filter((line) => line.endsWith('/openai/v1/models'))).toHaveLength(25);
      expect(run.questions.filter((line) => line.endsWith('/v1/embeddings'))).toHaveLength(1);
    });

    it('asks again if a name is not known yet, and fails if nothing answers', async () => {
      let tries = 0;
      const late = await deploy('--stage dev', {
        answer() {
          tries += 1;
          if (tries <= 40) throw new Error('getaddrinfo ENOTFOUND d1.cloudfront.net');
          return { status: 401, text: '' };
        },
      });
      expect(late.failure).toBeUndefined();
      const never = await deploy('--stage dev', {
        answer() {
          throw new Error('getaddrinfo ENOTFOUND d1.cloudfront.net');
        },
      });
      expect(never.failure).toMatch(/^dev was deployed, but does not serve \/health, .*: getaddrinfo ENOTFOUND/);
    });

    it('asks nothing of a stage that is reached from inside its network alone, and knows a web ACL that blocks this shell', async () => {
      standing();
      const arn = 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/gw/a-b';
      const blocked = { status: 403, text: '<html>Request blocked</html>' };
      const behindAcl = { dev, prod: { ...prod, webAclArn: arn } };
      const acl = await deploy('--stage prod --yes', { stages: behindAcl, answer: () => blocked });
      expect(acl.failure).toBeUndefined();
      expect(acl.events.at(-1)).toBe('the routes of prod were not asked: its web ACL blocks this network');
      // If there is no web ACL, or if some routes answer, the deployment fails.
      expect((await deploy('--stage prod --yes', { answer: () => blocked })).failure).toContain('403 <html>');
      const some = (url: string) => (url.endsWith('/models') ? blocked : { status: 401, text: '' });
      expect((await deploy('--stage prod --yes', { stages: behindAcl, answer: some })).failure).toContain('403 <html>');
      const customDomain = {
        domainNames: ['llm.example.com'],
        certificateArn: `arn:aws:acm:eu-west-1:${account}:certificate/11111111-2222-3333-4444-555555555555`,
      };
      haveStack('gw-prod-api', [], {
        ...commit,
        BaseUrl: 'https://llm.example.com/v1',
        Compute: 'container',
        AcceptedOrigins: 'direct',
      });
      const inside = { dev, prod: { ...tasks, edge: 'none' as const, customDomain } };
      const run = await deploy('--stage prod --yes', { stages: inside });
      expect([run.questions, run.failure]).toEqual([[], undefined]);
      expect(run.events.at(-1)).toBe(
        'the routes of prod were not asked: they are reached from inside its network alone',
      );
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
