import { describe, expect, it } from '#jest';
import { checkPlace, checkSettings, describeUnheld } from '../../infra/cdk/check-settings.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';

const check = (overrides: Record<string, unknown>, stage = 'prod') => {
  const settings = stageSettings.prod;
  if (settings === undefined) throw new Error('there is no stage prod');
  return () => checkSettings(stage, { ...settings, ...overrides } as StageSettings);
};
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/3f1c0b1e';
const webAclArn = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gw/3f1c0b1e';
const keyArn = 'arn:aws:kms:eu-west-1:123456789012:key/0d1f6c6e-0b1e';
const secretArn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:gw/prod/providers-a1B2c3';
const domainNames = ['llm.example.com'];
const regionalCertificate = 'arn:aws:acm:eu-west-1:123456789012:certificate/3f1c0b1e';
const vpc = {
  id: 'vpc-0123456789abcdef0',
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  availabilityZones: ['eu-west-1a', 'eu-west-1b'],
};

describe('the settings of a stage', () => {
  it.each(Object.entries(stageSettings))('of %s are valid', (stage, settings) => {
    expect(() => checkSettings(stage, settings)).not.toThrow();
  });

  it('take a domain, a web ACL, regions, and what a former deployment left behind', () => {
    const more = { customDomain: { domainNames, certificateArn }, webAclArn, bedrockRegions: ['eu-west-1'] };
    expect(check({ ...more, adopt: { keyArn, secretArn } })).not.toThrow();
    expect(check({ adopt: { keyArn: null, secretArn: null } })).not.toThrow();
    for (const tasks of [undefined, { min: 2, max: 10, cpu: 1_024, memoryMiB: 2_048 }]) {
      expect(check({ compute: 'container', tasks })).not.toThrow();
    }
    const privateWay = { edge: 'none', customDomain: { domainNames, certificateArn: regionalCertificate }, vpc };
    expect(check({ compute: 'container', ...privateWay })).not.toThrow();
    const metricsFrom = ['10.83.0.0/16', '192.0.2.7/32', 'sg-0123456789abcdef0'];
    expect(check({ compute: 'container', metricsFrom })).not.toThrow();
    expect(check({ encryptionKeyArn: keyArn, tableCapacity: { min: 5, max: 5 } })).not.toThrow();
    for (const console of [true, false, undefined]) expect(check({ console })).not.toThrow();
    expect(check({ compute: 'container', console: true, consoleSharesTaskRole: true })).not.toThrow();
    expect(check({ compute: 'container', console: false, providerPorts: [8_000] })).not.toThrow();
    expect(check({ console: 'yes' })).toThrow('console must be true or false');
    const collector = { endpoint: 'https://otlp.example', headersSecret: 'gw/prod/otlp', sampleRatio: 0.1 };
    for (const telemetry of [null, { cloudwatch: true }, collector]) expect(check({ telemetry })).not.toThrow();
  });

  it.each<[Record<string, unknown>, string]>([
    [
      { customDomain: { domainNames, certificateArn: certificateArn.replace('us-east-1', 'eu-west-1') } },
      'customDomain.certificateArn must be the ARN of an ACM certificate in us-east-1',
    ],
    [
      { customDomain: { domainNames: ['https://llm.example.com'], certificateArn } },
      'customDomain.domainNames[0] must be a domain name',
    ],
    [
      { webAclArn: 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/gw/3f1c0b1e' },
      'webAclArn must be the ARN of a web ACL of scope CLOUDFRONT in us-east-1',
    ],
    ...['0.0.0.0/0', '10.0.0.0/7', '10.0.0.1', 'sg-x'].map((from): [Record<string, unknown>, string] => [
      { metricsFrom: [from] },
      'metricsFrom[0] must be a range of addresses',
    ]),
    [{ encryptionKeyArn: 'alias/mine' }, 'encryptionKeyArn must be the ARN of a KMS key'],
    [{ tableCapacity: { min: 6, max: 5 } }, 'tableCapacity must be no larger in its min than in its max'],
    [{ tableCapacity: { min: 0, max: 5 } }, 'tableCapacity.min must be a whole number from 1 to 40000'],
    [{ edge: 'none', webAclArn }, "webAclArn needs edge: 'cloudfront'"],
    [
      { edge: 'none', customDomain: { domainNames, certificateArn } },
      "customDomain needs edge: 'cloudfront', or compute: 'container'",
    ],
    [{ telemetry: { endpoint: 'http://otlp.example' } }, 'telemetry.endpoint must be an https URL'],
    [
      { telemetry: { endpoint: 'https://user:canary@otlp.example' } },
      'telemetry.endpoint must be an https URL without credentials and query',
    ],
    [
      { telemetry: { endpoint: 'https://otlp.example', headersSecret: 'authorization: Basic canary' } },
      'telemetry.headersSecret must be the name or the ARN of a secret',
    ],
    [{ telemetry: { cloudwatch: true, sampleRatio: 2 } }, 'telemetry.sampleRatio must be a number from 0 to 1'],
    [{ telemetry: { cloudwatch: true, endpoint: 'https://otlp.example' } }, 'telemetry Unrecognized key: "endpoint"'],
    [{ telemetry: { cloudwatch: false } }, 'telemetry.cloudwatch must be true, beside no endpoint, or be left out'],
    [{ bedrockRegions: ['*'] }, 'bedrockRegions[0] must be the name of a region'],
    [{ webEnvironmentsMax: 2 }, 'Unrecognized key: "webEnvironmentsMax"'],
    [{ compute: 'web' }, 'compute must be functions or container'],
    [
      { compute: 'container', tasks: { min: 1, max: 2, cpu: 1_024, memoryMiB: 2_048 } },
      "tasks.min must be at least 2 where removal is 'retain'",
    ],
    [
      { compute: 'container', tasks: { min: 3, max: 2, cpu: 1_024, memoryMiB: 2_048 } },
      'tasks must be no larger in its min than in its max',
    ],
    [
      { compute: 'container', tasks: { min: 2, max: 2, cpu: 1_024, memoryMiB: 1_024 } },
      'tasks must be a size that Fargate has',
    ],
    ...[undefined, false].map((consoleSharesTaskRole): [Record<string, unknown>, string] => [
      { compute: 'container', console: true, consoleSharesTaskRole },
      "consoleSharesTaskRole must be true with compute: 'container' and console: true: the role of the tasks, which take clients' calls, has the rights of operators too",
    ]),
    [{ providerPorts: [0] }, 'providerPorts[0] must be a whole number from 1 to 65535'],
    [
      { compute: 'container', edge: 'none' },
      "customDomain must be set: with compute: 'container' and edge: 'none' clients call by its names",
    ],
    [
      {
        compute: 'container',
        edge: 'none',
        region: 'eu-north-1',
        customDomain: { domainNames, certificateArn: regionalCertificate },
      },
      'customDomain.certificateArn must be of the region of the stage',
    ],
    [{ vpc: { ...vpc, subnetIds: vpc.subnetIds.slice(1) } }, 'vpc.subnetIds must be a list of at least two'],
    [
      { vpc: { ...vpc, availabilityZones: ['eu-west-1a', 'eu-west-1a'] } },
      'vpc must be in two availability zones at least',
    ],
    [{ streamBudgetSeconds: 841 }, 'streamBudgetSeconds must be a whole number from 55 to 840'],
    [{ streamBudgetSeconds: 54 }, 'streamBudgetSeconds must be a whole number from 55 to 840'],
    [{ memoryMb: 64 }, 'memoryMb must be a whole number from 128 to 10240'],
    [{ gatewayReservedConcurrency: '5' }, 'gatewayReservedConcurrency must be a whole number, at least 1'],
    [{ logRetentionDays: 8 }, 'logRetentionDays must be one of 1, 3, 5, 7'],
    [{ edge: 'alb' }, 'edge must be cloudfront or none'],
    [{ originSecrets: [1, 1] }, 'originSecrets must be a list of different numbers'],
    [{ originSecrets: [] }, 'originSecrets must be a list of at least one number'],
    [{ alarmEmail: 'operator' }, 'alarmEmail must be an e-mail address'],
    [{ dashboard: undefined }, 'dashboard must be true or false'],
    [{ memoryMB: 512 }, 'Unrecognized key: "memoryMB"'],
    [{ account: '1234' }, 'account must be the twelve digits of an account'],
    [{ region: 'europe' }, 'region must be the name of a region'],
    [{ removal: 'destroy' }, "deletionProtection needs removal: 'retain'"],
    [{ removal: 'destroy', deletionProtection: false, adopt: { keyArn, secretArn } }, "adopt needs removal: 'retain'"],
    [{ adopt: { keyArn: 'alias/gw-prod-connections', secretArn } }, 'adopt.keyArn must be the ARN of a KMS key'],
    [
      { adopt: { keyArn, secretArn: secretArn.replace('prod', 'staging') } },
      'adopt.secretArn must be the ARN of the secret gw/prod/providers',
    ],
  ])('stop before anything is synthesized, naming the member: %j', (overrides, message) => {
    expect(check(overrides)).toThrow(`stage prod: ${message}`);
  });

  it('keep a stage in its account and its region, if it names them', () => {
    const settings = { ...(stageSettings.prod as StageSettings), account: '111122223333', region: 'eu-west-1' };
    const place = (account: string, region: string) => () => checkPlace('prod', settings, { account, region });
    expect(place('111122223333', 'eu-west-1')).not.toThrow();
    expect(place('111122223333', 'eu-north-1')).toThrow(
      'stage prod belongs to account 111122223333, region eu-west-1 (stage-settings.ts); this shell is in account 111122223333, region eu-north-1',
    );
    expect(place('999999999999', 'eu-west-1')).toThrow('this shell is in account 999999999999');
    const anywhere = { ...settings, account: undefined, region: null };
    expect(() => checkPlace('prod', anywhere, { account: '1', region: 'x' })).not.toThrow();
    const adopting = { ...anywhere, adopt: { keyArn, secretArn: null } };
    expect(() => checkPlace('prod', adopting, { account: '123456789012', region: 'eu-west-1' })).not.toThrow();
    expect(() => checkPlace('prod', adopting, { account: '123456789012', region: 'eu-west-2' })).toThrow(
      'stage prod adopts what is in account 123456789012, region eu-west-1',
    );
    // The key belongs to this region and the secret to another one.
    const split = { ...anywhere, adopt: { keyArn, secretArn: secretArn.replace('eu-west-1', 'eu-north-1') } };
    expect(() => checkPlace('prod', split, { account: '123456789012', region: 'eu-west-1' })).toThrow(
      'stage prod adopts what is in account 123456789012, region eu-north-1',
    );
  });

  it('take a key for encryption of any account, and of the region alone in which the stage is', () => {
    const settings = { ...(stageSettings.prod as StageSettings), encryptionKeyArn: keyArn };
    expect(() => checkPlace('prod', settings, { account: '1', region: 'eu-west-1' })).not.toThrow();
    expect(() => checkPlace('prod', settings, { account: '1', region: 'eu-west-2' })).toThrow(
      'stage prod: the key of encryptionKeyArn is not in eu-west-2, the region of this shell',
    );
  });

  it('that do not hold beside provisioned capacity are named in a line, and only there', () => {
    const prod = stageSettings.prod as StageSettings;
    expect(describeUnheld('prod', prod)).toBeUndefined();
    const tableCapacity = { min: 1, max: 2 };
    expect(describeUnheld('prod', { ...prod, tableCapacity, tableReadsPerSecondMax: 9 })).toBe(
      'stage prod: beside tableCapacity these do not hold: tableReadsPerSecondMax, tableWarmWritesPerSecond',
    );
    expect(describeUnheld('prod', { ...prod, tableCapacity, tableWarmWritesPerSecond: null })).toBeUndefined();
  });

  it('name every field that is wrong at once', () => {
    expect(check({ memoryMb: 1, edge: 'alb', alarmEmail: '' })).toThrow(
      /^stage prod: memoryMb [^;]+; edge [^;]+; alarmEmail [^;]+$/,
    );
  });

  it('stop at a name that no bucket could hold', () => {
    expect(check({}, 'My_Stage')).toThrow('must be 1 to 26 lower-case letters, digits or -');
  });
});
