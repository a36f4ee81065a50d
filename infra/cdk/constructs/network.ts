// Defines the network of tasks and their load balancer, which is a network of their own, or a network that the settings
// name. Nothing is looked up while a template is made. In a network of their own, tasks have public addresses, because
// a NAT gateway costs more than the tasks, and accept connections from the load balancer only; the load balancer has no
// path to or from the internet.
import { CfnCondition, Fn, Stack, Token, Validations } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { CfnSubnet, type ISubnet } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import type { StageSettings } from '../settings-schema.ts';
import { zonesByRegion } from '../zones.ts';

export interface Network {
  readonly vpc: ec2.IVpc;
  readonly taskSubnets: ec2.SubnetSelection;
  readonly balancerSubnets: ec2.SubnetSelection;
  /** Whether tasks reach providers by addresses of their own; otherwise as their subnets do. */
  readonly assignPublicIp: boolean;
  /** Resources that must exist before a task can reach anything. */
  readonly ways: readonly Construct[];
}

const addresses = '10.83.0.0/16';

export function stageNetwork(
  scope: Construct,
  { vpc: existing, zones }: Pick<StageSettings, 'vpc' | 'zones'>,
): Network {
  if (existing === undefined) return ownNetwork(scope, zones);
  const { id: vpcId, subnetIds, availabilityZones } = existing;
  const vpc = ec2.Vpc.fromVpcAttributes(scope, 'GivenNetwork', { vpcId, availabilityZones: [...availabilityZones] });
  const subnets = subnetIds.map((subnetId, at) => {
    const availabilityZone = availabilityZones[at] as string;
    const subnet = ec2.Subnet.fromSubnetAttributes(scope, `GivenSubnet${at}`, { subnetId, availabilityZone });
    Validations.of(subnet).acknowledge({
      id: 'Annotation::@aws-cdk/aws-ec2:noSubnetRouteTableId',
      reason: 'Nothing here reads or changes the routes of a given network.',
    });
    return subnet;
  });
  return { vpc, taskSubnets: { subnets }, balancerSubnets: { subnets }, assignPublicIp: false, ways: [] };
}

function ownNetwork(scope: Construct, zones: StageSettings['zones']): Network {
  const vpc = new ec2.Vpc(scope, 'Network', {
    ipAddresses: ec2.IpAddresses.cidr(addresses),
    maxAzs: zones?.length ?? 2,
    natGateways: 0,
    // The option would add a function that runs during deployments, and no resource of this network is in the default
    // group.
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [
      { name: 'Tasks', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 20, mapPublicIpOnLaunch: false },
      { name: 'Balancer', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
    ],
  });
  placeInZones(scope, Stack.of(scope).region, zones, [vpc.publicSubnets, vpc.isolatedSubnets]);
  const taskSubnets = { subnetType: ec2.SubnetType.PUBLIC };
  const ways = [
    vpc.addGatewayEndpoint('DynamoDb', { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB, subnets: [taskSubnets] }),
    vpc.addGatewayEndpoint('S3', { service: ec2.GatewayVpcEndpointAwsService.S3, subnets: [taskSubnets] }),
  ];
  Validations.of(vpc).acknowledge({
    id: 'AwsSolutions-VPC7',
    reason: 'Every call is a line of the log already; flow logs would be billed beside it.',
  });
  const balancerSubnets = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };
  // The types of the CDK are stricter for arguments than for results.
  return {
    vpc: vpc as ec2.IVpc,
    taskSubnets,
    balancerSubnets,
    assignPublicIp: true,
    ways: [...ways, ...vpc.publicSubnets],
  };
}

// Places the subnets of the stage's own network in zones that CloudFront accepts.

/** Moves subnets from the region's first zones by name to zones by id if these zones are known. */
function placeInZones(
  scope: Construct,
  region: string,
  zones: readonly string[] | undefined,
  groups: readonly (readonly ISubnet[])[],
): void {
  const idAt = zoneIds(scope, region, zones);
  for (const subnets of groups) {
    for (const [at, subnet] of subnets.entries()) {
      const resource = subnet.node.defaultChild;
      const id = idAt(at);
      if (!(resource instanceof CfnSubnet) || id === undefined) continue;
      const name = resource.availabilityZone;
      resource.availabilityZoneId = id.id;
      resource.availabilityZone = id.isKnown === undefined ? undefined : whereNot(id.isKnown, name);
      if (id.isKnown === undefined) continue;
      const reason = 'A condition leaves one of the two in every region.';
      Validations.of(resource).acknowledge({ id: 'CloudFormation-Validate::F3020', reason });
    }
  }
}

interface ZoneId {
  readonly id: string;
  /** Undefined if the setting applies in any region that the template is deployed to. */
  readonly isKnown?: CfnCondition;
}

const noValue = 'AWS::NoValue';
const whereNot = ({ logicalId }: CfnCondition, value: string | undefined): string =>
  Token.asString({ 'Fn::If': [logicalId, { Ref: noValue }, value] });

function zoneIds(
  scope: Construct,
  region: string,
  zones: readonly string[] | undefined,
): (at: number) => ZoneId | undefined {
  const known = zones ?? zonesByRegion[region]?.used;
  if (known !== undefined) return (at) => ({ id: known[at] as string });
  if (!Token.isUnresolved(region)) return () => undefined;
  const rows = Object.entries(zonesByRegion).map(([name, { used }]) => ({
    used,
    isHere: new CfnCondition(scope, `In-${name}`, { expression: Fn.conditionEquals(region, name) }),
  }));
  const isKnown = new CfnCondition(scope, 'ZonesKnown', {
    expression: Fn.conditionOr(...rows.map(({ isHere }) => isHere)),
  });
  // A mapping is not used: CloudFormation reads it even if its answer is not used, and fails in a region without a row.
  const idAt = (at: number) =>
    rows.reduceRight<object>((others, { used, isHere }) => ({ 'Fn::If': [isHere.logicalId, used[at], others] }), {
      Ref: noValue,
    });
  return (at) => ({ id: Token.asString(idAt(at)), isKnown });
}
