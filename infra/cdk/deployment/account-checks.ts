// What an account and a region must offer before anything is built: found here within seconds, and by CloudFormation half
// an hour later, after it has created and removed the rest.
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { AwsAccount } from '../aws-account.ts';
import { operatorConcurrency, type StageSettings } from '../settings-schema.ts';
import { type AllowedCalls, isRefusal } from './allowed-calls.ts';

/** Documented by AWS as without function URLs (November 2026). No call tells it: regions that AWS adds are not refused. */
const regionsWithoutUrls: readonly string[] = [
  'ap-south-2',
  'ap-southeast-4',
  'ca-west-1',
  'eu-central-2',
  'eu-south-2',
  'il-central-1',
  'me-central-1',
];
/** Lambda keeps them for functions that reserve none. */
const unreservedMin = 100;
/** Below it a stage answers a few calls a second at most. */
const executionsForUse = 100;

export function checkRegion(stage: string, { compute }: StageSettings, region: string): void {
  if (compute === 'functions' && regionsWithoutUrls.includes(region)) {
    throw new Error(
      `region ${region} has no Lambda function URLs, which stage ${stage} streams through: choose another`,
    );
  }
}

/** Gives a line for the operator where the quota is small. Throws where the stage cannot be deployed with it. */
export async function checkConcurrency(
  { clientOptions }: Pick<AwsAccount, 'clientOptions'>,
  stage: string,
  settings: StageSettings,
  allowed: AllowedCalls,
): Promise<string | undefined> {
  if (settings.compute === 'web') return undefined;
  const answer = await allowed.try('lambda:GetAccountSettings', () =>
    new LambdaClient(clientOptions).send(new GetAccountSettingsCommand({})),
  );
  const quota = answer?.AccountLimit?.ConcurrentExecutions;
  if (quota === undefined) return undefined;
  const { chatReservedConcurrency: chat, modelsReservedConcurrency: models } = settings;
  const reserved = (chat ?? 0) + (models ?? 0) + (operatorConcurrency(settings) ?? 0);
  const raise = `raise Lambda's quota "Concurrent executions" (Service Quotas, L-B99A9384)`;
  if (reserved > 0 && reserved > quota - unreservedMin) {
    throw new Error(
      `stage ${stage} reserves ${reserved} concurrent executions, and of ${quota} in this account ${unreservedMin} must stay unreserved: ${raise}, or lower chatReservedConcurrency (null: none)`,
    );
  }
  return quota < executionsForUse ? `only ${quota} calls run at once in this account: ${raise}` : undefined;
}

/** The roles that cdk works through were made by `cdk bootstrap`. */
export async function checkBootstrap(
  { account, region, partition, clientOptions, readStack }: AwsAccount,
  allowed: AllowedCalls,
): Promise<void> {
  const sts = new STSClient(clientOptions);
  for (const role of ['deploy-role', 'file-publishing-role']) {
    const name = `cdk-hnb659fds-${role}-${account}-${region}`;
    try {
      const RoleArn = `arn:${partition}:iam::${account}:role/${name}`;
      await sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: `${brand}-deploy` }));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // IAM refuses a role that does not exist in the same words.
      const toolkit = await allowed.try('cloudformation:DescribeStacks', () => readStack('CDKToolkit'));
      if (toolkit === undefined) {
        throw new Error(`this region is not bootstrapped: npx cdk bootstrap aws://${account}/${region}`);
      }
      allowed.refuse(`sts:AssumeRole on ${name}`);
    }
  }
}
