import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from '#jest';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from './synthesized-stage.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const stages = Object.fromEntries(Object.keys(stageSettings).map((stage) => [stage, synthesizeStage(stage)]));
const ownAccountAndRegion = [{ Ref: 'AWS::AccountId' }, '-', { Ref: 'AWS::Region' }];
const urlIds = { RESPONSE_STREAM: 'ChatCompletions', BUFFERED: 'Models' } as const;

describe('a stage with a longer stream budget', () => {
  it('gives its chat function that time and says so to it; the model list keeps its 65 seconds', () => {
    const { api, findings } = synthesizeStage('prod', { streamBudgetSeconds: 840 });
    const limitOf = (prefix: string) =>
      resourcesOf(api, 'AWS::Lambda::Function').find(({ id }) => id.startsWith(prefix))?.Properties;
    expect(limitOf('ChatCompletions')).toMatchObject({
      Timeout: 850,
      Environment: { Variables: { GW_STREAM_BUDGET_SECONDS: '840', GW_STAGE_CONCURRENCY: '500' } },
    });
    expect(limitOf('Models')).toMatchObject({ Timeout: 65 });
    expect(JSON.stringify(limitOf('Models'))).not.toMatch(/GW_STREAM_BUDGET_SECONDS|GW_STAGE_CONCURRENCY/);
    expect(findings).toEqual([]);
  });
});

describe.each(Object.entries(stages))('the api stack of %s', (stage, { api, settings }) => {
  const functions = resourcesOf(api, 'AWS::Lambda::Function');
  const gateway = functions.filter(({ id }) => /^(ChatCompletions|Models)/.test(id));
  const policies = resourcesOf(api, 'AWS::IAM::Policy');
  const statementsOf = (prefix: string): Statement[] =>
    policies
      .filter(({ id }) => id.startsWith(prefix))
      .flatMap(({ Properties }) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);

  it('runs every function on Node 24 and arm64, and keeps its logs as JSON for as long as the stage says', () => {
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: {
          LogFormat: 'JSON',
          LogGroup: { Ref: expect.any(String) },
          SystemLogLevel: stage === 'dev' ? 'INFO' : 'WARN',
        },
      });
    }
    const logGroups = resourcesOf(api, 'AWS::Logs::LogGroup');
    expect(logGroups).toHaveLength(functions.length);
    for (const { Properties } of logGroups) {
      expect(Properties).toMatchObject({ RetentionInDays: settings.logRetentionDays });
      expect(Properties).not.toHaveProperty('LogGroupName');
    }
  });

  it('gives both gateway functions the memory of the stage and 65 seconds, past the budget and the origin read', () => {
    expect(gateway).toHaveLength(2);
    for (const { Properties } of gateway)
      expect(Properties).toMatchObject({ MemorySize: settings.memoryMb, Timeout: 65 });
  });

  it('streams from the chat function only, and leaves authentication to the gateway', () => {
    const urls = resourcesOf(api, 'AWS::Lambda::Url');
    expect(urls).toHaveLength(2);
    for (const [InvokeMode, functionId] of Object.entries(urlIds)) {
      const url = urls.find(({ id }) => id.startsWith(functionId));
      expect(url?.Properties).toMatchObject({ AuthType: 'NONE', InvokeMode });
    }
  });

  it('has each URL on an alias of its function, made after the permissions by which it is called', () => {
    for (const url of resourcesOf(api, 'AWS::Lambda::Url')) {
      const alias = resourcesOf(api, 'AWS::Lambda::Alias').find(({ id }) => url.DependsOn?.includes(id));
      expect([alias?.Properties.Name, url.Properties.Qualifier]).toEqual(['live', 'live']);
      expect(JSON.stringify(alias?.Properties.FunctionVersion)).toMatch(/CurrentVersion\w+","Version"/);
      const permissions = resourcesOf(api, 'AWS::Lambda::Permission').filter(
        ({ Properties }) => JSON.stringify(Properties.FunctionName) === JSON.stringify({ Ref: alias?.id }),
      );
      expect(permissions).toHaveLength(2);
      expect(url.DependsOn).toEqual(expect.arrayContaining(permissions.map(({ id }) => id)));
    }
  });

  it('allows no function an action or a resource by wildcard but objects of one bucket, the key of one alias, models of Bedrock and the reading of metrics, and attaches no managed policy', () => {
    for (const { Action, Resource } of statementsOf('')) {
      expect(JSON.stringify(Action)).not.toContain('*');
      if (!/s3:|kms:|bedrock|GetMetricData/.test(JSON.stringify(Action)))
        expect(JSON.stringify(Resource)).not.toContain('*');
    }
    for (const { Properties } of resourcesOf(api, 'AWS::IAM::Role')) {
      // This is the role of CodeDeploy, which runs no code of ours.
      if (JSON.stringify(Properties.AssumeRolePolicyDocument).includes('codedeploy.')) continue;
      expect(Properties).not.toHaveProperty('ManagedPolicyArns');
    }
  });

  it('tells the functions their stage and where secrets are, never a secret', () => {
    const both = {
      GW_STAGE: stage,
      ...(stage === 'prod' ? { GW_KEY_REQUESTS_PER_MINUTE: '6000' } : {}),
      GW_ORIGIN_SECRET: `gw/${stage}/origin`,
    };
    const variablesOf = (prefix: string) => gateway.find(({ id }) => id.startsWith(prefix))?.Properties.Environment;
    expect(variablesOf('Models')).toEqual({ Variables: both });
    expect(variablesOf('ChatCompletions')).toEqual({
      Variables: {
        ...both,
        GW_STAGE_CONCURRENCY: stage === 'prod' ? '500' : '50',
        GW_SPILL_BUCKET: { 'Fn::Join': ['', [`gw-${stage}-spill-`, ...ownAccountAndRegion]] },
        GW_BYOK_KEY_ID: `alias/gw-${stage}-connections`,
        GW_PROVIDER_SECRET: `gw/${stage}/providers`,
      },
    });
  });

  it('has the origin secret made in the account, and accepted ones in a secret of a fixed name: the template holds references only', () => {
    const [newSecret, accepted, ...others] = resourcesOf(api, 'AWS::SecretsManager::Secret');
    expect(others).toEqual([]);
    expect(newSecret?.Properties).toMatchObject({ GenerateSecretString: { PasswordLength: 48 } });
    expect(newSecret?.Properties).not.toHaveProperty('SecretString');
    expect(accepted?.Properties).toMatchObject({
      Name: `gw/${stage}/origin`,
      SecretString: {
        'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: newSecret?.id }, ':SecretString:::}}']],
      },
    });
    expect(JSON.stringify(api.toJSON())).not.toMatch(/sk-gw-|[0-9a-f]{64}(?!\.zip)/);
    for (const prefix of Object.values(urlIds)) {
      const reading = statementsOf(prefix).filter((s) =>
        JSON.stringify(s).includes(`secret:gw/${stage}/origin-??????`),
      );
      expect(reading.map(({ Action }) => Action)).toEqual(['secretsmanager:GetSecretValue']);
      expect(JSON.stringify(statementsOf(prefix))).not.toContain(String(newSecret?.id));
    }
  });

  it('reserves concurrency only if the stage says so', () => {
    const reserved = gateway.map(({ Properties }) => Properties.ReservedConcurrentExecutions ?? null);
    expect(reserved).toEqual([settings.gatewayReservedConcurrency, settings.modelsReservedConcurrency]);
  });
});

const alarmsOfGroup = (api: SynthesizedStage['api'], group: Readonly<Record<string, unknown>>) => {
  const { Alarms = [] } = group.AlarmConfiguration as { Alarms?: { Name?: { Ref?: string } }[] };
  const all = resourcesOf(api, 'AWS::CloudWatch::Alarm');
  return Alarms.map(({ Name }) => all.find(({ id }) => id === Name?.Ref)?.Properties);
};

describe('a new version', () => {
  const groupsOf = (overrides = {}, options = {}) => {
    const { api, findings } = synthesizeStage('prod', { console: true, ...overrides }, options);
    expect(findings).toEqual([]);
    const groups = resourcesOf(api, 'AWS::CodeDeploy::DeploymentGroup').map(({ Properties }) => Properties);
    return { api, groups };
  };

  it('of every function takes a tenth of the calls for ten minutes if the stage retains, or as many as it says', () => {
    for (const [canary, deploymentConfig] of [
      [undefined, 'CodeDeployDefault.LambdaCanary10Percent10Minutes'],
      [{ percent: 10, minutes: 30 }, 'CodeDeployDefault.LambdaCanary10Percent30Minutes'],
      [{ percent: 25, minutes: 5 }, undefined],
    ] as const) {
      const { api, groups } = groupsOf(canary === undefined ? {} : { canary });
      expect(groups).toHaveLength(3);
      const configs = resourcesOf(api, 'AWS::CodeDeploy::DeploymentConfig');
      expect(configs).toHaveLength(deploymentConfig === undefined ? 3 : 0);
      for (const { DeploymentConfigName } of groups) {
        if (deploymentConfig !== undefined) expect(DeploymentConfigName).toBe(deploymentConfig);
        else expect(configs.map(({ id }) => ({ Ref: id }))).toContainEqual(DeploymentConfigName);
      }
      for (const { Properties } of configs) {
        expect(Properties.TrafficRoutingConfig).toEqual({
          Type: 'TimeBasedCanary',
          TimeBasedCanary: { CanaryInterval: 5, CanaryPercentage: 25 },
        });
      }
      const aliases = Object.values(api.findResources('AWS::Lambda::Alias')) as { UpdatePolicy?: object }[];
      expect(aliases).toHaveLength(3);
      for (const alias of aliases) expect(alias.UpdatePolicy).toHaveProperty('CodeDeployLambdaAliasUpdate');
    }
  });

  it('goes back within a minute of three failures of its own, whatever the former one does', () => {
    const { api, groups } = groupsOf();
    for (const group of groups) {
      expect(group).toMatchObject({
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
      });
      const [fails, crashes, ...others] = alarmsOfGroup(api, group);
      expect(others).toEqual([]);
      for (const alarm of [fails, crashes]) {
        expect(alarm).toMatchObject({
          Threshold: 3,
          EvaluationPeriods: 1,
          ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        });
        expect(alarm).not.toHaveProperty('AlarmActions');
      }
      // All metrics count only the version that the alias points to.
      const ofVersion = /"Name":"(ExecutedVersion|version)","Value":\{"Fn::GetAtt":\["\w+CurrentVersion/g;
      expect(fails).toMatchObject({ Namespace: 'gw', Period: 60 });
      expect(JSON.stringify(fails).match(ofVersion)).toHaveLength(1);
      const metrics = JSON.stringify(crashes?.Metrics);
      expect(metrics.match(/"Period":60/g)).toHaveLength(2);
      expect(metrics.match(ofVersion)).toHaveLength(2);
      expect(metrics).toContain('"MetricName":"Errors"');
    }
    const metricNames = groups.map((group) => alarmsOfGroup(api, group)[0]?.MetricName);
    // Two functions may have versions with the same number.
    expect(metricNames.toSorted()).toEqual(
      ['ChatCompletions', 'Models', 'Operator'].map((name) => `${name}VersionFailures`),
    );
    const [filter] = resourcesOf(api, 'AWS::Logs::MetricFilter').filter(({ Properties }) =>
      JSON.stringify(Properties).includes('"ChatCompletionsVersionFailures"'),
    );
    expect(filter?.Properties).toMatchObject({
      FilterPattern:
        '{ ($.event = "request" && ($.outcome = "internal_error" || $.unanswered IS TRUE)) || $.event = "load_failed" }',
      MetricTransformations: [
        {
          Dimensions: [
            { Key: 'stage', Value: '$.stage' },
            { Key: 'version', Value: '$.version' },
          ],
        },
      ],
    });
  });

  it('that cannot be loaded raises an alarm that needs no other metric, and no former line: it reads one, without an expression', () => {
    const { api, groups } = groupsOf();
    for (const group of groups) {
      const [fails] = alarmsOfGroup(api, group);
      expect(fails).not.toHaveProperty('Metrics');
      const { MetricName, Dimensions } = fails as { MetricName: string; Dimensions: { Name: string }[] };
      const [filter] = resourcesOf(api, 'AWS::Logs::MetricFilter').filter(({ Properties }) =>
        JSON.stringify(Properties).includes(`"${MetricName}"`),
      );
      expect(String(filter?.Properties.FilterPattern)).toContain('$.event = "load_failed"');
      expect(Dimensions.map(({ Name }) => Name)).toEqual(['stage', 'version']);
    }
  });

  it('that went back can be deployed again unchanged: CloudFormation removes it, and keeps the one that was replaced', () => {
    for (const stage of ['dev', 'prod']) {
      const versions = resourcesOf(synthesizeStage(stage, { console: true }).api, 'AWS::Lambda::Version');
      expect(versions).toHaveLength(3);
      for (const version of versions)
        expect(version).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('takes all calls at once if settings or what both must agree on say so; URLs, aliases and base URL are the same', () => {
    const { api: none, groups } = groupsOf({ canary: null });
    expect(groups).toEqual([]);
    none.resourceCountIs('AWS::Lambda::Alias', 3);
    const { groups: atOnce } = groupsOf({}, { isAtOnce: true });
    expect(atOnce.map(({ DeploymentConfigName }) => DeploymentConfigName)).toEqual(
      new Array(3).fill('CodeDeployDefault.LambdaAllAtOnce'),
    );
    expect(resourcesOf(synthesizeStage('dev').api, 'AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
    expect(resourcesOf(none, 'AWS::Lambda::Url').map(({ id }) => id)).toEqual(
      resourcesOf(groupsOf().api, 'AWS::Lambda::Url').map(({ id }) => id),
    );
  });
});

describe('settings of a stage', () => {
  it('with an account and a region hold the stage there, and the api stack says which commit it runs', () => {
    const commit = '0123456789abcdef0123456789abcdef01234567';
    const settings = { account: '111122223333', region: 'eu-west-1' };
    const { api, data, findings, environment } = synthesizeStage('prod', settings, { commit });
    api.hasOutput('DeployedCommit', { Value: commit });
    expect(environment).toBe('aws://111122223333/eu-west-1');
    expect(findings).toEqual([]);
    // The names are those of a stage without `environment`, so naming the place later replaces nothing.
    const without = synthesizeStage('prod').data;
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::KMS::Alias']) {
      const names = [data, without].map((one) =>
        resourcesOf(one, type).map(
          ({ Properties }) => Properties.TableName ?? Properties.BucketName ?? Properties.AliasName,
        ),
      );
      expect(names[0]).toEqual(names[1]);
    }
  });

  it('without a distribution make the chat URL the base URL and ask for no origin secret', () => {
    const { api, findings } = synthesizeStage('dev', { edge: 'none' });
    api.resourceCountIs('AWS::CloudFront::Distribution', 0);
    api.resourceCountIs('AWS::SecretsManager::Secret', 0);
    api.resourceCountIs('AWS::Lambda::Function', 2);
    api.hasOutput('BaseUrl', {
      Value: {
        'Fn::Join': ['', [{ 'Fn::GetAtt': [Match.stringLikeRegexp('^ChatCompletions'), 'FunctionUrl'] }, 'v1']],
      },
    });
    expect(JSON.stringify(api.toJSON())).not.toContain('GW_ORIGIN_SECRET');
    expect(findings).toEqual([]);
  });

  describe('with telemetry', () => {
    type Telemetry = (typeof stages)[string]['settings']['telemetry'];
    const functionsOf = (telemetry: Telemetry) => {
      const { api, findings } = synthesizeStage('dev', { telemetry });
      expect(findings).toEqual([]);
      return ['ChatCompletions', 'Models'].map((prefix) => {
        const its = (type: string) => resourcesOf(api, type).filter(({ id }) => id.startsWith(prefix));
        const [lambda] = its('AWS::Lambda::Function');
        const environment = lambda?.Properties.Environment as { Variables?: Record<string, unknown> } | undefined;
        const statements = its('AWS::IAM::Policy').flatMap(
          ({ Properties }) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
        );
        return { variables: environment?.Variables ?? {}, statements };
      });
    };
    const isTelemetry = ([name]: [string, unknown]) => /^OTEL_|^GW_TELEMETRY/.test(name);
    const telemetryVariables = (variables: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(variables).filter(isTelemetry));

    it('off says nothing of it, and grants nothing for it', () => {
      for (const { variables, statements } of functionsOf(null)) {
        expect(telemetryVariables(variables)).toEqual({});
        expect(statements.filter(concerns('xray'))).toEqual([]);
      }
    });

    it('at CloudWatch lets every function send traces, and do nothing else there', () => {
      for (const { variables, statements } of functionsOf({ cloudwatch: true, sampleRatio: 0.5 })) {
        expect(telemetryVariables(variables)).toEqual({
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
            'Fn::Join': ['', ['https://xray.', { Ref: 'AWS::Region' }, '.amazonaws.com/v1/traces']],
          },
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=dev',
          OTEL_TRACES_SAMPLER_ARG: '0.5',
        });
        expect(statements.filter(concerns('xray'))).toEqual([
          { Action: ['xray:PutSpans', 'xray:PutTraceSegments'], Effect: 'Allow', Resource: '*' },
        ]);
      }
    });

    it.each([
      ['https://otlp.example', 'https://otlp.example/v1/traces'],
      ['https://otlp.example/otlp/', 'https://otlp.example/otlp/v1/traces'],
      ['https://otlp.example/v1/traces', 'https://otlp.example/v1/traces'],
    ])('at %s lets every function read the one secret with its headers', (endpoint, address) => {
      for (const { variables, statements } of functionsOf({ endpoint, headersSecret: 'gw/dev/otlp' })) {
        expect(telemetryVariables(variables)).toEqual({
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=dev',
          GW_TELEMETRY_HEADERS_SECRET: 'gw/dev/otlp',
        });
        const [read, ...more] = statements.filter(({ Resource }) => JSON.stringify(Resource).includes('gw/dev/otlp'));
        expect([read?.Action, more]).toEqual(['secretsmanager:GetSecretValue', []]);
        const secretOf = (name: string) =>
          `arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:secret:gw/dev/${name}-??????`;
        // The function also reads the secret with the accepted origins; the models function must not read the provider
        // credentials.
        const others = ['providers', 'origin'].map(secretOf);
        const ownArns = arnsIn([read?.Resource].flat()).filter((arn) => !others.includes(arn));
        expect(ownArns).toEqual([secretOf('otlp')]);
        expect(statements.filter(concerns('xray'))).toEqual([]);
      }
    });
  });

  it('with regions of Bedrock open exactly those, and without any open no model', () => {
    const { api, findings } = synthesizeStage('dev', { bedrockRegions: ['eu-west-1', 'us-east-1'] });
    expect(findings).toEqual([]);
    const text = JSON.stringify(api.toJSON());
    expect(
      [...text.matchAll(/:bedrock:([a-z0-9*-]+)::foundation-model/g)].map(([, region]) => region).toSorted(),
    ).toEqual(['*', 'eu-west-1', 'us-east-1']);
    expect([...text.matchAll(/:bedrock-mantle:([a-z0-9*-]+):/g)].map(([, region]) => region)).toEqual([
      'eu-west-1',
      'us-east-1',
    ]);
    const closed = synthesizeStage('dev', { bedrockRegions: [] });
    expect(JSON.stringify(closed.api.toJSON())).not.toContain('bedrock');
  });
});

const concerns =
  (service: string) =>
  ({ Action }: Statement): boolean =>
    JSON.stringify(Action).includes(service);
/** Returns the ARNs that are joined from parts, as text. */
const arnsIn = (resource: unknown): string[] =>
  ([resource].flat() as ReadonlyArray<{ 'Fn::Join': [string, ReadonlyArray<string | { Ref: string }>] }>)
    .map(({ 'Fn::Join': [, parts] }) => parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(''))
    .toSorted();
