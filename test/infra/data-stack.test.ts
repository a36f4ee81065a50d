import { describe, expect, it } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import {
  physicalTableName,
  type TableDefinition,
  tableDefinitions,
  tableNames,
} from '../../shared/foundation/constants/index.ts';
import { blobLifeSeconds } from '../../shared/storage/blobs/index.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

describe.each(Object.keys(stageSettings))('the data stack of %s', (stage) => {
  const { data, settings, terminationProtection, findings } = synthesizeStage(stage);
  const deletionPolicy = settings.removal === 'retain' ? 'Retain' : 'Delete';

  it.each(tableNames)(
    'keeps table %s as the stage says, on demand, with the keys and the time to live its readers expect',
    (table) => {
      const { timeToLiveAttribute, partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
      data.hasResource('AWS::DynamoDB::GlobalTable', {
        DeletionPolicy: deletionPolicy,
        UpdateReplacePolicy: deletionPolicy,
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
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: settings.pointInTimeRecovery },
              DeletionProtectionEnabled: settings.deletionProtection,
              ReadOnDemandThroughputSettings:
                settings.tableReadsPerSecondMax === null
                  ? Match.absent()
                  : { MaxReadRequestUnits: settings.tableReadsPerSecondMax },
            }),
          ],
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
        Rules: [
          {
            Status: 'Enabled',
            ExpirationInDays: Math.ceil(blobLifeSeconds / 86_400) + 1,
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          },
        ],
      },
    });
    const [policy] = resourcesOf(data, 'AWS::S3::BucketPolicy');
    expect(policy?.Properties.PolicyDocument).toHaveProperty('Statement', [
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({ Effect: 'Deny', Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }),
    ]);
  });

  it('keeps one master key for sealed BYOK keys, rotated, under a name the operator knows', () => {
    const [key, ...others] = resourcesOf(data, 'AWS::KMS::Key');
    expect(others).toEqual([]);
    expect(key?.Properties).toMatchObject({ EnableKeyRotation: true });
    expect(key?.DeletionPolicy).toBe(deletionPolicy);
    data.hasResourceProperties('AWS::KMS::Alias', { AliasName: `alias/gw-${stage}-connections` });
  });

  it('is protected from being deleted as a whole where the stage says so', () => {
    expect(terminationProtection).toBe(settings.terminationProtection);
  });

  it('exports nothing that another stack could hold on to', () => {
    expect(JSON.stringify(data.toJSON())).not.toContain('"Export"');
  });

  it('leaves no security finding without a reason', () => {
    expect(findings).toEqual([]);
  });
});

describe('the settings of prod', () => {
  it('protect its data in every way there is', () => {
    expect(stageSettings.prod).toMatchObject({
      removal: 'retain',
      pointInTimeRecovery: true,
      deletionProtection: true,
      terminationProtection: true,
    });
  });
});
