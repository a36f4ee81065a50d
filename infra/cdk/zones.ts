// Names availability zones by their ids, because a name such as us-east-1a is another zone in every account. Does not
// import the CDK library, so that scripts load fast.

interface RegionZones {
  /** Two zones that every account has, and that support VPC origins. */
  readonly used: readonly [string, string];
  readonly refused: readonly string[];
}

/**
 * Regions where VPC origins are not offered in every zone: Amazon CloudFront Developer Guide, "Restrict access with VPC
 * origins", November 2026. In every other region the first two zones are taken by name.
 */
export const zonesByRegion: Readonly<Record<string, RegionZones>> = {
  'us-east-1': { used: ['use1-az2', 'use1-az4'], refused: ['use1-az3'] },
  'us-west-1': { used: ['usw1-az1', 'usw1-az3'], refused: ['usw1-az2'] },
  'ap-northeast-1': { used: ['apne1-az1', 'apne1-az4'], refused: ['apne1-az3'] },
  'ap-northeast-2': { used: ['apne2-az2', 'apne2-az3'], refused: ['apne2-az1'] },
  'ca-central-1': { used: ['cac1-az1', 'cac1-az2'], refused: ['cac1-az3'] },
};
