// Requirements of tasks on an account, checked before anything is built: zones that CloudFront reaches, processors, and
// the role of ECS.
import { DescribeAvailabilityZonesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { AwsAccount } from '../aws-account.ts';
import { tasksDefault } from '../constructs/task-size.ts';
import type { StageSettings } from '../settings-schema.ts';
import { zonesByRegion } from '../zones.ts';
import { type AllowedCalls, isRefusal } from './allowed-calls.ts';

type Account = Pick<AwsAccount, 'region' | 'clientOptions'>;

/** Gives lines for the operator. Throws where the tasks could not be deployed. */
export async function checkTasks(aws: Account, settings: StageSettings, allowed: AllowedCalls): Promise<string[]> {
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
  const refused = edge === 'cloudfront' ? wanted.filter((id) => zonesByRegion[region]?.refused.includes(id)) : [];
  if (refused.length > 0) {
    throw new Error(`${member}: CloudFront reaches no load balancer in zone ${refused.join(', ')}: name others`);
  }
}

/** "Fargate On-Demand vCPU resource count" */
const fargateQuota = { ServiceCode: 'fargate', QuotaCode: 'L-3032A538' };
/** During a deployment as many new tasks start as run already. */
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

/** ECS makes it with the first cluster of an account, and that cluster's service fails because it is not there yet. */
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
