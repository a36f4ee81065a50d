// Availability zones of a network of our own. By their ids: a name such as us-east-1a is another zone in every account, and CloudFront
// refuses a VPC origin whose load balancer is in a zone that it does not serve.
import { CfnCondition, Fn, Token } from 'aws-cdk-lib';
import { CfnSubnet, type ISubnet } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

interface RegionZones {
  /** Every account has them, and VPC origins may be in them. */
  readonly used: readonly [string, string];
  readonly refused: readonly string[];
}

/**
 * Regions where VPC origins are not offered in every zone: Amazon CloudFront Developer Guide, "Restrict access with VPC origins",
 * November 2026. In every other region the first two zones are taken by name.
 */
export const zonesByRegion: Readonly<Record<string, RegionZones>> = {
  'us-east-1': { used: ['use1-az2', 'use1-az4'], refused: ['use1-az3'] },
  'us-west-1': { used: ['usw1-az1', 'usw1-az3'], refused: ['usw1-az2'] },
  'ap-northeast-1': { used: ['apne1-az1', 'apne1-az4'], refused: ['apne1-az3'] },
  'ap-northeast-2': { used: ['apne2-az2', 'apne2-az3'], refused: ['apne2-az1'] },
  'ca-central-1': { used: ['cac1-az1', 'cac1-az2'], refused: ['cac1-az3'] },
};

/** Puts subnets, which have the first zones of the region by name, into zones by id where these are known. */
export function placeInZones(
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
    }
  }
}

interface ZoneId {
  readonly id: string;
  /** Undefined: in any region that the template is deployed to. */
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
  // Not as a mapping: CloudFormation reads one also where its answer is not used, and fails in a region without a row.
  const idAt = (at: number) =>
    rows.reduceRight<object>((others, { used, isHere }) => ({ 'Fn::If': [isHere.logicalId, used[at], others] }), {
      Ref: noValue,
    });
  return (at) => ({ id: Token.asString(idAt(at)), isKnown });
}
