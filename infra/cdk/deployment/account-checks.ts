// Requirements on account and region, checked within seconds before anything is built: CloudFormation would fail half
// an hour later, after it has created and removed the rest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetPolicyCommand, IAMClient } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { AwsAccount } from '../aws-account.ts';
import { usualQualifier } from '../resource-names.ts';
import { defaultAccountConcurrency, operatorConcurrency, type StageSettings } from '../settings-schema.ts';
import { type AllowedCalls, isRefusal, unlessAbsent } from './allowed-calls.ts';
import type { StageOwnership } from './orphans.ts';

type StackOutputs = Readonly<Record<string, string>>;

/**
 * Regions that AWS documents as without function URLs (November 2026). No call returns them: regions that AWS adds are
 * not refused.
 */
const regionsWithoutUrls: readonly string[] = [
  'ap-east-2',
  'ap-south-2',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
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

export function checkRegion(
  stage: string,
  { compute }: StageSettings,
  { region, partition }: Pick<AwsAccount, 'region' | 'partition'>,
): void {
  if (partition !== 'aws') {
    throw new Error(
      `region ${region} is in the partition ${partition} of AWS, where stage ${stage} cannot be: its policies, URLs and CloudFront are those of the partition aws`,
    );
  }
  if (compute === 'functions' && regionsWithoutUrls.includes(region)) {
    throw new Error(
      `region ${region} has no Lambda function URLs, which stage ${stage} streams through: choose another`,
    );
  }
}

interface AccountConcurrency {
  /** Lambda's quota, where it is not the default one that a template without settings has. */
  readonly accountConcurrency?: number;
  /** Note for the operator, where the quota is small. */
  readonly note?: string;
}

/**
 * Throws where the stage cannot be deployed with the quota and the reservations of other functions. `deployed`: outputs
 * of its api stack.
 */
export async function checkConcurrency(
  { clientOptions }: Pick<AwsAccount, 'clientOptions'>,
  { stage, settings, deployed }: Pick<StageOwnership, 'stage' | 'settings'> & { readonly deployed: StackOutputs },
  allowed: AllowedCalls,
): Promise<AccountConcurrency> {
  if (settings.compute === 'container') return {};
  const lambda = new LambdaClient(clientOptions);
  const answer = await allowed.try('lambda:GetAccountSettings', () => lambda.send(new GetAccountSettingsCommand({})));
  const quota = answer?.AccountLimit?.ConcurrentExecutions;
  if (quota === undefined) return {};
  const { gatewayReservedConcurrency: chat, modelsReservedConcurrency: models } = settings;
  const reserved = (chat ?? 0) + (models ?? 0) + (operatorConcurrency(settings) ?? 0);
  const raise = `raise Lambda's quota "Concurrent executions" (Service Quotas, L-B99A9384)`;
  const { UnreservedConcurrentExecutions: unreserved = quota } = answer?.AccountLimit ?? {};
  if (reserved > 0) {
    const reservedByStage = await reservedNow(lambda, deployed, allowed);
    const others = quota - unreserved - reservedByStage;
    if (reserved > quota - others - unreservedMin) {
      throw new Error(
        `stage ${stage} reserves ${reserved} concurrent executions, other functions ${others}, and of ${quota} in this account and region ${unreservedMin} must stay unreserved: ${raise}, or lower gatewayReservedConcurrency (null for this and modelsReservedConcurrency: none)`,
      );
    }
  }
  const { accountConcurrency: wanted } = settings;
  const notes = [
    ...(quota < executionsForUse ? [`only ${quota} calls run at once in this account: ${raise}`] : []),
    ...(wanted !== undefined && wanted > quota ? [`the settings name ${wanted}, and the account has ${quota}`] : []),
  ];
  return {
    ...(wanted === undefined && quota !== defaultAccountConcurrency ? { accountConcurrency: quota } : {}),
    ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
  };
}

/** Reservations of the deployed stage's functions, which a deployment replaces. */
async function reservedNow(lambda: LambdaClient, deployed: StackOutputs, allowed: AllowedCalls): Promise<number> {
  const names = ['ChatFunctionName', 'ModelsFunctionName', 'OperatorFunctionName'].flatMap(
    (key) => deployed[key] ?? [],
  );
  const answers = await Promise.all(
    names.map((FunctionName) =>
      allowed.try('lambda:GetFunctionConcurrency', () =>
        unlessAbsent(lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))),
      ),
    ),
  );
  return answers.reduce((sum, answer) => sum + (answer?.ReservedConcurrentExecutions ?? 0), 0);
}

/** A boundary that does not exist fails the first role, in the middle of the deployment. */
export async function checkBoundary(
  { account, partition, clientOptions }: AwsAccount,
  { permissionsBoundary: name }: StageSettings,
  allowed: AllowedCalls,
): Promise<void> {
  if (name === undefined) return;
  const PolicyArn = `arn:${partition}:iam::${account}:policy/${name}`;
  const found = await allowed.try('iam:GetPolicy', async () => ({
    policy: await unlessAbsent(new IAMClient(clientOptions).send(new GetPolicyCommand({ PolicyArn }))),
  }));
  if (found !== undefined && found.policy === undefined) {
    throw new Error(`permissionsBoundary: there is no policy ${PolicyArn}`);
  }
}

/** The qualifier of cdk.json, which cdk reads itself, where the settings name none. */
function qualifierOf({ bootstrapQualifier }: StageSettings): string {
  const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../cdk.json'), 'utf8')) as CdkJson;
  return bootstrapQualifier ?? context?.['@aws-cdk/core:bootstrapQualifier'] ?? usualQualifier;
}

interface CdkJson {
  readonly context?: Readonly<Record<string, string | undefined>>;
}

/** The roles that cdk works through were made by `cdk bootstrap`. */
export async function checkBootstrap(
  { account, region, partition, clientOptions, readStack }: AwsAccount,
  settings: StageSettings,
  allowed: AllowedCalls,
): Promise<void> {
  const qualifier = qualifierOf(settings);
  const images = settings.compute === 'container' ? ['image-publishing-role'] : [];
  const sts = new STSClient(clientOptions);
  for (const role of ['deploy-role', 'file-publishing-role', ...images]) {
    const name = `cdk-${qualifier}-${role}-${account}-${region}`;
    try {
      const RoleArn = `arn:${partition}:iam::${account}:role/${name}`;
      await sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: `${brand}-deploy` }));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // IAM refuses a role that does not exist in the same words.
      const isOwn = qualifier !== usualQualifier;
      const toolkit = isOwn
        ? undefined
        : await allowed.try('cloudformation:DescribeStacks', () => readStack('CDKToolkit'));
      if (toolkit === undefined) {
        const command = `npx cdk bootstrap aws://${account}/${region}${isOwn ? ` --qualifier ${qualifier}` : ''}`;
        const orRight = isOwn ? `, or this identity may not assume ${name}` : '';
        throw new Error(`this region is not bootstrapped${isOwn ? ` with ${qualifier}` : ''}: ${command}${orRight}`);
      }
      allowed.refuse(`sts:AssumeRole on ${name}`);
    }
  }
}
