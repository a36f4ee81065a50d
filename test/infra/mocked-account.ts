// The answers of an AWS account to deployment scripts, by the SDK's own mock. Before each test of a file that uses it,
// the account has no stacks, is bootstrapped, and has Lambda's default quota.
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { DescribeAvailabilityZonesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { KMSClient } from '@aws-sdk/client-kms';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetResourcesCommand, ResourceGroupsTaggingAPIClient } from '@aws-sdk/client-resource-groups-tagging-api';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach } from '#jest';
import { tableNames } from '../../shared/foundation/constants/index.ts';

export const account = '111122223333';
export const region = 'eu-west-1';

export const refusal = (status = 400) =>
  Object.assign(new Error('not authorized'), { name: 'AccessDeniedException', $metadata: { httpStatusCode: status } });
const notFound = Object.assign(new Error('NotFound'), { name: 'NotFound', $metadata: { httpStatusCode: 404 } });
const noStack = ({ StackName }: { StackName: string }): never => {
  const message = `Stack with id ${StackName} does not exist`;
  throw new CloudFormationServiceException({ name: 'ValidationError', message, $fault: 'client', $metadata: {} });
};

export const allTables = tableNames.map((table) => `gw-prod-${table}`);

/** Returns a region's zones, whose ids begin with the prefix. Another account has other names for them. */
export const zonesOf = (prefix: string, inRegion: string) =>
  ['a', 'b', 'c', 'd'].map((letter, at) => ({
    ZoneName: `${inRegion}${letter}`,
    ZoneId: `${prefix}-az${at + 1}`,
    State: 'available' as const,
  }));

export function mockAccount() {
  const mocks = {
    sts: mockClient(STSClient),
    cloudFormation: mockClient(CloudFormationClient),
    dynamo: mockClient(DynamoDBClient),
    s3: mockClient(S3Client),
    secrets: mockClient(SecretsManagerClient),
    tags: mockClient(ResourceGroupsTaggingAPIClient),
    kms: mockClient(KMSClient),
    lambda: mockClient(LambdaClient),
    iam: mockClient(IAMClient),
    ec2: mockClient(EC2Client),
    quotas: mockClient(ServiceQuotasClient),
  };
  beforeEach(() => {
    for (const mock of Object.values(mocks)) mock.reset();
    const { sts, cloudFormation, dynamo, s3, secrets, tags, lambda, iam, ec2, quotas } = mocks;
    tags.on(GetResourcesCommand).resolves({ ResourceTagMappingList: [] });
    iam.on(GetRoleCommand).resolves({});
    ec2.on(DescribeAvailabilityZonesCommand).resolves({ AvailabilityZones: zonesOf('euw1', region) });
    quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: 100 } });
    sts.on(GetCallerIdentityCommand).resolves({ Account: account, Arn: `arn:aws:iam::${account}:user/operator` });
    sts.on(AssumeRoleCommand).resolves({});
    cloudFormation.on(DescribeStacksCommand).callsFake(noStack);
    dynamo.on(DescribeTableCommand).rejects(new ResourceNotFoundException({ message: 'none', $metadata: {} }));
    s3.on(HeadBucketCommand).rejects(notFound);
    secrets
      .on(DescribeSecretCommand)
      .rejects(Object.assign(new Error('none'), { name: 'ResourceNotFoundException', $metadata: {} }));
    lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 } });
  });

  afterAll(() => {
    for (const mock of Object.values(mocks)) mock.restore();
  });

  const haveTable = (TableName: string) =>
    mocks.dynamo.on(DescribeTableCommand, { TableName }).resolves({ Table: { TableName, TableStatus: 'ACTIVE' } });
  const haveStack = (StackName: string, tables: readonly string[], outputs: Readonly<Record<string, string>> = {}) => {
    const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
    const stack = { StackName, StackStatus: 'UPDATE_COMPLETE' as const, CreationTime: new Date(0), Outputs };
    mocks.cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({ Stacks: [stack] });
    mocks.cloudFormation.on(ListStackResourcesCommand, { StackName }).resolves({
      StackResourceSummaries: tables.map((name) => ({
        LogicalResourceId: name,
        PhysicalResourceId: name,
        ResourceType: 'AWS::DynamoDB::GlobalTable',
        ResourceStatus: 'CREATE_COMPLETE' as const,
        LastUpdatedTimestamp: new Date(0),
      })),
    });
  };
  /** Returns every operation that was sent to the account, by service. */
  const askedOperations = (): string[] =>
    Object.values(mocks).flatMap((mock) => mock.calls().map(({ args: [command] }) => command.constructor.name));
  return { mocks, haveTable, haveStack, askedOperations };
}

/** Runs the work with the variables of a signed-in shell. */
export async function inShell<Result>(work: () => Promise<Result>, AWS_REGION = region): Promise<Result> {
  const variables = { ...process.env };
  Object.assign(process.env, { AWS_REGION, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
  try {
    return await work();
  } finally {
    process.env = variables;
  }
}
