// Makes every check before a deployment builds anything. No check changes anything.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeAvailabilityZonesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetPolicyCommand, GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { AwsAccount, StackResource } from '../aws-account.ts';
import { tasksDefault } from '../constructs/task-size.ts';
import {
  apiStackName,
  commitOutput,
  computeOutput,
  dataStackName,
  tableSuffixOutput,
  usualQualifier,
} from '../resource-names.ts';
import { defaultAccountConcurrency, operatorConcurrency, type StageSettings } from '../settings-schema.ts';
import type { ComputeKind, DeploymentChange, ThisDeployment } from '../this-deployment.ts';
import { zonesByRegion } from '../zones.ts';
import { planOriginChange } from './accepted-origins.ts';
import { AllowedCalls, isRefusal, unlessAbsent } from './allowed-calls.ts';
import { describeStepBack } from './commit.ts';
import type { DeployOptions } from './deploy-options.ts';
import { findOrphans, leftBehind, refuseOrphans, restoredTables, type StageOwnership } from './orphans.ts';

interface Findings {
  /** Status of the data stack; undefined when it does not exist yet. */
  readonly dataStackStatus: string | undefined;
  /** Notes for the operator. */
  readonly notes: readonly string[];
  /** Effects of this deployment that the operator must confirm, each a sentence without its subject. */
  readonly questions: readonly string[];
  /** Next steps, printed at the end. */
  readonly next: readonly string[];
  readonly deployment: ThisDeployment;
}

/** Makes all checks. Throws an Error with one line for a fault that would stop the deployment later. */
export async function checkBeforeDeployment(
  aws: AwsAccount,
  { stage, settings, isAdopting }: Pick<DeployOptions, 'stage' | 'settings' | 'isAdopting'>,
): Promise<Findings> {
  checkRegion(stage, settings, aws);
  const allowed = new AllowedCalls();
  const [data, api] = await Promise.all([
    readStack(aws, dataStackName(stage), allowed),
    readStack(aws, apiStackName(stage), allowed),
  ]);
  const resources = [...data.resources, ...api.resources];
  const [orphans, { note, accountConcurrency }, notes] = await Promise.all([
    findOrphans(aws, { stage, settings, resources }, allowed),
    checkConcurrency(aws, { stage, settings, deployed: api.stack?.outputs ?? {} }, allowed),
    checkTasks(aws, settings, allowed),
    checkBootstrap(aws, settings, allowed),
    checkBoundary(aws, settings, allowed),
  ]);
  allowed.check();
  const outputs = api.stack?.outputs;
  const restored = restoredTables(orphans, { stage, settings, resources });
  refuseOrphans(
    orphans.filter((orphan) => !restored.includes(orphan)),
    stage,
    settings,
    isAdopting,
  );
  const changesTables = outputs?.BaseUrl !== undefined && outputs[tableSuffixOutput] !== settings.tableSuffix;
  const orphanNames = leftBehind(stage, settings, resources);
  const originChange = planOriginChange(stage, settings, outputs);
  const computeChange = planComputeChange(stage, settings, outputs);
  const questions = [
    originChange.question,
    computeChange.question,
    describeStepBack(outputs?.[commitOutput]),
    changesTables
      ? `have ${stage} work on ${settings.tableSuffix === undefined ? 'its own tables' : `the tables that end in ${settings.tableSuffix}`}; the former ones stay, outside of the stack`
      : undefined,
    orphanNames.length === 0
      ? undefined
      : `leave ${orphanNames.join(', ')} behind, outside of the stack (a later deployment takes it over with --adopt)`,
  ];
  return {
    dataStackStatus: data.stack?.status,
    deployment: {
      ...(isAdopting ? { importsIn: `${aws.account}/${aws.region}` } : {}),
      isImportingRestored: restored.length > 0,
      alsoAccepts: originChange.alsoAccepts,
      alsoRuns: computeChange.alsoRuns,
      // The old and the new version must agree on the tables that they write. Values that a version shares with the
      // edge are read while it runs.
      isAtOnce: changesTables,
      accountConcurrency,
    },
    next: [originChange.next, computeChange.next].filter((line) => line !== undefined),
    notes: [...(note === undefined ? [] : [note]), ...notes],
    questions: questions.filter((question) => question !== undefined),
  };
}

async function readStack(aws: AwsAccount, name: string, allowed: AllowedCalls) {
  const stack = await allowed.try('cloudformation:DescribeStacks', () => aws.readStack(name));
  const none: StackResource[] = [];
  if (stack === undefined) return { stack, resources: none };
  const resources = await allowed.try('cloudformation:ListStackResources', () => aws.readResources(name));
  return { stack, resources: resources ?? none };
}

// Plans the change of a stage between functions and tasks. The running functions or tasks stay for one deployment in
// addition to the new resources, and the next deployment removes them. Calls in flight can therefore end in the process
// that serves them.

const names: Readonly<Record<ComputeKind, string>> = { functions: 'the functions', container: 'the tasks' };

/**
 * Plans the change of compute. `outputs` are the outputs of the deployed api stack, undefined if it is not deployed.
 */
export function planComputeChange(
  stage: string,
  settings: Pick<StageSettings, 'compute' | 'edge' | 'customDomain'>,
  outputs: Readonly<Record<string, string>> | undefined,
): DeploymentChange {
  if (outputs?.BaseUrl === undefined) return {};
  // Stages that are older than the output had functions.
  const running: ComputeKind = outputs[computeOutput] === 'container' ? 'container' : 'functions';
  const { compute, edge, customDomain } = settings;
  if (running === compute) return {};
  // Without a distribution clients call tasks by names that the new settings no longer have.
  if (running === 'container' && edge === 'none' && customDomain === null) {
    return { question: `end the tasks: clients of ${outputs.BaseUrl} get no answer any more` };
  }
  return {
    alsoRuns: running,
    question: `have ${names[compute]} run new calls; ${names[running]} stay until you deploy once more`,
    next: `${names[running]} are still there. Once no call runs in them: npm run deploy -- --stage ${stage}`,
  };
}

// Checks the requirements of tasks on an account before anything is built: zones that CloudFront reaches, processors,
// and the role of ECS.

type Account = Pick<AwsAccount, 'region' | 'clientOptions'>;

/** Returns lines for the operator. Throws if the tasks could not be deployed. */
async function checkTasks(aws: Account, settings: StageSettings, allowed: AllowedCalls): Promise<string[]> {
  if (settings.compute !== 'container') return [];
  const [notes] = await Promise.all([
    checkProcessors(aws, settings, allowed),
    checkZones(aws, settings, allowed),
    checkClusterRole(aws, allowed),
  ]);
  return notes;
}

async function checkZones({ region, clientOptions }: Account, settings: StageSettings, allowed: AllowedCalls) {
  const { vpc, zones, edge } = settings;
  const answer = await allowed.try('ec2:DescribeAvailabilityZones', () =>
    new EC2Client(clientOptions).send(new DescribeAvailabilityZonesCommand({})),
  );
  if (answer === undefined) return;
  const there = (answer.AvailabilityZones ?? []).filter(({ State }) => State === 'available');
  const idOf = (name: string) => there.find(({ ZoneName }) => ZoneName === name)?.ZoneId;
  const [member, wanted] =
    vpc === undefined
      ? ['zones', zones ?? zonesByRegion[region]?.used ?? []]
      : ['vpc.availabilityZones', vpc.availabilityZones.map((name) => idOf(name) ?? name)];
  const ids = there.map(({ ZoneId = '' }) => ZoneId).toSorted();
  const absent = wanted.filter((id) => !ids.includes(id));
  if (absent.length > 0) {
    throw new Error(
      `${member}: this account has no zone ${absent.join(', ')} in ${region}; it has ${ids.join(', ')}: name two of them`,
    );
  }
  const closedZones = edge === 'cloudfront' ? wanted.filter((id) => zonesByRegion[region]?.refused.includes(id)) : [];
  if (closedZones.length > 0) {
    throw new Error(`${member}: CloudFront reaches no load balancer in zone ${closedZones.join(', ')}: name others`);
  }
}

/** The quota "Fargate On-Demand vCPU resource count". */
const fargateQuota = { ServiceCode: 'fargate', QuotaCode: 'L-3032A538' };
/** A deployment starts as many new tasks as are running. */
const tasksOfDeployment = 2;

async function checkProcessors({ region, clientOptions }: Account, settings: StageSettings, allowed: AllowedCalls) {
  const answer = await allowed.try('servicequotas:GetServiceQuota', () =>
    new ServiceQuotasClient(clientOptions).send(new GetServiceQuotaCommand(fargateQuota)),
  );
  const quota = answer?.Quota?.Value;
  if (quota === undefined) return [];
  const { min, max, cpu } = settings.tasks ?? tasksDefault;
  const [least, most] = [min, max].map((tasks) => (tasks * tasksOfDeployment * cpu) / 1_024) as [number, number];
  const raise = `raise Fargate's quota "On-Demand vCPU resource count" (Service Quotas, ${fargateQuota.QuotaCode})`;
  const has = `in ${region} this account may run ${quota} vCPU on Fargate`;
  if (quota < least) throw new Error(`${has}, and a deployment of ${min} tasks needs ${least}: ${raise}`);
  return quota < most ? [`${has}; a deployment of ${max} tasks, the max of the settings, needs ${most}: ${raise}`] : [];
}

const clusterRole = 'AWSServiceRoleForECS';

/**
 * Checks the role that ECS creates with the first cluster of an account. The service of that cluster fails, because the
 * role does not exist yet.
 */
async function checkClusterRole({ clientOptions }: Account, allowed: AllowedCalls): Promise<void> {
  try {
    await new IAMClient(clientOptions).send(new GetRoleCommand({ RoleName: clusterRole }));
  } catch (error) {
    if ((error as Error).name === 'NoSuchEntityException') {
      throw new Error(
        `this account never used ECS: aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com`,
        { cause: error },
      );
    }
    if (!isRefusal(error)) throw error;
    allowed.refuse('iam:GetRole');
  }
}

// Checks the requirements on account and region within seconds, before anything is built. CloudFormation would fail
// half an hour later, after it has created and removed other resources.

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
/** Executions that Lambda reserves for functions without a reservation. */
const unreservedMin = 100;
/** Executions below which a stage answers at most a few calls a second. */
const executionsForUse = 100;

function checkRegion(
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
  /** Lambda's quota, if it differs from the default of a template without settings. */
  readonly accountConcurrency?: number;
  /** Note for the operator, if the quota is small. */
  readonly note?: string;
}

/**
 * Throws if the stage cannot be deployed with the quota and the reservations of other functions. `deployed` are the
 * outputs of its api stack.
 */
async function checkConcurrency(
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

/** Returns the reservations of the deployed stage's functions, which a deployment replaces. */
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

/** Checks that the permissions boundary exists. Otherwise the first role fails, in the middle of the deployment. */
async function checkBoundary(
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

/** Returns the qualifier of cdk.json, which cdk reads itself, if the settings name none. */
function qualifierOf({ bootstrapQualifier }: StageSettings): string {
  const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../cdk.json'), 'utf8')) as CdkJson;
  return bootstrapQualifier ?? context?.['@aws-cdk/core:bootstrapQualifier'] ?? usualQualifier;
}

interface CdkJson {
  readonly context?: Readonly<Record<string, string | undefined>>;
}

/** Checks that `cdk bootstrap` created the roles with which cdk deploys. */
async function checkBootstrap(
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
      // IAM refuses a role that does not exist with the same message.
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
