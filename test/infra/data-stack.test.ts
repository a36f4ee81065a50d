import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from '#jest';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import {
  physicalTableName,
  type TableDefinition,
  tableDefinitions,
  tableNames,
  unrecoveredTables,
} from '../../shared/foundation/constants/index.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const writtenByEveryCall = ['keys', 'ledger', 'limits', 'statistics', 'idempotency', 'spans', 'records'];

describe.each(Object.keys(stageSettings))('the data stack of %s', (stage) => {
  const { api, data, settings, terminationProtection, stackTags, findings } = synthesizeStage(stage);
  const [deletionPolicy, replacePolicy] =
    settings.removal === 'retain' ? ['RetainExceptOnCreate', 'Retain'] : ['Delete', 'Delete'];
  const livesADay = ['cache', 'idempotency', 'limits', 'statistics'];

  it.each(tableNames)(
    'keeps table %s as the stage says, on demand, with the keys and the time to live its readers expect',
    (table) => {
      const { timeToLiveAttribute, partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
      data.hasResource('AWS::DynamoDB::GlobalTable', {
        DeletionPolicy: deletionPolicy,
        UpdateReplacePolicy: replacePolicy,
        Properties: {
          TableName: physicalTableName(stage, table),
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [
            { AttributeName: partitionKey, KeyType: 'HASH' },
            ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: 'RANGE' }]),
          ],
          AttributeDefinitions: [partitionKey, ...(sortKey === undefined ? [] : [sortKey])].map((AttributeName) => ({
            AttributeName,
            AttributeType: 'S',
          })),
          TimeToLiveSpecification:
            timeToLiveAttribute === undefined ? Match.absent() : { AttributeName: timeToLiveAttribute, Enabled: true },
          Replicas: [
            Match.objectLike({
              PointInTimeRecoverySpecification: {
                PointInTimeRecoveryEnabled: settings.pointInTimeRecovery && !livesADay.includes(table),
              },
              DeletionProtectionEnabled: settings.deletionProtection,
              ContributorInsightsSpecification: { Enabled: true, Mode: 'THROTTLED_KEYS' },
              // The value is written even without a limit of ours, because a table may keep its former limit if the
              // property is absent.
              ReadOnDemandThroughputSettings: { MaxReadRequestUnits: settings.tableReadsPerSecondMax ?? 40_000 },
            }),
          ],
          WarmThroughput:
            settings.tableWarmWritesPerSecond !== null && writtenByEveryCall.includes(table)
              ? { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: settings.tableWarmWritesPerSecond }
              : Match.absent(),
          WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: settings.tableWritesPerSecondMax ?? 40_000 },
        },
      });
    },
  );

  it('holds every table of shared/foundation/constants and no other', () => {
    data.resourceCountIs('AWS::DynamoDB::GlobalTable', tableNames.length);
  });

  it('starts with provider credentials that are empty, and keeps them when the stage keeps its data', () => {
    const [secret, ...others] = resourcesOf(data, 'AWS::SecretsManager::Secret');
    expect(others).toEqual([]);
    expect(secret?.Properties).toMatchObject({ SecretString: '{}' });
    expect(secret?.DeletionPolicy).toBe(deletionPolicy);
  });

  it('keeps large results to itself: no public access, no plain HTTP, encrypted, nothing that outlives a stray upload', () => {
    const [bucket, ...others] = resourcesOf(data, 'AWS::S3::Bucket');
    expect(others).toEqual([]);
    expect(bucket?.DeletionPolicy).toBe(deletionPolicy);
    expect(bucket?.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      LifecycleConfiguration: {
        // Results stay a day longer than they are needed, because S3 counts from the next midnight.
        Rules: [
          ['result-', 3],
          ['content-1d-', 1],
          ['content-7d-', 7],
          ['content-30d-', 30],
          ['content-90d-', 90],
          ['content-365d-', 365],
          // An object with another name, as a former release wrote it, is removed after all of these.
          [undefined, 366],
        ].map(([Prefix, ExpirationInDays]) => ({
          ...{ Status: 'Enabled', ...(Prefix === undefined ? {} : { Prefix }), ExpirationInDays },
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        })),
      },
    });
    const [policy] = resourcesOf(data, 'AWS::S3::BucketPolicy');
    const statements = (policy?.Properties.PolicyDocument as { Statement: object[] } | undefined)?.Statement ?? [];
    expect(statements.slice(0, 2)).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({ Effect: 'Deny', Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }),
    ]);
    for (const statement of statements.slice(2)) expect(JSON.stringify(statement)).toContain('AutoDelete');
  });

  it('empties the bucket before its deletion if the stage is disposable, and in no other stage', () => {
    data.resourceCountIs('Custom::S3AutoDeleteObjects', settings.removal === 'destroy' ? 1 : 0);
  });

  it('marks everything that takes tags with the application and the stage', () => {
    for (const type of ['AWS::S3::Bucket', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret']) {
      for (const { Properties } of resourcesOf(data, type)) {
        expect(Properties.Tags).toEqual(expect.arrayContaining(tagsOf(stage)));
      }
    }
    for (const { Properties } of resourcesOf(data, 'AWS::DynamoDB::GlobalTable')) {
      const [replica] = Properties.Replicas as [{ Tags: unknown }];
      expect(replica.Tags).toEqual(tagsOf(stage));
    }
    for (const type of [
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
      'AWS::IAM::Role',
      'AWS::CloudFront::Distribution',
    ]) {
      for (const { Properties } of resourcesOf(api, type)) expect(Properties.Tags).toEqual(tagsOf(stage));
    }
    expect(stackTags).toEqual({ application: 'gw', stage });
  });

  it('keeps one master key for sealed BYOK keys, rotated, under a name the operator knows', () => {
    const [key, ...others] = resourcesOf(data, 'AWS::KMS::Key');
    expect(others).toEqual([]);
    expect(key?.Properties).toMatchObject({ EnableKeyRotation: true });
    expect(key?.DeletionPolicy).toBe(deletionPolicy);
    data.hasResourceProperties('AWS::KMS::Alias', { AliasName: `alias/gw-${stage}-connections` });
  });

  it('is protected from being deleted as a whole if the stage says so', () => {
    expect(terminationProtection).toBe(settings.terminationProtection);
  });

  it('cannot be deleted before the api stack, which imports its name and nothing that could change', () => {
    const exports = Object.values(data.findOutputs('*')).filter(({ Export }) => Export !== undefined);
    expect(exports).toEqual([{ Value: `gw-${stage}-data`, Export: { Name: `gw-${stage}-data` } }]);
    const imports = JSON.stringify(api.toJSON()).match(/\{"Fn::(ImportValue|GetStackOutput)":[^}]*\}/g);
    expect(imports).toEqual([`{"Fn::ImportValue":"gw-${stage}-data"}`]);
    // The import is in a resource, where CloudFormation certainly counts it.
    expect(JSON.stringify(resourcesOf(api, 'AWS::Lambda::Function'))).toContain(String(imports));
  });

  it('leaves no security finding without a reason', () => {
    expect(findings).toEqual([]);
  });
});

const encryptionKeyArn = 'arn:aws:kms:eu-west-1:123456789012:key/5c1f6c6e-0b1e';
describe('a stage with a key of its owner', () => {
  const environment = { account: '123456789012', region: 'eu-west-1', console: true } as const;
  const functions = synthesizeStage('prod', { ...environment, encryptionKeyArn });
  const tasks = synthesizeStage('prod', {
    ...{ ...environment, encryptionKeyArn, consoleSharesTaskRole: true },
    compute: 'container',
  });

  it('encrypts every table, the bucket, every secret and every log group with it', () => {
    for (const { Properties } of resourcesOf(functions.data, 'AWS::DynamoDB::GlobalTable')) {
      expect(Properties.SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS' });
      expect(Properties.Replicas).toMatchObject([{ SSESpecification: { KMSMasterKeyId: encryptionKeyArn } }]);
    }
    functions.data.hasResourceProperties('AWS::S3::Bucket', {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          {
            BucketKeyEnabled: true,
            ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: encryptionKeyArn },
          },
        ],
      },
    });
    const keysOf = (type: string) =>
      [functions, tasks].flatMap(({ api, data }) =>
        [...resourcesOf(data, type), ...resourcesOf(api, type)].map(({ Properties }) => Properties.KmsKeyId),
      );
    for (const type of ['AWS::SecretsManager::Secret', 'AWS::Logs::LogGroup']) {
      expect(keysOf(type).length).toBeGreaterThan(3);
      expect(new Set(keysOf(type))).toEqual(new Set([encryptionKeyArn]));
    }
    expect([...functions.findings, ...tasks.findings]).toEqual([]);
  });

  it('lets each role use it through the services that encrypt with it, and in no other way', () => {
    const rights = [functions, tasks].flatMap(({ api }) =>
      resourcesOf(api, 'AWS::IAM::Policy').flatMap(({ id, Properties }) =>
        (
          Properties.PolicyDocument as { Statement: { Resource: unknown; Action: unknown; Condition?: unknown }[] }
        ).Statement.filter(({ Resource }) => Resource === encryptionKeyArn).map(({ Action, Condition }) => ({
          role: id.replace(/(Task)?Role.*/, ''),
          Action,
          Condition,
        })),
      ),
    );
    const callingFunctions = ['ChatCompletions', 'Models', 'Operator', 'ContainerTask'];
    expect(rights.map(({ role }) => role)).toEqual(expect.arrayContaining(callingFunctions));
    for (const { Action, Condition } of rights) {
      expect(Action).toEqual(expect.arrayContaining(['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey']));
      expect(JSON.stringify(Action)).not.toContain('*');
      const region = { Ref: 'AWS::Region' };
      const via = ['dynamodb', 's3', 'secretsmanager'].map((name) => ({
        'Fn::Join': ['', [`${name}.`, region, '.', { Ref: 'AWS::URLSuffix' }]],
      }));
      expect(Condition).toEqual({ StringEquals: { 'kms:ViaService': via } });
    }
  });

  it('changes nothing of a stage without it', () => {
    const text = JSON.stringify([
      synthesizeStage('prod', environment).api.toJSON(),
      synthesizeStage('prod', environment).data.toJSON(),
    ]);
    expect(text).not.toMatch(/KmsKeyId|ViaService|SSEType/);
  });
});

describe('a stage with provisioned tables', () => {
  const tableCapacity = { min: 20, max: 4_000 };
  const provisioned = synthesizeStage('prod', { tableCapacity });
  const tables = resourcesOf(provisioned.data, 'AWS::DynamoDB::GlobalTable').map(({ Properties }) => Properties);

  it('scales the writes of every table between the two, and its reads from 1 on, with no limit of billing by the request', () => {
    expect(tables).toHaveLength(tableNames.length);
    for (const table of tables) {
      const scaled = (MinCapacity: number) => ({
        ...{ MinCapacity, MaxCapacity: 4_000, SeedCapacity: 20 },
        TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 },
      });
      expect(table).toMatchObject({
        BillingMode: 'PROVISIONED',
        WriteProvisionedThroughputSettings: { WriteCapacityAutoScalingSettings: scaled(20) },
        Replicas: [{ ReadProvisionedThroughputSettings: { ReadCapacityAutoScalingSettings: scaled(1) } }],
      });
      expect(JSON.stringify(table)).not.toMatch(/OnDemandThroughput|WarmThroughput/);
    }
    expect(provisioned.findings).toEqual([]);
  });

  it('keeps every other property of its tables, so that a stage may change how it is billed', () => {
    const rest = (one: Readonly<Record<string, unknown>>) => {
      const {
        BillingMode,
        WarmThroughput,
        WriteOnDemandThroughputSettings,
        WriteProvisionedThroughputSettings,
        ...same
      } = one as Record<string, unknown> & { Replicas: readonly Record<string, unknown>[] };
      const [replica] = same.Replicas as [Record<string, unknown>];
      const { ReadOnDemandThroughputSettings, ReadProvisionedThroughputSettings, ...sameReplica } = replica;
      return { ...same, Replicas: [sameReplica] };
    };
    const usual = resourcesOf(synthesizeStage('prod').data, 'AWS::DynamoDB::GlobalTable');
    expect(tables.map(rest)).toEqual(usual.map(({ Properties }) => rest(Properties)));
  });
});

describe('the first deployment of a stage that retains', () => {
  const first = synthesizeStage('prod', {}, { firstDeployment: true });

  it('can be removed by CloudFormation when it fails: nothing is protected, and what it created is not kept', () => {
    expect(first.terminationProtection).toBe(false);
    for (const type of [
      'AWS::DynamoDB::GlobalTable',
      'AWS::S3::Bucket',
      'AWS::KMS::Key',
      'AWS::SecretsManager::Secret',
    ]) {
      const resources = resourcesOf(first.data, type);
      expect(resources.length).toBeGreaterThan(0);
      for (const { DeletionPolicy } of resources) expect(DeletionPolicy).toBe('RetainExceptOnCreate');
    }
    expect(JSON.stringify(first.data.toJSON())).not.toContain('"DeletionProtectionEnabled":true');
  });

  it('differs from the next one in protection only', () => {
    const text = JSON.stringify(first.data.toJSON()).replaceAll(
      '"DeletionProtectionEnabled":false',
      '"DeletionProtectionEnabled":true',
    );
    expect(JSON.parse(text)).toEqual(synthesizeStage('prod').data.toJSON());
  });
});

const adopted = {
  keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0d1f6c6e-0b1e',
  secretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:gw/prod/providers-a1B2c3',
};
describe('a stage that adopts what a former deployment left behind', () => {
  const { api, data, findings } = synthesizeStage('prod', { adopt: adopted });

  it('creates neither key nor secret, and gives the key the alias by which the functions know it', () => {
    data.resourceCountIs('AWS::KMS::Key', 0);
    data.resourceCountIs('AWS::SecretsManager::Secret', 0);
    data.hasResourceProperties('AWS::KMS::Alias', {
      AliasName: 'alias/gw-prod-connections',
      TargetKeyId: adopted.keyArn,
    });
    expect(findings).toEqual([]);
  });

  it('has the api stack of any other stage of its name: key and secret may change without it', () => {
    expect(api.toJSON()).toEqual(synthesizeStage('prod').api.toJSON());
  });

  it('keeps the place of the alias, so that a stage may adopt its own key later', () => {
    const aliases = [data, synthesizeStage('prod').data].map((stack) => resourcesOf(stack, 'AWS::KMS::Alias')[0]?.id);
    expect(aliases[0]).toBe(aliases[1]);
  });
});

const importsIn = '123456789012/eu-west-1';
describe.each([
  ['adopts what a former one left behind', { adopt: adopted }, {}],
  ['imports what stands there (--adopt)', {}, { importsIn }],
])('a first deployment that %s', (_what, settings, options) => {
  const { data, terminationProtection } = synthesizeStage('prod', settings, { ...options, firstDeployment: true });
  const resources = [...resourcesOf(data, 'AWS::DynamoDB::GlobalTable'), ...resourcesOf(data, 'AWS::S3::Bucket')];

  it('never deletes tables and bucket, not even when it fails, and protects its tables, but not the stack that is left', () => {
    expect(resources).toHaveLength(tableNames.length + 1);
    for (const { DeletionPolicy } of resources) expect(DeletionPolicy).toBe('Retain');
    expect(JSON.stringify(data.toJSON())).not.toContain('"DeletionProtectionEnabled":false');
    expect(terminationProtection).toBe(false);
  });
});

it('a deployment that imports names tables and bucket by literals: CloudFormation imports nothing whose name it has to work out', () => {
  const { data } = synthesizeStage('prod', {}, { importsIn, firstDeployment: true });
  const imported = [...resourcesOf(data, 'AWS::DynamoDB::GlobalTable'), ...resourcesOf(data, 'AWS::S3::Bucket')];
  expect(imported.map(({ Properties }) => Properties.TableName ?? Properties.BucketName)).toEqual([
    ...tableNames.map((table) => physicalTableName('prod', table)),
    'gw-prod-spill-123456789012-eu-west-1',
  ]);
});

const tagsOf = (stage: string) => [
  { Key: 'application', Value: 'gw' },
  { Key: 'stage', Value: stage },
];

describe('the settings of prod', () => {
  it('protect its data in every way there is', () => {
    expect(stageSettings.prod).toMatchObject({
      removal: 'retain',
      pointInTimeRecovery: true,
      deletionProtection: true,
      terminationProtection: true,
    });
  });

  it('spread tables that every call writes over sixteen partitions from the first second on', () => {
    expect(stageSettings.prod?.tableWarmWritesPerSecond).toBe(16_000);
  });
});

describe('the settings of every stage', () => {
  it('open no model of Bedrock, and reserve what its functions may run at once, until the settings say otherwise', () => {
    let reserved = 0;
    for (const settings of Object.values(stageSettings)) {
      const { bedrockRegions, gatewayReservedConcurrency, modelsReservedConcurrency } = settings;
      expect(bedrockRegions).toEqual([]);
      for (const one of [gatewayReservedConcurrency, modelsReservedConcurrency]) {
        expect(one).toBeGreaterThan(0);
        reserved += Number(one);
      }
    }
    // All reservations fit into Lambda's default quota of 1,000, which leaves 100 for functions that reserve nothing.
    expect(reserved).toBeLessThanOrEqual(900);
  });
});

// Removals between releases: a retained resource stays outside of the stack, and a property may keep its former value.
// `released/` has the resources of the last release; GW_RECORD_RELEASE=1 writes it anew.
interface Resource {
  readonly Type: string;
  readonly Properties?: unknown;
  readonly DeletionPolicy?: string;
}
type Resources = Readonly<Record<string, Resource>>;

const isRetained = ({ DeletionPolicy }: Resource) => DeletionPolicy?.startsWith('Retain') === true;

/** Returns retained resources by id and type, and properties of any resource by path, that are missing in `next`. */
function vanished(former: Resources, next: Resources): string[] {
  return Object.entries(former).flatMap(([id, resource]) => {
    const successor = next[id];
    if (successor === undefined) return isRetained(resource) ? [`${id} (${resource.Type})`] : [];
    return missingMembers(resource.Properties, successor.Properties, id);
  });
}

function missingMembers(former: unknown, next: unknown, path: string): string[] {
  if (typeof former !== 'object' || former === null) return next === undefined ? [path] : [];
  // An intrinsic function of CloudFormation counts as one value.
  if (Object.keys(former).some((name) => name === 'Ref' || name.startsWith('Fn::')))
    return next === undefined ? [path] : [];
  if (typeof next !== 'object' || next === null) return [path];
  return Object.entries(former).flatMap(([name, value]) =>
    missingMembers(value, (next as Record<string, unknown>)[name], `${path}.${name}`),
  );
}

const resourcesIn = (
  settings: Parameters<typeof synthesizeStage>[1] = {},
  more: Parameters<typeof synthesizeStage>[2] = {},
) => synthesizeStage('prod', settings, more).data.toJSON().Resources as Resources;
const retained = (resources: Resources): Resources =>
  Object.fromEntries(Object.entries(resources).filter(([, resource]) => isRetained(resource)));

const current = resourcesIn();
const recordPath = join(import.meta.dirname, 'released/data-stack-of-prod.json');
if (process.env.GW_RECORD_RELEASE === '1') writeFileSync(recordPath, `${JSON.stringify(retained(current), null, 2)}\n`);
const releasedResources = JSON.parse(readFileSync(recordPath, 'utf8')) as Resources;

describe('two releases of a stage that retains', () => {
  it('nothing that the last release keeps is gone from this one, and no property of it', () => {
    expect(Object.keys(releasedResources).length).toBeGreaterThan(10);
    expect(vanished(releasedResources, retained(current))).toEqual([]);
  });

  it('a release with one more table takes nothing away, and a roll-back across it leaves that table behind', () => {
    const older = resourcesIn({}, { withoutTables: ['spans'] });
    expect(vanished(older, current)).toEqual([]);
    expect(vanished(current, older)).toEqual([expect.stringMatching(/^Tablespans\w+ \(AWS::DynamoDB::GlobalTable\)$/)]);
    const [id = ''] = Object.keys(current).filter((known) => older[known] === undefined);
    expect(current[id]?.Properties).toMatchObject({ TableName: physicalTableName('prod', 'spans') });
  });

  it.each<[string, object, object]>([
    ['a limit on reads and writes is lifted', { tableReadsPerSecondMax: 500, tableWritesPerSecondMax: 500 }, {}],
    ['recovery is switched off', {}, { pointInTimeRecovery: false }],
    ['protection is switched off', {}, { deletionProtection: false, terminationProtection: false }],
    ['account and region are named', {}, { account: '111122223333', region: 'eu-west-1' }],
  ])('no property vanishes if %s: it may keep its former value', (_change, former, next) => {
    expect(vanished(resourcesIn(former), resourcesIn(next))).toEqual([]);
  });
});

// Every resource of every stage is checked against CloudFormation's own resource types: it has no unknown property and
// every required one. CloudFormation would report the same during a deployment.
describe('the specification', () => {
  interface Resource {
    readonly Type: string;
    readonly Properties?: unknown;
  }

  const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/3f1c0b1e';
  const spec = loadAwsServiceSpecSync();
  const findType = (type: string) => spec.lookup('resource', 'cloudFormationType', 'equals', type)[0];
  type ResourceProperties = NonNullable<ReturnType<typeof findType>>['properties'];
  type PropertyType = ResourceProperties[string]['type'];

  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  /** Returns whether the value is an intrinsic function, which CloudFormation replaces by a value of any type. */
  const isIntrinsic = (value: unknown): boolean =>
    isObject(value) && Object.keys(value).length === 1 && /^(Ref|Fn::.+)$/.test(String(Object.keys(value)[0]));

  function checkProperties(properties: ResourceProperties, value: unknown, path: string): string[] {
    if (isIntrinsic(value)) return [];
    if (!isObject(value)) return [`${path} must be an object`];
    const missing = Object.entries(properties)
      .filter(([name, { required }]) => required === true && value[name] === undefined)
      .map(([name]) => `${path}.${name} is missing`);
    const present = Object.entries(value).flatMap(([name, member]) => {
      const property = properties[name];
      return property === undefined
        ? [`${path}.${name} does not exist`]
        : checkType(property.type, member, `${path}.${name}`);
    });
    return [...missing, ...present];
  }

  function checkType(type: PropertyType, value: unknown, path: string): string[] {
    if (isIntrinsic(value)) return [];
    switch (type.type) {
      case 'ref':
        return checkProperties(spec.get('typeDefinition', type.reference.$ref).properties, value, path);
      case 'array':
        if (!Array.isArray(value)) return [`${path} must be a list`];
        return value.flatMap((element, index) => checkType(type.element, element, `${path}[${index}]`));
      case 'map':
        if (!isObject(value)) return [`${path} must be an object`];
        return Object.entries(value).flatMap(([name, element]) => checkType(type.element, element, `${path}.${name}`));
      case 'union': {
        const problems = type.types.map((one) => checkType(one, value, path));
        return problems.some(({ length }) => length === 0) ? [] : (problems[0] ?? []);
      }
      case 'boolean':
      case 'number':
        return typeof value === type.type ? [] : [`${path} must be a ${type.type}`];
      case 'integer':
        return Number.isInteger(value) ? [] : [`${path} must be a whole number`];
      case 'string':
        return typeof value === 'string' ? [] : [`${path} must be a text`];
      default:
        return [];
    }
  }

  function checkResource(id: string, { Type, Properties = {} }: Resource): string[] {
    if (Type.startsWith('Custom::')) return [];
    const known = findType(Type);
    return known === undefined
      ? [`${Type} does not exist`]
      : checkProperties(known.properties, Properties, `${id} (${Type})`);
  }

  const checkTemplate = (template: Template): string[] =>
    Object.entries(template.toJSON().Resources as Record<string, Resource>).flatMap(([id, one]) =>
      checkResource(id, one),
    );

  describe('the resources', () => {
    it.each(Object.keys(stageSettings))('of %s have the properties that CloudFormation knows and requires', (stage) => {
      const { data, api } = synthesizeStage(stage);
      expect([...checkTemplate(data), ...checkTemplate(api)]).toEqual([]);
    });

    it('of a stage with every setting that adds resources are as complete', () => {
      const { data, api } = synthesizeStage('prod', {
        alarmEmail: 'operator@example.com',
        gatewayReservedConcurrency: 50,
        originSecrets: [2, 1],
        webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gw/3f1c0b1e',
        customDomain: {
          domainNames: ['llm.example.com'],
          certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/3f1c0b1e',
        },
        adopt: { keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0d1f', secretArn: null },
      });
      expect([...checkTemplate(data), ...checkTemplate(api)]).toEqual([]);
    });

    it.each<[string, Partial<StageSettings>]>([
      ['behind a distribution', { console: true, consoleSharesTaskRole: true }],
      [
        'on the private way, in a given network',
        {
          edge: 'none',
          customDomain: { domainNames: ['llm.example.com'], certificateArn },
          vpc: {
            id: 'vpc-0123456789abcdef0',
            subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
            availabilityZones: ['eu-west-1a', 'eu-west-1b'],
          },
        },
      ],
    ])('of tasks %s are as complete', (_case, more) => {
      const { api } = synthesizeStage('prod', { compute: 'container', ...more });
      expect(checkTemplate(api)).toEqual([]);
    });
  });
});

describe('a stage on restored tables', () => {
  const suffix = '-then';
  const recovered = tableNames.filter((table) => !unrecoveredTables.has(table));
  const tablesOf = (options = {}) => {
    const { data, findings } = synthesizeStage('prod', { tableSuffix: suffix }, options);
    expect(findings).toEqual([]);
    return new Map(
      resourcesOf(data, 'AWS::DynamoDB::GlobalTable').map((one) => [String(one.Properties.TableName), one]),
    );
  };

  it('names those that have recovery with the suffix, as other resources than the former ones, and gives them all that the former had', () => {
    const [template, then] = [synthesizeStage('prod').data, tablesOf()];
    expect([...then.keys()].toSorted()).toEqual(
      tableNames.map((table) => `gw-prod-${table}${recovered.includes(table) ? suffix : ''}`).toSorted(),
    );
    for (const former of resourcesOf(template, 'AWS::DynamoDB::GlobalTable')) {
      const name = String(former.Properties.TableName);
      const restored = then.get(name + suffix);
      if (restored === undefined) continue;
      expect(restored.id).not.toBe(former.id);
      expect(restored.DeletionPolicy).toBe(former.DeletionPolicy);
      expect({ ...restored.Properties, TableName: name }).toEqual(former.Properties);
    }
  });

  it('are taken over as DynamoDB has made them first, so that the next run changes them', () => {
    for (const [name, { Properties, DeletionPolicy }] of tablesOf({
      isImportingRestored: true,
      importsIn: '111122223333/eu-west-1',
    })) {
      expect(DeletionPolicy).toBe('Retain');
      if (!name.endsWith(suffix)) continue;
      const text = JSON.stringify(Properties);
      expect(text).not.toMatch(
        /TimeToLive|WarmThroughput|"PointInTimeRecoveryEnabled":true|"DeletionProtectionEnabled":true/,
      );
    }
  });

  it('has functions that read and write these tables alone, and alarms that watch them', () => {
    const { api } = synthesizeStage('prod', { tableSuffix: suffix, console: true });
    api.hasOutput('TableSuffix', { Value: suffix });
    for (const { id, Properties } of resourcesOf(api, 'AWS::Lambda::Function')) {
      if (!/^(ChatCompletions|Models|Operator)/.test(id)) continue;
      expect(Properties.Environment).toMatchObject({ Variables: { GW_TABLE_SUFFIX: suffix } });
    }
    const text = JSON.stringify(api.toJSON());
    for (const table of recovered) {
      expect(text).not.toMatch(new RegExp(`(?<!alias/)gw-prod-${table}(?!${suffix})["\\\\]`));
      expect(text).toContain(`gw-prod-${table}${suffix}`);
    }
    expect(JSON.stringify(synthesizeStage('prod').api.toJSON())).not.toContain('GW_TABLE_SUFFIX');
  });
});
