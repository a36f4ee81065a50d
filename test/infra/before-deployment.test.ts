// Checks of an account that `npm run deploy` makes before it builds anything. The SDK's own mock plays AWS: none of
// this has run on a real account.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeStacksCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { DescribeAvailabilityZonesCommand } from '@aws-sdk/client-ec2';
import { GetPolicyCommand, GetRoleCommand } from '@aws-sdk/client-iam';
import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { GetResourcesCommand } from '@aws-sdk/client-resource-groups-tagging-api';
import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import { GetServiceQuotaCommand } from '@aws-sdk/client-service-quotas';
import { AssumeRoleCommand, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { describe, expect, it } from '#jest';
import { openAwsAccount } from '../../infra/cdk/aws-account.ts';
import { checkBeforeDeployment } from '../../infra/cdk/deployment/check-before-deployment.ts';
import { describeStepBack, readCommit } from '../../infra/cdk/deployment/commit.ts';
import { cdkRuns } from '../../infra/cdk/deployment/deploy-options.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { account, allTables, inShell, mockAccount, refusal, region, zonesOf } from './mocked-account.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const secretArn = `arn:aws:secretsmanager:${region}:${account}:secret:gw/prod/providers-a1B2c3`;
const { dev, prod } = stageSettings as Record<'dev' | 'prod', StageSettings>;
const { mocks, haveTable, haveStack, askedOperations } = mockAccount();

const check = async (
  more: { stage?: string; settings?: StageSettings; isAdopting?: boolean; region?: string } = {},
) => {
  const { stage = 'prod', settings = prod, isAdopting = false } = more;
  return await inShell(
    async () => checkBeforeDeployment(await openAwsAccount({}), { stage, settings, isAdopting }),
    more.region,
  );
};

describe('before a deployment', () => {
  it('a new stage in an empty account has no question and no objection', async () => {
    expect(await check()).toEqual({
      dataStackStatus: undefined,
      deployment: { isImportingRestored: false, isAtOnce: false },
      notes: [],
      questions: [],
      next: [],
    });
  });

  it('what belongs to the stacks is no orphan', async () => {
    for (const name of allTables) haveTable(name);
    haveStack('gw-prod-data', allTables);
    expect(await check()).toMatchObject({ dataStackStatus: 'UPDATE_COMPLETE', questions: [] });
  });

  it('a table that a roll-back left behind is found, with the command that adopts it; with --adopt it is let through', async () => {
    const [orphan = '', ...others] = allTables;
    for (const name of allTables) haveTable(name);
    haveStack('gw-prod-data', others);
    await expect(check()).rejects.toThrow(
      `these stand there without belonging to the stacks of prod: table ${orphan}; to take over what is there, run npm run deploy -- --stage prod --adopt`,
    );
    expect(await check({ isAdopting: true })).toMatchObject({ questions: [] });
  });

  it('bucket and secret are found too', async () => {
    const bucket = `gw-prod-spill-${account}-${region}`;
    mocks.s3.on(HeadBucketCommand, { Bucket: bucket }).resolves({});
    mocks.secrets.on(DescribeSecretCommand, { SecretId: 'gw/prod/providers' }).resolves({ ARN: secretArn });
    await expect(check()).rejects.toThrow(
      `bucket ${bucket}, secret gw/prod/providers; to take over what is there, set adopt: { keyArn: null, secretArn: '${secretArn}' }`,
    );
    // A secret cannot be imported, so --adopt alone is not enough; the settings have to name the secret.
    await expect(check({ isAdopting: true })).rejects.toThrow('secret gw/prod/providers');
    const adopting = { ...prod, adopt: { keyArn: null, secretArn } };
    expect(await check({ settings: adopting, isAdopting: true })).toMatchObject({ questions: [] });
  });

  describe('the key of a stage that was destroyed', () => {
    const keyArn = (at: number) => `arn:aws:kms:${region}:${account}:key/0d1f6c6e-000${at}`;
    const haveKeys = (...states: ('Enabled' | 'PendingDeletion')[]) => {
      const ofStage = { ResourceTypeFilters: ['kms:key'], TagFilters: tagsOf('prod') };
      const ResourceTagMappingList = states.map((_state, at) => ({ ResourceARN: keyArn(at) }));
      mocks.tags.on(GetResourcesCommand, ofStage).resolves({ ResourceTagMappingList });
      for (const [at, KeyState] of states.entries()) {
        const KeyMetadata = { KeyId: keyArn(at), KeyState, CreationDate: new Date(Date.UTC(2026, at)) };
        mocks.kms.on(DescribeKeyCommand, { KeyId: keyArn(at) }).resolves({ KeyMetadata });
      }
    };
    const tagsOf = (stage: string) => [
      { Key: 'application', Values: ['gw'] },
      { Key: 'stage', Values: [stage] },
    ];

    it('is found by its tags, with what adopts it; tables alone are not adopted without it', async () => {
      for (const name of allTables) haveTable(name);
      haveKeys('Enabled', 'PendingDeletion');
      await expect(check({ isAdopting: true })).rejects.toThrow(
        `key ${keyArn(0)} of 2026-01-01T00:00:00.000Z; to take over what is there, set adopt: { keyArn: '${keyArn(0)}', secretArn: null } in the settings of prod`,
      );
      haveKeys('Enabled', 'Enabled');
      await expect(check({ isAdopting: true })).rejects.toThrow(`keyArn: '${keyArn(0)}' or '${keyArn(1)}'`);
      // An operator who wrote that there is no key, or named one, is not asked again.
      for (const adopted of [null, keyArn(0)]) {
        const settings = { ...prod, adopt: { keyArn: adopted, secretArn: null } };
        expect(await check({ settings, isAdopting: true })).toMatchObject({ questions: [] });
      }
    });

    it('is in the way of no new stage, and of no stage that has one', async () => {
      haveKeys('Enabled');
      expect(await check()).toMatchObject({ questions: [] });
      const [orphan = '', ...others] = allTables;
      for (const name of allTables) haveTable(name);
      haveStack('gw-prod-data', others);
      mocks.cloudFormation.on(ListStackResourcesCommand, { StackName: 'gw-prod-data' }).resolves({
        StackResourceSummaries: [...others, 'key'].map((name) => ({
          LogicalResourceId: name,
          PhysicalResourceId: name,
          ResourceType: name === 'key' ? 'AWS::KMS::Key' : 'AWS::DynamoDB::GlobalTable',
          ResourceStatus: 'CREATE_COMPLETE' as const,
          LastUpdatedTimestamp: new Date(0),
        })),
      });
      await expect(check()).rejects.toThrow(`table ${orphan}; to take over what is there, run npm run deploy`);
      expect(askedOperations()).not.toContain('GetResourcesCommand');
    });
  });

  it('a release that does not know a table of the stack asks, because the table stays behind', async () => {
    haveStack('gw-prod-data', [...allTables, 'gw-prod-newer']);
    expect((await check()).questions).toEqual([
      'leave gw-prod-newer behind, outside of the stack (a later deployment takes it over with --adopt)',
    ]);
    haveStack('gw-dev-data', ['gw-dev-newer']);
    expect((await check({ stage: 'dev', settings: dev })).questions).toEqual([]);
  });

  it('a commit that this checkout does not contain asks', async () => {
    haveStack('gw-prod-data', allTables);
    haveStack('gw-prod-api', [], { DeployedCommit: 'f'.repeat(40) });
    expect((await check()).questions).toEqual([
      expect.stringMatching(/^deploy \w+, which does not contain the deployed f{12}$/),
    ]);
  });

  it.each([
    ...['ap-east-2', 'ap-south-2', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7'],
    ...['ca-west-1', 'eu-central-2', 'eu-south-2', 'il-central-1', 'me-central-1'],
  ])('region %s, which has no function URLs, stops a stage of functions, before any other call', async (without) => {
    await expect(check({ region: without })).rejects.toThrow(`region ${without} has no Lambda function URLs`);
    expect(mocks.dynamo.calls()).toHaveLength(0);
  });

  it('what other functions of the account reserve is counted, what the deployed stage reserves is not', async () => {
    const { lambda } = mocks;
    const accountHas = (UnreservedConcurrentExecutions: number) =>
      lambda
        .on(GetAccountSettingsCommand)
        .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions } });
    accountHas(600);
    await expect(check()).rejects.toThrow(
      /^stage prod reserves 520 concurrent executions, other functions 400, and of 1000 in this account and region 100 must/,
    );
    haveStack('gw-prod-data', allTables);
    haveStack('gw-prod-api', [], { ChatFunctionName: 'chat', ModelsFunctionName: 'models' });
    lambda.on(GetFunctionConcurrencyCommand, { FunctionName: 'chat' }).resolves({ ReservedConcurrentExecutions: 380 });
    lambda.on(GetFunctionConcurrencyCommand, { FunctionName: 'models' }).resolves({ ReservedConcurrentExecutions: 20 });
    expect(await check()).toMatchObject({ questions: [] });
    accountHas(500);
    lambda.on(GetFunctionConcurrencyCommand).resolves({});
    await expect(check()).rejects.toThrow('other functions 500');
  });

  it('a permissions boundary that does not exist stops it; one that does is let through', async () => {
    const bound = { ...prod, permissionsBoundary: 'teams/boundary' };
    const PolicyArn = `arn:aws:iam::${account}:policy/teams/boundary`;
    mocks.iam
      .on(GetPolicyCommand)
      .rejects(Object.assign(new Error('none'), { $metadata: { httpStatusCode: 404 }, name: 'NoSuchEntityException' }));
    await expect(check({ settings: bound })).rejects.toThrow(`permissionsBoundary: there is no policy ${PolicyArn}`);
    mocks.iam.on(GetPolicyCommand, { PolicyArn }).resolves({ Policy: { Arn: PolicyArn } });
    expect(await check({ settings: bound })).toMatchObject({ questions: [] });
  });

  it('another qualifier of the bootstrapping is asked for, and named if its roles are not there', async () => {
    const settings = { ...prod, bootstrapQualifier: 'teamone' };
    expect(await check({ settings })).toMatchObject({ questions: [] });
    const roles = mocks.sts.commandCalls(AssumeRoleCommand).map(({ args: [{ input }] }) => input.RoleArn);
    expect(roles).toEqual(
      ['deploy-role', 'file-publishing-role'].map(
        (role) => `arn:aws:iam::${account}:role/cdk-teamone-${role}-${account}-${region}`,
      ),
    );
    mocks.sts.on(AssumeRoleCommand).rejects(refusal(403));
    await expect(check({ settings })).rejects.toThrow(
      `this region is not bootstrapped with teamone: npx cdk bootstrap aws://${account}/${region} --qualifier teamone, or this identity may not assume cdk-teamone-deploy-role-`,
    );
  });

  it('a quota that the reserved concurrency does not fit into stops it; a small one without reservation is reported', async () => {
    mocks.lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } });
    await expect(check()).rejects.toThrow(
      /^stage prod reserves 520 concurrent executions, other functions 0, and of 10 in this account and region 100 must stay unreserved: raise.*null for this and modelsReservedConcurrency: none/,
    );
    const unreserved = { ...dev, gatewayReservedConcurrency: null, modelsReservedConcurrency: null };
    const { notes } = await check({ stage: 'dev', settings: unreserved });
    expect(notes).toEqual([expect.stringMatching(/^only 10 calls run at once in this account: raise/)]);
  });

  it('a quota that is not the default one is handed to the stage, unless its settings name one', async () => {
    mocks.lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } });
    const free = { ...dev, gatewayReservedConcurrency: null, modelsReservedConcurrency: null };
    const { deployment, dataStackStatus } = await check({ stage: 'dev', settings: free });
    const options = { stage: 'dev', settings: free, flags: [] } as never;
    expect(cdkRuns(options, dataStackStatus, deployment, `${account}/${region}`)).toEqual([
      ['deploy', 'dev/*', '--context', 'dev.accountConcurrency=10'],
    ]);
    const findings = await check({ stage: 'dev', settings: { ...free, accountConcurrency: 50 } });
    expect(findings.deployment.accountConcurrency).toBeUndefined();
    expect(findings.notes).toEqual([expect.stringMatching(/the settings name 50, and the account has 10$/)]);
  });

  it('another partition than aws is refused by its name', async () => {
    mocks.sts.on(GetCallerIdentityCommand).resolves({ Account: account, Arn: `arn:aws-cn:iam::${account}:user/o` });
    await expect(check({ stage: 'dev', settings: dev })).rejects.toThrow('in the partition aws-cn of AWS');
    expect(mocks.lambda.calls()).toEqual([]);
  });

  describe('with restored tables', () => {
    const suffix = '-then';
    const settings = { ...prod, tableSuffix: suffix };
    const restored = allTables
      .filter((name) => !/-(cache|idempotency|limits|statistics)$/.test(name))
      .map((name) => `${name}${suffix}`);
    const standing = () => {
      for (const name of allTables) haveTable(name);
      haveStack('gw-prod-data', allTables);
      haveStack('gw-prod-api', [], {
        BaseUrl: 'https://d1.cloudfront.net/v1',
        DistributionId: 'E1',
        AcceptedOrigins: '1',
      });
    };

    it('takes over those that exist, in two runs, and asks before the stage works on them, all calls at once', async () => {
      standing();
      for (const name of restored) haveTable(name);
      const found = await check({ settings });
      expect(found.deployment).toMatchObject({ isImportingRestored: true, isAtOnce: true });
      expect(found.questions).toEqual([
        'have prod work on the tables that end in -then; the former ones stay, outside of the stack',
      ]);
      const place = ['--context', `prod.importsIn=${account}/${region}`, '--context', 'prod.isImportingRestored=true'];
      const options = { stage: 'prod', settings, flags: [] } as never;
      expect(cdkRuns(options, found.dataStackStatus, found.deployment, `${account}/${region}`)).toEqual([
        ['deploy', 'prod/data', ...place, '--import-existing-resources'],
        ['deploy', 'prod/*', '--context', 'prod.isAtOnce=true'],
      ]);
    });

    it('is stopped if one of them is not there: CloudFormation would make an empty one', async () => {
      standing();
      const [missing = '', ...others] = restored;
      for (const name of others) haveTable(name);
      await expect(check({ settings })).rejects.toThrow(`tableSuffix: there is no table ${missing}; `);
    });

    it('has nothing to take over, to ask or to do at once if it works on them already', async () => {
      for (const name of [...allTables, ...restored]) haveTable(name);
      const owned = [...restored, ...allTables.filter((name) => !restored.includes(`${name}${suffix}`))];
      haveStack('gw-prod-data', owned);
      haveStack('gw-prod-api', [], {
        BaseUrl: 'https://d1.cloudfront.net/v1',
        DistributionId: 'E1',
        AcceptedOrigins: '1',
        TableSuffix: suffix,
      });
      const { deployment, questions } = await check({ settings });
      expect(deployment).toMatchObject({ isImportingRestored: false, isAtOnce: false });
      expect(questions).toEqual([]);
    });
  });

  describe('with tasks', () => {
    const tasks = { ...prod, compute: 'container' as const };
    const vpc = {
      id: 'vpc-0123456789abcdef0',
      subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
      availabilityZones: ['us-east-1a', 'us-east-1c'],
    };
    const inVirginia = () =>
      mocks.ec2.on(DescribeAvailabilityZonesCommand).resolves({ AvailabilityZones: zonesOf('use1', 'us-east-1') });

    it('zones that the account does not have, or that CloudFront does not reach, stop it with the setting to change', async () => {
      const there = (settings: StageSettings) => check({ settings, region: 'us-east-1' });
      // The mock has the zone names of another region, so the names in the table are missing.
      await expect(there(tasks)).rejects.toThrow('zones: this account has no zone use1-az2, use1-az4 in us-east-1');
      inVirginia();
      expect((await there(tasks)).notes).toEqual([]);
      const refusal = 'CloudFront reaches no load balancer in zone use1-az3';
      await expect(there({ ...tasks, zones: ['use1-az1', 'use1-az3'] })).rejects.toThrow(`zones: ${refusal}`);
      await expect(there({ ...tasks, vpc })).rejects.toThrow(`vpc.availabilityZones: ${refusal}`);
      const { certificateArn, domainNames } = { certificateArn: 'arn', domainNames: ['llm.example.com'] };
      expect(await there({ ...tasks, vpc, edge: 'none', customDomain: { certificateArn, domainNames } })).toBeDefined();
    });

    it('too few processors are reported, and stop it if the minimum of tasks does not fit', async () => {
      mocks.quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: 6 } });
      expect((await check({ settings: tasks })).notes).toEqual([
        expect.stringMatching(/may run 6 vCPU on Fargate; a deployment of 10 tasks.* needs 20: raise .*L-3032A538/),
      ]);
      mocks.quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: 3 } });
      await expect(check({ settings: tasks })).rejects.toThrow('a deployment of 2 tasks needs 4');
    });

    it('an account that never used ECS gets the command that makes its role', async () => {
      mocks.iam.on(GetRoleCommand).rejects(Object.assign(new Error('none'), { name: 'NoSuchEntityException' }));
      await expect(check({ settings: tasks })).rejects.toThrow('aws iam create-service-linked-role');
      expect(await check()).toBeDefined();
    });
  });

  it('the role that publishes images is looked at for a stage with tasks alone', async () => {
    mocks.sts.on(AssumeRoleCommand).callsFake(async ({ RoleArn }: { RoleArn: string }) => {
      if (RoleArn.includes('image-publishing')) throw refusal();
      return {};
    });
    mocks.cloudFormation
      .on(DescribeStacksCommand, { StackName: 'CDKToolkit' })
      .resolves({ Stacks: [{ StackName: 'CDKToolkit', StackStatus: 'CREATE_COMPLETE', CreationTime: new Date(0) }] });
    expect(await check()).toMatchObject({ questions: [] });
    await expect(check({ settings: { ...prod, compute: 'container' } })).rejects.toThrow(
      `this identity may not: sts:AssumeRole on cdk-hnb659fds-image-publishing-role-${account}-${region}`,
    );
  });

  it('a region that is not bootstrapped is reported with the command', async () => {
    mocks.sts.on(AssumeRoleCommand).rejects(refusal(403));
    await expect(check()).rejects.toThrow(
      `this region is not bootstrapped: npx cdk bootstrap aws://${account}/${region}`,
    );
  });

  it('every action that the identity may not do is named at once', async () => {
    haveStack('CDKToolkit', []);
    mocks.sts.on(AssumeRoleCommand).rejects(refusal(403));
    mocks.dynamo.on(DescribeTableCommand).rejects(refusal());
    mocks.s3
      .on(HeadBucketCommand)
      .rejects(Object.assign(new Error('Forbidden'), { $metadata: { httpStatusCode: 403 } }));
    mocks.secrets.on(DescribeSecretCommand).rejects(refusal());
    mocks.lambda.on(GetAccountSettingsCommand).rejects(refusal(403));
    const roles = ['deploy-role', 'file-publishing-role'].map(
      (role) => `sts:AssumeRole on cdk-hnb659fds-${role}-${account}-${region}`,
    );
    const actions = [
      'dynamodb:DescribeTable',
      'lambda:GetAccountSettings',
      `s3:ListBucket on gw-prod-spill-${account}-${region}`,
      'secretsmanager:DescribeSecret',
      ...roles,
    ];
    await expect(check()).rejects.toThrow(`this identity may not: ${actions.join(', ')} (`);
  });
});

describe('the deployed commit', () => {
  const folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false', ...args],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    ).trim();
  const commit = (text: string) => {
    writeFileSync(join(folder, 'file'), text);
    git('add', '.');
    git('commit', '-q', '-m', text);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q');
  const [older, newer] = [commit('one'), commit('two')];

  it('asks before an older one or one beside it, and before no newer one', () => {
    expect(readCommit(folder)).toBe(newer);
    expect(describeStepBack(newer, folder)).toBeUndefined();
    expect(describeStepBack(older, folder)).toBeUndefined();
    git('checkout', '-q', older);
    expect(describeStepBack(newer, folder)).toBe(
      `deploy ${older.slice(0, 12)}, which is older than the deployed ${newer.slice(0, 12)}`,
    );
    const beside = commit('beside');
    expect(describeStepBack(newer, folder)).toBe(
      `deploy ${beside.slice(0, 12)}, which does not contain the deployed ${newer.slice(0, 12)}`,
    );
    expect(describeStepBack(undefined, folder)).toBeUndefined();
    expect(describeStepBack('unknown', folder)).toBeUndefined();
  });

  it('says where files differ from it, and is unknown outside of a repository', () => {
    writeFileSync(join(folder, 'file'), 'changed');
    expect(readCommit(folder)).toMatch(/^[0-9a-f]{40}-changed$/);
    expect(readCommit(temporaryFolder())).toBe('unknown');
  });
});

describe('a stage of an account with rules of its own', () => {
  it('has the boundary on every role, and roles and bucket of its own bootstrapping in both stacks', () => {
    const { api, data } = synthesizeStage('prod', {
      console: true,
      permissionsBoundary: 'teams/boundary',
      bootstrapQualifier: 'teamone',
    });
    const roles = [api, data].flatMap((stack) => resourcesOf(stack, 'AWS::IAM::Role'));
    expect(roles.length).toBeGreaterThan(4);
    for (const { Properties } of roles) {
      expect(JSON.stringify(Properties.PermissionsBoundary)).toMatch(/:policy\/teams\/boundary"/);
    }
    for (const stack of [api, data]) {
      const text = JSON.stringify(stack.toJSON());
      expect(text).toContain('/cdk-bootstrap/teamone/version');
      expect(text).not.toContain('hnb659fds');
    }
    expect(JSON.stringify(synthesizeStage('prod').api.toJSON())).not.toContain('PermissionsBoundary');
  });
});

describe('what operators changed', () => {
  it('is in a log group that outlives the stack for thirteen months if the stage retains, and in no other', () => {
    const retentionIn = (stage: string) => {
      const { api } = synthesizeStage(stage, { console: true });
      const groups = resourcesOf(api, 'AWS::Logs::LogGroup').filter(
        ({ DeletionPolicy }) => DeletionPolicy !== 'Delete',
      );
      const [operator] = resourcesOf(api, 'AWS::Lambda::Function').filter(({ id }) => id.startsWith('Operator'));
      expect(operator?.Properties.MemorySize).toBe(1_769);
      return groups.map(({ id, DeletionPolicy, Properties }) => ({
        isOperators: JSON.stringify(operator?.Properties.LoggingConfig).includes(`"${id}"`),
        policy: DeletionPolicy,
        days: Properties.RetentionInDays,
      }));
    };
    expect(retentionIn('prod')).toEqual([{ isOperators: true, policy: 'RetainExceptOnCreate', days: 400 }]);
    expect(retentionIn('dev')).toEqual([]);
  });
});
