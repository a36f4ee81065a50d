// Places the subnets of the stage's own network in zones that CloudFront accepts.
import { CfnCondition, Fn, Token, Validations } from 'aws-cdk-lib';
import { CfnSubnet, type ISubnet } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { zonesByRegion } from '../zones.ts';

/** Moves subnets from the region's first zones by name to zones by id where these are known. */
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
      if (id.isKnown === undefined) continue;
      const reason = 'A condition leaves one of the two in every region.';
      Validations.of(resource).acknowledge({ id: 'CloudFormation-Validate::F3020', reason });
    }
  }
}

interface ZoneId {
  readonly id: string;
  /** Undefined where it applies in any region that the template is deployed to. */
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
