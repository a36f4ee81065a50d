import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../infra/cdk/check-settings.ts';
import { type StageSettings, stageSettings } from '../../infra/cdk/stage-settings.ts';

const check = (overrides: Partial<StageSettings>, stage = 'dev') => {
  const settings = stageSettings.dev;
  if (settings === undefined) throw new Error('there is no stage dev');
  return () => checkSettings(stage, { ...settings, ...overrides });
};
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/3f1c0b1e';
const webAclArn = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gw/3f1c0b1e';

describe('the settings of a stage', () => {
  it.each(Object.entries(stageSettings))('of %s are as they must be', (stage, settings) => {
    expect(() => checkSettings(stage, settings)).not.toThrow();
  });

  it('take a name, a web ACL and regions', () => {
    const domainNames = ['llm.example.com'] as const;
    expect(
      check({ customDomain: { domainNames, certificateArn }, webAclArn, bedrockRegions: ['eu-west-1'] }),
    ).not.toThrow();
  });

  it.each<[string, Partial<StageSettings>, string]>([
    [
      'a certificate that CloudFront would not find',
      {
        customDomain: {
          domainNames: ['llm.example.com'],
          certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/3f1c0b1e',
        },
      },
      'stage dev: customDomain.certificateArn must be the ARN of an ACM certificate in us-east-1',
    ],
    [
      'a web ACL of a region',
      { webAclArn: 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/gw/3f1c0b1e' },
      'stage dev: webAclArn must be the ARN of a web ACL of scope CLOUDFRONT in us-east-1',
    ],
    ['a web ACL and nothing to guard', { edge: 'none', webAclArn }, 'stage dev: webAclArn needs edge: cloudfront'],
    [
      'a name and nothing to name',
      { edge: 'none', customDomain: { domainNames: ['llm.example.com'], certificateArn } },
      'stage dev: customDomain needs edge: cloudfront',
    ],
    [
      'a region that is none',
      { bedrockRegions: ['*'] },
      'stage dev: bedrockRegions must be names of regions, such as eu-west-1',
    ],
    ['one environment only', { webEnvironmentsMax: 1 }, 'stage dev: webEnvironmentsMax must be null or at least 2'],
  ])('stop at %s, by its name and before anything is synthesized', (_case, overrides, message) => {
    expect(check(overrides)).toThrow(message);
  });

  it('stop at a name that no bucket could hold', () => {
    expect(check({}, 'My_Stage')).toThrow('must be 1 to 26 lower-case letters, digits or -');
  });
});
