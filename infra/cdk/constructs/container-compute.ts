// Runs the whole gateway as tasks on Fargate, each with many concurrent calls, with a load balancer in front. Tests
// check the template, and a process under the environment of the template. The tasks were never started on a live
// account.
import { join } from 'node:path';
import { Aws, CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as elbv2 from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import {
  brand,
  containerPort,
  containerStopSeconds,
  environmentNames,
  metricsEndpoint,
  rootPaths,
  tableNaming,
} from '../../../shared/foundation/constants/index.ts';
import { answerTimes } from '../answer-times.ts';
import { canaryOf, type StageSettings } from '../settings-schema.ts';
import { contentReadAccess, mergeAccess, tableAccess, wildcardId } from './access.ts';
import type { Compute, ComputeProps } from './compute.ts';
import type { CreateOrigin } from './edge.ts';
import { stageMetric } from './gateway-metrics.ts';
import { type Network, stageNetwork } from './network.ts';
import { stageLogGroup } from './node-function.ts';
import { operatorEnvironment, operatorLogs } from './operator-function.ts';
import { versionAlarm } from './rollout.ts';
import { gatewayTableActions, modelsTableActions, operatorTableActions, tablesOfAll } from './table-actions.ts';
import { callsPerTask, heapOptions, scaledAtShare, tasksDefault } from './task-size.ts';

const cpuPercent = 50;
const httpsPort = 443;
const containerName = 'Gateway';
/** Number of characters of the digest of the image's sources. */
const versionCharacters = 12;

export function containerCompute(stack: Construct, props: ComputeProps): Compute {
  const { settings, stage } = props;
  const scope = new Construct(stack, 'Container');
  const network = stageNetwork(scope, settings);
  const balancer = new LoadBalancer(scope, 'Front', { stage, settings, network });
  const longLogs = settings.console === true ? operatorLogs(settings).logs : undefined;
  const logGroup = stageLogGroup(scope, 'Logs', settings, { longLogs });
  const service = createService(scope, props, network, logGroup);
  const targets = attach(service, balancer, props);
  scaleService(service, props);
  const { min, max } = settings.tasks ?? tasksDefault;
  return {
    url: balancer.url,
    chatOrigin: balancer.origin,
    logGroups: { Container: logGroup },
    functions: {},
    originSecretReaders: [service],
    tasks: { service, targets, balancer: balancer.balancer, min, max },
  };
}

function createService(
  scope: Construct,
  props: ComputeProps,
  { vpc, taskSubnets, assignPublicIp, ways }: Network,
  logGroup: ReturnType<typeof stageLogGroup>,
): ecs.FargateService {
  const cluster = new ecs.Cluster(scope, 'Cluster', { vpc, containerInsightsV2: ecs.ContainerInsights.DISABLED });
  Validations.of(cluster).acknowledge({
    id: 'AwsSolutions-ECS4',
    reason: 'Billed by the metric; load balancer, service and log lines have what the alarms need.',
  });
  const { task: taskDefinition, version } = createTask(scope, props, logGroup);
  const service = new ecs.FargateService(scope, 'Service', {
    // The types of the CDK are stricter for arguments than for results.
    cluster: cluster as ecs.ICluster,
    taskDefinition,
    vpcSubnets: taskSubnets,
    securityGroups: [taskAccess(scope, vpc, props.settings)],
    assignPublicIp,
    // No desired count is set, so that a deployment leaves as many tasks as are running.
    minHealthyPercent: 100,
    maxHealthyPercent: 200,
    circuitBreaker: { enable: true, rollback: true },
    availabilityZoneRebalancing: ecs.AvailabilityZoneRebalancing.ENABLED,
    healthCheckGracePeriod: Duration.seconds(60),
  });
  if (canaryOf(props.settings) !== null) {
    const alarm = versionAlarm(scope, { stage: props.stage, code: scope.node.id, version, logGroup });
    service.enableDeploymentAlarms([alarm.alarmName], { behavior: ecs.AlarmBehavior.ROLLBACK_ON_ALARM });
  }
  // A task that starts before it can reach anything fails, and the deployment with it.
  service.node.addDependency(...ways, taskDefinition.obtainExecutionRole());
  return service;
}

/**
 * Creates the security group of the tasks. DNS and credentials come from addresses of AWS that no security group
 * filters.
 */
function taskAccess(scope: Construct, vpc: Network['vpc'], settings: StageSettings): ec2.SecurityGroup {
  const access = new ec2.SecurityGroup(scope, 'TaskAccess', {
    vpc,
    description: 'Who may call the tasks, and whom they may call',
    allowAllOutbound: false,
  });
  for (const port of calledPorts(settings)) {
    access.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(port), 'AWS, providers, collector, identity provider');
  }
  for (const [at, from] of (settings.metricsFrom ?? []).entries()) {
    const peer = from.startsWith('sg-') ? ec2.Peer.securityGroupId(from) : ec2.Peer.ipv4(from);
    access.addIngressRule(peer, ec2.Port.tcp(metricsEndpoint.port), `Scraper ${at + 1} of metricsFrom`);
  }
  return access;
}

function calledPorts({ providerPorts = [], telemetry, sign_in }: StageSettings): ReadonlySet<number> {
  const urls = [telemetry?.cloudwatch ? undefined : telemetry?.endpoint, sign_in?.issuer].filter((url) => url != null);
  return new Set([httpsPort, ...providerPorts, ...urls.map((url) => Number(new URL(url).port || httpsPort))]);
}

function createTask(
  scope: Construct,
  { stage, settings, bundlesRoot, commonAccess, chatAccess, dataStack }: ComputeProps,
  logGroup: ReturnType<typeof stageLogGroup>,
): { readonly task: ecs.FargateTaskDefinition; readonly version: string } {
  const size = settings.tasks ?? tasksDefault;
  const task = new ecs.FargateTaskDefinition(scope, 'Task', {
    cpu: size.cpu,
    memoryLimitMiB: size.memoryMiB,
    runtimePlatform: {
      cpuArchitecture: ecs.CpuArchitecture.ARM64,
      operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
    },
  });
  const image = new DockerImageAsset(task, 'Image', {
    directory: join(bundlesRoot, 'container'),
    target: 'container',
    platform: Platform.LINUX_ARM64,
  });
  const version = image.assetHash.slice(0, versionCharacters);
  const tables = tablesOfAll(
    gatewayTableActions,
    modelsTableActions,
    settings.console === true ? operatorTableActions : {},
  );
  const access = mergeAccess(
    commonAccess,
    chatAccess,
    settings.console === true ? contentReadAccess(stage) : { statements: [] },
    tableAccess(scope, tableNaming(stage, settings.tableSuffix), tables),
  );
  for (const statement of access.statements) task.addToTaskRolePolicy(new PolicyStatement(statement));
  const console =
    settings.console === true ? { [environmentNames.console]: 'on', ...operatorEnvironment(settings) } : {};
  const isScraped = settings.metricsFrom !== undefined;
  task.addContainer(containerName, {
    image: ecs.ContainerImage.fromDockerImageAsset(image),
    command: [...heapOptions(size), 'index.cjs'],
    environment: {
      [environmentNames.stage]: stage,
      [environmentNames.version]: version,
      AWS_REGION: Aws.REGION,
      ...console,
      ...(isScraped ? { [environmentNames.metricsPort]: String(metricsEndpoint.port) } : {}),
      ...access.environment,
    },
    portMappings: [{ containerPort }, ...(isScraped ? [{ containerPort: metricsEndpoint.port }] : [])],
    user: 'node',
    readonlyRootFilesystem: true,
    stopTimeout: Duration.seconds(containerStopSeconds),
    logging: ecs.LogDrivers.awsLogs({
      logGroup,
      streamPrefix: brand,
      // No call waits for a log service that does not answer.
      mode: ecs.AwsLogDriverMode.NON_BLOCKING,
    }),
    dockerLabels: { 'gw.data': dataStack },
  });
  acknowledgeTask(task, access.acknowledgements ?? []);
  return { task, version };
}

function acknowledgeTask(
  task: ecs.FargateTaskDefinition,
  acknowledgements: readonly { readonly id: string; readonly reason: string }[],
): void {
  Validations.of(task).acknowledge(
    ...acknowledgements,
    { id: 'AwsSolutions-ECS2', reason: 'Names and hashes: none of these variables is a secret.' },
    {
      id: wildcardId('*'),
      reason: 'The action by which images may be read has no resources; those that send traces neither.',
    },
  );
}

function attach(service: ecs.FargateService, { listener }: LoadBalancer, { settings }: ComputeProps) {
  const { holdLifeMs } = answerTimes(settings);
  return listener.addTargets('Tasks', {
    port: containerPort,
    protocol: elbv2.ApplicationProtocol.HTTP,
    targets: [service.loadBalancerTarget({ containerName, containerPort })],
    // Calls differ in length, so the next call goes to the task with the fewest calls.
    loadBalancingAlgorithmType: elbv2.TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
    // A stopping task gets no new call for this time before it is signalled. The time is longer than any call takes.
    deregistrationDelay: Duration.millis(holdLifeMs),
    healthCheck: {
      path: rootPaths.health,
      interval: Duration.seconds(10),
      timeout: Duration.seconds(5),
      healthyThresholdCount: 2,
      unhealthyThresholdCount: 3,
    },
  });
}

function scaleService(service: ecs.FargateService, { stage, settings }: ComputeProps): void {
  const size = settings.tasks ?? tasksDefault;
  const scaling = service.autoScaleTaskCount({ minCapacity: size.min, maxCapacity: size.max });
  const cooldowns = { scaleOutCooldown: Duration.seconds(60), scaleInCooldown: Duration.minutes(5) };
  scaling.scaleOnCpuUtilization('Processor', { targetUtilizationPercent: cpuPercent, ...cooldowns });
  scaling.scaleToTrackCustomMetric('CallsInFlight', {
    metric: stageMetric(stage, 'CallsInFlight', 'Average').with({ period: Duration.minutes(1) }),
    targetValue: callsPerTask(size) * scaledAtShare,
    ...cooldowns,
  });
}

// Defines the load balancer of the tasks. The load balancer is internal, because only CloudFront calls it, or, on a
// private path, callers in its network or in a network joined to it.

interface LoadBalancerProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly network: Network;
}

/**
 * Longer than a distribution waits for an answer, and shorter than a task leaves an idle connection open
 * (`containerKeepAliveMs`).
 */
const afterSilenceSeconds = 2;

/** Addresses that no internet route reaches. */
const privateAddresses = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];

const originFacingListName = 'com.amazonaws.global.cloudfront.origin-facing';
const sdkCallFunctionId = `AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`;
const basicExecutionId =
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';

class LoadBalancer extends Construct {
  readonly balancer: elbv2.ApplicationLoadBalancer;
  readonly listener: elbv2.ApplicationListener;
  /** URL of clients before /v1 if the stage has no distribution. Ends in a slash. */
  readonly url: string;
  readonly #stage: string;

  constructor(scope: Construct, id: string, { stage, settings, network }: LoadBalancerProps) {
    super(scope, id);
    this.#stage = stage;
    const { vpc, balancerSubnets } = network;
    const securityGroup = new ec2.SecurityGroup(this, 'Access', {
      vpc,
      description: 'Who may call the load balancer',
      allowAllOutbound: false,
    });
    // If all rules of a group are resources of their own, the group keeps EC2's default rule, which allows all outgoing
    // traffic.
    securityGroup.addEgressRule(ec2.Peer.ipv4('127.0.0.1/32'), ec2.Port.allTraffic(), 'None, in place of all');
    this.balancer = new elbv2.ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      vpcSubnets: balancerSubnets,
      internetFacing: false,
      securityGroup,
      idleTimeout: Duration.seconds(answerTimes(settings).silenceSeconds + afterSilenceSeconds),
      dropInvalidHeaderFields: true,
    });
    Validations.of(this.balancer).acknowledge({
      id: 'AwsSolutions-ELB2',
      reason: 'The gateway logs one line per request; access logs would repeat it.',
    });
    const { customDomain, edge } = settings;
    if (edge === 'none' && customDomain !== null) {
      for (const range of privateAddresses) securityGroup.addIngressRule(ec2.Peer.ipv4(range), ec2.Port.tcp(443));
      this.listener = this.balancer.addListener('Https', {
        port: 443,
        protocol: elbv2.ApplicationProtocol.HTTPS,
        certificates: [Certificate.fromCertificateArn(this, 'Certificate', customDomain.certificateArn)],
        sslPolicy: elbv2.SslPolicy.RECOMMENDED_TLS,
        open: false,
      });
      new CfnOutput(Stack.of(this), 'LoadBalancerName', { value: this.balancer.loadBalancerDnsName });
    } else {
      securityGroup.addIngressRule(ec2.Peer.prefixList(this.#originFacingList(settings)), ec2.Port.tcp(80));
      // Calls from CloudFront to the load balancer travel through AWS's own network.
      this.listener = this.balancer.addListener('Http', { port: 80, open: false });
    }
    this.url = `https://${customDomain?.domainNames[0] ?? this.balancer.loadBalancerDnsName}/`;
  }

  /**
   * Returns the id of the list of CloudFront's own addresses, which differs by region and is in no attribute of a
   * resource.
   */
  #originFacingList(settings: StageSettings): string {
    const found = 'PrefixLists.0.PrefixListId';
    const list = new AwsCustomResource(this, 'OriginFacing', {
      resourceType: 'Custom::OriginFacingList',
      onUpdate: {
        service: 'EC2',
        action: 'describeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [originFacingListName] }] },
        physicalResourceId: PhysicalResourceId.of(originFacingListName),
        outputPaths: [found],
      },
      // This action has no resources.
      policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: AwsCustomResourcePolicy.ANY_RESOURCE }),
      // The SDK of the Lambda runtime supports the action.
      installLatestAwsSdk: false,
      logGroup: stageLogGroup(this, 'OriginFacingLogs', settings),
      serviceTimeout: Duration.minutes(2),
    });
    Validations.of(list).acknowledge({
      id: wildcardId('*'),
      reason: 'The action that reads lists of addresses has no resources.',
    });
    // CDK creates one function for all resources of this kind in a stack.
    Validations.of(Stack.of(this).node.findChild(sdkCallFunctionId)).acknowledge(
      { id: basicExecutionId, reason: 'The policy that CDK gives its own function: it writes log lines.' },
      { id: 'AwsSolutions-L1', reason: 'The runtime of a function of CDK is its own choice.' },
    );
    return list.getResponseField(found);
  }

  /** Origin of a distribution, which reaches a load balancer without a public address. */
  readonly origin: CreateOrigin = (options) =>
    VpcOrigin.withApplicationLoadBalancer(this.balancer, {
      ...options,
      // Names are unique in an account, whatever the region.
      vpcOriginName: `${brand}-${this.#stage}-${Stack.of(this).region}`,
      protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
    });
}
