import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import {
  gatewayTableActions,
  modelsTableActions,
  operatorTableActions,
  tablesOfAll,
} from '../../infra/cdk/constructs/table-actions.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { zonesByRegion } from '../../infra/cdk/zones.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { containerKeepAliveMs, containerStop, containerStopSeconds } from '../../shared/foundation/constants/index.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from './synthesized-stage.ts';

const account = '111122223333';
const certificateArn = `arn:aws:acm:eu-west-1:${account}:certificate/3f1c0b1e`;
const privateWay = { edge: 'none', customDomain: { domainNames: ['llm.example.com'], certificateArn } } as const;
const vpc = {
  id: 'vpc-0123456789abcdef0',
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  availabilityZones: ['eu-west-1a', 'eu-west-1b'],
};
const withTasks = (more: Partial<StageSettings> = {}, options = {}) =>
  synthesizeStage('prod', { compute: 'container', ...more }, options);
const withConsole = { console: true, consoleSharesTaskRole: true } as const;
const stage = withTasks(withConsole);

const only = ({ api }: SynthesizedStage, type: string) => {
  const [one, ...others] = resourcesOf(api, type);
  expect(others).toEqual([]);
  return one?.Properties as Record<string, never>;
};
const containerOf = (one: SynthesizedStage) =>
  (only(one, 'AWS::ECS::TaskDefinition').ContainerDefinitions as unknown as Record<string, unknown>[])[0] ?? {};
const variablesOf = (one: SynthesizedStage): Record<string, unknown> =>
  Object.fromEntries(
    (containerOf(one).Environment as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [Name, Value]),
  );
const grantsOf = ({ api }: SynthesizedStage, prefix: string) =>
  resourcesOf(api, 'AWS::IAM::Policy')
    .filter(({ id }) => id.startsWith(prefix))
    .flatMap(
      ({ Properties }) =>
        (Properties.PolicyDocument as { Statement: { Action: string | string[]; Resource: unknown }[] }).Statement,
    );

type Expression = string | Readonly<Record<string, never>>;
/** Returns where CloudFormation would put each subnet: the id of its zone, or the index of its zone's name. */
function zonesIn({ api }: SynthesizedStage, region: string): string[] {
  const conditions = api.toJSON().Conditions as Record<string, Expression>;
  const resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = ['', undefined]] = Object.entries(value as Record<string, unknown>);
    const [first, second, third] = [argument].flat() as unknown[];
    if (name === 'Ref') return argument === 'AWS::Region' ? region : undefined;
    if (name === 'Condition') return resolve(conditions[first as string]);
    if (name === 'Fn::If') return resolve(resolve(conditions[first as string]) === true ? second : third);
    if (name === 'Fn::Equals') return resolve(first) === resolve(second);
    if (name === 'Fn::Or') return ([argument].flat() as unknown[]).some((one) => resolve(one) === true);
    if (name === 'Fn::Select') return `name ${first}`;
    throw new Error(`${name} is not known here`);
  };
  return resourcesOf(api, 'AWS::EC2::Subnet').map(({ Properties }) => {
    const [id, name] = [resolve(Properties.AvailabilityZoneId), resolve(Properties.AvailabilityZone)];
    // CloudFormation accepts only one of them.
    expect([id, name].filter((one) => one !== undefined)).toHaveLength(1);
    return String(id ?? name);
  });
}

describe('a stage with tasks', () => {
  it('runs every route in them, and no function of its own beside those of the deployment', () => {
    for (const type of ['AWS::Lambda::Url', 'AWS::ElasticLoadBalancingV2::LoadBalancer']) {
      expect(resourcesOf(stage.api, type)).toHaveLength(type.endsWith('Url') ? 0 : 1);
    }
    const functions = resourcesOf(stage.api, 'AWS::Lambda::Function').map(({ id }) => id);
    expect(functions.filter((id) => /^(ChatCompletions|Models|Operator)/.test(id))).toEqual([]);
    expect(variablesOf(stage).GW_CONSOLE).toBe('on');
    expect(variablesOf(withTasks())).not.toHaveProperty('GW_CONSOLE');
    expect(JSON.stringify(stage.api.findOutputs('ConsoleUrl'))).toContain('console');
  });

  it('runs them on arm64 as no root, with a file system that nothing writes to, and with as long to stop as ECS allows', () => {
    expect(only(stage, 'AWS::ECS::TaskDefinition')).toMatchObject({
      Cpu: '1024',
      Memory: '2048',
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
    });
    expect(containerOf(stage)).toMatchObject({
      User: 'node',
      ReadonlyRootFilesystem: true,
      StopTimeout: 120,
      Command: ['--max-old-space-size=1228', '--max-semi-space-size=32', 'index.cjs'],
      LogConfiguration: { LogDriver: 'awslogs', Options: { mode: 'non-blocking' } },
    });
    const { endMaxMs, answerMaxMs, settleMaxMs } = containerStop;
    expect(endMaxMs + answerMaxMs + settleMaxMs).toBeLessThan(containerStopSeconds * 1_000);
  });

  it('tells them names, never a secret, and how many calls all of them take', () => {
    expect(containerOf(stage)).not.toHaveProperty('Secrets');
    expect(variablesOf(stage)).toMatchObject({
      GW_STAGE: 'prod',
      GW_STAGE_CONCURRENCY: '10000',
      GW_BYOK_KEY_ID: 'alias/gw-prod-connections',
      GW_PROVIDER_SECRET: 'gw/prod/providers',
      GW_ORIGIN_SECRET: 'gw/prod/origin',
    });
    const tasks = { min: 2, max: 3, cpu: 512, memoryMiB: 1_024 };
    expect(variablesOf(withTasks({ tasks })).GW_STAGE_CONCURRENCY).toBe('1500');
    expect(JSON.stringify(stage.api.toJSON())).not.toMatch(/sk-gw-|[0-9a-f]{64}(?!\.zip|")/);
  });

  it('lets them do what the functions may, and nothing else', () => {
    const asFunctions = synthesizeStage('prod', { console: true });
    const actionsOf = (one: SynthesizedStage, ...prefixes: string[]) => {
      const pairs = prefixes
        .flatMap((prefix) => grantsOf(one, prefix))
        .flatMap(({ Action, Resource }) =>
          [Action].flat().flatMap((action) => [Resource].flat().map((one) => `${action} ${JSON.stringify(one)}`)),
        )
        // Rights to the task's own log group are left out.
        .filter((pair) => !pair.startsWith('logs:'));
      return [...new Set(pairs)].toSorted();
    };
    expect(actionsOf(stage, 'ContainerTaskTaskRole')).toEqual(
      actionsOf(asFunctions, 'ChatCompletions', 'Models', 'Operator'),
    );
    const operators = Object.values(tablesOfAll(gatewayTableActions, modelsTableActions, operatorTableActions)).flat();
    expect(operators).toContain('Scan');
    expect(JSON.stringify(grantsOf(withTasks(), 'ContainerTaskTaskRole'))).not.toContain('dynamodb:Scan');
    // The execution role reads the image and writes log lines, and reaches no data.
    expect(grantsOf(stage, 'ContainerTaskExecution').flatMap(({ Action }) => [Action].flat())).toEqual(
      expect.arrayContaining(['ecr:BatchGetImage', 'logs:PutLogEvents']),
    );
    expect(JSON.stringify(grantsOf(stage, 'ContainerTaskExecution'))).not.toMatch(/dynamodb|secretsmanager|kms|s3:/);
  });

  it('leaves as many of them as there are, rolls back what does not start, and has never fewer than before', () => {
    const service = only(stage, 'AWS::ECS::Service');
    expect(service).not.toHaveProperty('DesiredCount');
    expect(service).toMatchObject({
      DeploymentConfiguration: {
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
      },
    });
    // The alarm also ends a deployment in which a new task starts and fails.
    const alarm = resourcesOf(stage.api, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('NewVersionFails'));
    expect(service.DeploymentConfiguration).toMatchObject({
      Alarms: { Enable: true, Rollback: true, AlarmNames: [{ Ref: alarm?.id }] },
    });
    expect(JSON.stringify(alarm?.Properties.Dimensions)).toContain(
      `"version","Value":"${variablesOf(stage).GW_VERSION}"`,
    );
    expect(JSON.stringify(withTasks({ canary: null }).api.toJSON())).not.toContain('NewVersionFails');
  });

  it('has more of them by processor and by calls in flight', () => {
    const policies = resourcesOf(stage.api, 'AWS::ApplicationAutoScaling::ScalingPolicy').map(
      ({ Properties }) => Properties.TargetTrackingScalingPolicyConfiguration,
    );
    expect(policies).toEqual([
      expect.objectContaining({
        TargetValue: 50,
        PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' },
      }),
      expect.objectContaining({
        TargetValue: 500,
        CustomizedMetricSpecification: {
          Namespace: 'gw',
          MetricName: 'CallsInFlight',
          Dimensions: [{ Name: 'stage', Value: 'prod' }],
          Statistic: 'Average',
        },
      }),
    ]);
    expect(only(stage, 'AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
      MinCapacity: 2,
      MaxCapacity: 10,
    });
  });

  it('waits for an image of more than a minute in front of tasks, and each part longer than the one after it', () => {
    const [distribution] = resourcesOf(stage.api, 'AWS::CloudFront::Distribution');
    const config = distribution?.Properties.DistributionConfig as { readonly Origins: readonly Origin[] } | undefined;
    interface Origin {
      readonly ResponseCompletionTimeout: number;
      readonly VpcOriginConfig: { readonly OriginReadTimeout: number };
    }
    const [origin] = config?.Origins ?? [];
    const attributes = only(stage, 'AWS::ElasticLoadBalancingV2::LoadBalancer').LoadBalancerAttributes as unknown as {
      readonly Key: string;
      readonly Value: string;
    }[];
    const idleSeconds = Number(attributes.find(({ Key }) => Key === 'idle_timeout.timeout_seconds')?.Value);
    const [readSeconds, wholeSeconds] = [origin?.VpcOriginConfig.OriginReadTimeout, origin?.ResponseCompletionTimeout];
    expect([readSeconds, idleSeconds, wholeSeconds]).toEqual([115, 117, 130]);
    expect(JSON.stringify(stage.api)).toContain('{"Name":"GW_SLOW_ANSWER_SECONDS","Value":"110"}');
    // A task that closes first would cut the next request of its load balancer.
    expect(containerKeepAliveMs).toBeGreaterThan(idleSeconds * 1_000);
  });

  it('gives a task no new call for longer than any call takes before it has to stop', () => {
    const delayOf = (one: SynthesizedStage) =>
      (
        only(one, 'AWS::ElasticLoadBalancingV2::TargetGroup').TargetGroupAttributes as unknown as {
          Key: string;
          Value: string;
        }[]
      ).find(({ Key }) => Key === 'deregistration_delay.timeout_seconds')?.Value;
    expect([delayOf(stage), delayOf(withTasks({ streamBudgetSeconds: 840 }))]).toEqual(['125', '855']);
    expect(only(stage, 'AWS::ElasticLoadBalancingV2::TargetGroup')).toMatchObject({ HealthCheckPath: '/health' });
  });

  it('has a network without NAT, where tasks accept nothing but from the load balancer, and it nothing but from CloudFront', () => {
    expect(resourcesOf(stage.api, 'AWS::EC2::NatGateway')).toEqual([]);
    expect(only(stage, 'AWS::ElasticLoadBalancingV2::LoadBalancer').Scheme).toBe('internal');
    const endpoints = resourcesOf(stage.api, 'AWS::EC2::VPCEndpoint').map(({ Properties }) => [
      Properties.VpcEndpointType,
      /dynamodb|s3/.exec(JSON.stringify(Properties.ServiceName))?.[0],
    ]);
    expect(endpoints).toEqual([
      ['Gateway', 'dynamodb'],
      ['Gateway', 's3'],
    ]);
    for (const { Properties } of resourcesOf(stage.api, 'AWS::EC2::SecurityGroup')) {
      expect(Properties).not.toHaveProperty('SecurityGroupIngress');
    }
    const ingress = resourcesOf(stage.api, 'AWS::EC2::SecurityGroupIngress').map(({ Properties }) => Properties);
    expect(ingress).toHaveLength(2);
    expect(ingress).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          FromPort: 80,
          ToPort: 80,
          SourcePrefixListId: {
            'Fn::GetAtt': [expect.stringContaining('OriginFacing'), 'PrefixLists.0.PrefixListId'],
          },
        }),
        expect.objectContaining({
          FromPort: 8_080,
          ToPort: 8_080,
          SourceSecurityGroupId: { 'Fn::GetAtt': [expect.stringMatching(/^ContainerFrontAccess/), 'GroupId'] },
        }),
      ]),
    );
  });

  it('finds the addresses of CloudFront by one call of AWS, whose function may do nothing else', () => {
    const [list, ...others] = resourcesOf(stage.api, 'Custom::OriginFacingList');
    expect(others).toEqual([]);
    const { action, parameters } = JSON.parse(String(list?.Properties.Update)) as Record<string, unknown>;
    expect({ action, parameters, onCreate: list?.Properties.Create }).toEqual({
      action: 'describeManagedPrefixLists',
      parameters: {
        Filters: [{ Name: 'prefix-list-name', Values: ['com.amazonaws.global.cloudfront.origin-facing'] }],
      },
      onCreate: list?.Properties.Update,
    });
    const rights = resourcesOf(stage.api, 'AWS::IAM::Policy').filter(({ id }) => id.includes('OriginFacing'));
    expect(rights.map(({ Properties }) => (Properties.PolicyDocument as { Statement: object[] }).Statement)).toEqual([
      [{ Action: 'ec2:DescribeManagedPrefixLists', Effect: 'Allow', Resource: '*' }],
    ]);
    expect(list?.DependsOn).toEqual(rights.map(({ id }) => id));
  });

  it('lets scrapers that the settings name reach the metrics of each task, and nothing else of it', () => {
    const metricsFrom = ['10.9.0.0/16', 'sg-0123456789abcdef0'];
    const scraped = withTasks({ metricsFrom });
    expect(variablesOf(scraped).GW_METRICS_PORT).toBe('9464');
    expect(variablesOf(stage)).not.toHaveProperty('GW_METRICS_PORT');
    expect(containerOf(scraped).PortMappings).toMatchObject([{ ContainerPort: 8_080 }, { ContainerPort: 9_464 }]);
    const inTo = ({ api }: SynthesizedStage) =>
      resourcesOf(api, 'AWS::EC2::SecurityGroup').flatMap(({ id, Properties }) =>
        ((Properties.SecurityGroupIngress ?? []) as object[]).map((rule) => ({ id, ...rule })),
      );
    const ports = { FromPort: 9_464, ToPort: 9_464, IpProtocol: 'tcp' };
    expect(inTo(stage)).toEqual([]);
    expect(inTo(scraped)).toMatchObject([
      { id: expect.stringMatching(/^ContainerTaskAccess/), CidrIp: '10.9.0.0/16', ...ports },
      { id: expect.stringMatching(/^ContainerTaskAccess/), SourceSecurityGroupId: 'sg-0123456789abcdef0', ...ports },
    ]);
    expect(resourcesOf(scraped.api, 'AWS::EC2::SecurityGroupIngress')).toHaveLength(2);
    expect(scraped.findings).toEqual([]);
  });

  it('lets the load balancer call its tasks alone, and tasks the ports alone that the settings lead to', () => {
    const outOf = (one: SynthesizedStage) => ({
      inGroups: resourcesOf(one.api, 'AWS::EC2::SecurityGroup').flatMap(({ id, Properties }) =>
        (
          Properties.SecurityGroupEgress as { CidrIp: string; IpProtocol: string; FromPort?: number; ToPort?: number }[]
        ).map(({ CidrIp, IpProtocol, FromPort, ToPort }) => [id, IpProtocol, CidrIp, FromPort, ToPort]),
      ),
      toGroups: resourcesOf(one.api, 'AWS::EC2::SecurityGroupEgress').map(({ Properties }) => Properties),
    });
    const group = (prefix: string) => ({ 'Fn::GetAtt': [expect.stringMatching(prefix), 'GroupId'] });
    const ports = (...each: number[]) =>
      each.map((port) => [expect.stringMatching(/^ContainerTaskAccess/), 'tcp', '0.0.0.0/0', port, port]);
    // Without an egress rule in the group itself EC2 allows all outgoing connections.
    const balancerNowhere = [
      expect.stringMatching(/^ContainerFrontAccess/),
      '-1',
      '127.0.0.1/32',
      undefined,
      undefined,
    ];
    const balancerToTasks = expect.objectContaining({
      GroupId: group('^ContainerFrontAccess'),
      DestinationSecurityGroupId: group('^ContainerTaskAccess'),
      IpProtocol: 'tcp',
      FromPort: 8_080,
      ToPort: 8_080,
    });
    for (const one of [stage, withTasks({ vpc }), withTasks(privateWay)]) {
      expect(outOf(one)).toEqual({ inGroups: [balancerNowhere, ...ports(443)], toGroups: [balancerToTasks] });
    }
    const more = withTasks({
      ...withConsole,
      providerPorts: [8_000],
      telemetry: { endpoint: 'https://otlp.example:4318' },
      sign_in: { issuer: 'https://id.example:8443/realm', client_id: 'gw' },
    });
    expect(outOf(more)).toEqual({
      inGroups: [balancerNowhere, ...ports(443, 8_000, 4_318, 8_443)],
      toGroups: [balancerToTasks],
    });
  });

  it('is called by the distribution through a VPC origin, at the same base URL, once its tasks serve', () => {
    const [distribution] = resourcesOf(stage.api, 'AWS::CloudFront::Distribution');
    const config = distribution?.Properties.DistributionConfig as { CacheBehaviors?: unknown; Origins: object[] };
    expect(config.CacheBehaviors).toMatchObject([{ PathPattern: '/metrics' }]);
    expect(config.Origins).toMatchObject([
      {
        VpcOriginConfig: { VpcOriginId: { 'Fn::GetAtt': [expect.any(String), 'Id'] }, OriginReadTimeout: 115 },
        OriginCustomHeaders: [{ HeaderName: 'x-gw-origin-secret' }],
      },
    ]);
    const [service] = resourcesOf(stage.api, 'AWS::ECS::Service');
    expect(distribution?.DependsOn).toContain(service?.id);
    expect(distribution?.id).toBe(resourcesOf(synthesizeStage('prod').api, 'AWS::CloudFront::Distribution')[0]?.id);
    expect(stage.api.findOutputs('DirectUrl')).toEqual({});
  });

  it('on the private way is called by its own name from private addresses alone, and has no distribution', () => {
    const stage = withTasks(privateWay);
    stage.api.resourceCountIs('AWS::CloudFront::Distribution', 0);
    expect(only(stage, 'AWS::ElasticLoadBalancingV2::LoadBalancer').Scheme).toBe('internal');
    expect(only(stage, 'AWS::ElasticLoadBalancingV2::Listener')).toMatchObject({
      Port: 443,
      Protocol: 'HTTPS',
      Certificates: [{ CertificateArn: certificateArn }],
    });
    stage.api.hasOutput('BaseUrl', { Value: 'https://llm.example.com/v1' });
    stage.api.hasOutput('LoadBalancerName', {});
    const [access] = resourcesOf(stage.api, 'AWS::EC2::SecurityGroup');
    expect(JSON.stringify(access?.Properties.SecurityGroupIngress)).not.toContain('0.0.0.0/0');
    const ingress = resourcesOf(stage.api, 'AWS::EC2::SecurityGroupIngress').map(({ Properties }) => Properties);
    expect(ingress).toEqual([expect.objectContaining({ SourceSecurityGroupId: expect.anything(), FromPort: 8_080 })]);
    expect(JSON.stringify(stage.api.toJSON())).not.toContain('GW_ORIGIN_SECRET');
    expect(stage.findings).toEqual([]);
  });

  it('is in a given network, of which nothing is made or looked up', () => {
    const stage = withTasks({ vpc, account, region: 'eu-west-1' });
    expect(resourcesOf(stage.api, 'AWS::EC2::VPC')).toEqual([]);
    expect(only(stage, 'AWS::ECS::Service').NetworkConfiguration).toMatchObject({
      AwsvpcConfiguration: { AssignPublicIp: 'DISABLED', Subnets: vpc.subnetIds },
    });
    expect(stage.findings).toEqual([]);
  });

  it('has its own network in zones of which none refuses a VPC origin, wherever it is deployed', () => {
    const anywhere = withTasks();
    for (const region of ['us-east-1', 'us-west-1', 'ap-northeast-1', 'ap-northeast-2', 'ca-central-1']) {
      const there = zonesIn(anywhere, region);
      expect(there).toEqual(zonesIn(withTasks({ account, region }), region));
      expect([there.length, new Set(there).size]).toEqual([4, 2]);
      for (const zone of there) expect(zonesByRegion[region]?.refused).not.toContain(zone);
      for (const zone of there) expect(zone).toMatch(/-az\d$/);
    }
    // In other regions CloudFront serves every zone, so zones go by name, even if the settings name the region.
    for (const stage of [anywhere, withTasks({ account, region: 'eu-west-1' })]) {
      expect(new Set(zonesIn(stage, 'eu-west-1'))).toEqual(new Set(['name 0', 'name 1']));
    }
    const zones = ['euw1-az1', 'euw1-az2', 'euw1-az3'];
    expect(new Set(zonesIn(withTasks({ zones }), 'us-east-1'))).toEqual(new Set(zones));
  });

  it('has a VPC origin whose name, unique in an account, says stage and region', () => {
    const { VpcOriginEndpointConfig } = only(stage, 'AWS::CloudFront::VpcOrigin');
    expect(VpcOriginEndpointConfig).toMatchObject({
      Name: { 'Fn::Join': ['', ['gw-prod-', { Ref: 'AWS::Region' }]] },
    });
  });

  it('rings if tasks are unhealthy or missing, at the maximum, and for errors of the load balancer', () => {
    const ids = resourcesOf(stage.api, 'AWS::CloudWatch::Alarm').map(({ id }) =>
      id.replace(/^Alarms|^.*(?=NewVersion)|[0-9A-F]{8}$/g, ''),
    );
    expect(ids).toEqual(
      expect.arrayContaining(['UnhealthyTasks', 'MissingTasks', 'RefusedAtMaximum', 'BalancerErrors']),
    );
    expect(ids).not.toContain('UrlErrors');
    // A service that never had a healthy task has no value for this metric, so `FILL` cannot fill it.
    const missing = resourcesOf(stage.api, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('MissingTasks'));
    expect(missing?.Properties).toMatchObject({
      ...{ MetricName: 'HealthyHostCount', Statistic: 'Maximum', Threshold: 2 },
      ...{ ComparisonOperator: 'LessThanThreshold', TreatMissingData: 'breaching' },
    });
    // The page describes each of these alarms, and those of functions and of the console.
    const page = readFileSync(join(projectRoot, 'infra/cdk/guides/alarms.md'), 'utf8').replaceAll('-', '');
    const ofFunctions = resourcesOf(synthesizeStage('prod', { console: true }).api, 'AWS::CloudWatch::Alarm');
    const names = ofFunctions.map(({ id }) => id.replace(/^Alarms|^.*(?=NewVersion)|[0-9A-F]{8}$/g, ''));
    expect([...ids, ...names].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    expect(JSON.stringify(resourcesOf(stage.api, 'AWS::CloudWatch::Dashboard'))).toContain('CallsInFlight');
  });

  it('keeps its lines for as long as the stage says, and those of operators if it retains for a year and longer', () => {
    const daysOf = (one: SynthesizedStage) =>
      resourcesOf(one.api, 'AWS::Logs::LogGroup').find(({ id }) => id.startsWith('ContainerLogs'));
    expect(daysOf(withTasks())).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 90 } });
    expect(daysOf(stage)).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { RetentionInDays: 400 },
    });
  });

  it('leaves no security finding without a reason', () => {
    expect(stage.findings).toEqual([]);
    expect(withTasks({ telemetry: { cloudwatch: true }, bedrockRegions: ['stage-region'] }).findings).toEqual([]);
  });
});

describe('a stage that moves', () => {
  it.each([
    ['functions', 'container'],
    ['container', 'functions'],
  ] as const)('from %s to %s keeps the former, which no new call reaches, until the next deployment', (from, to) => {
    const moving = synthesizeStage('prod', { compute: to }, { alsoRuns: from });
    const idsOf = ({ api }: SynthesizedStage, pattern: RegExp) =>
      ['AWS::Lambda::Function', 'AWS::Lambda::Url', 'AWS::ECS::Service', 'AWS::ElasticLoadBalancingV2::LoadBalancer']
        .flatMap((type) => resourcesOf(api, type))
        .map(({ id }) => id)
        .filter((id) => pattern.test(id));
    for (const kind of [from, to]) {
      const pattern = kind === 'functions' ? /^(ChatCompletions|Models)/ : /^Container(Service|Front)/;
      const alone = synthesizeStage('prod', { compute: kind });
      // The resources have the same ids, so none of them is replaced.
      expect(idsOf(moving, pattern)).toEqual(idsOf(alone, pattern));
      expect(idsOf(alone, pattern).length).toBeGreaterThan(1);
    }
    const originsOf = ({ api }: SynthesizedStage) =>
      JSON.stringify(resourcesOf(api, 'AWS::CloudFront::Distribution').map(({ Properties }) => Properties));
    expect(originsOf(moving)).toBe(originsOf(synthesizeStage('prod', { compute: to })));
    expect(moving.findings).toEqual([]);
  });
});
