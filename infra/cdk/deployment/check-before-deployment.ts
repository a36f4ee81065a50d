// Everything that is looked at before a deployment builds anything. It changes nothing.
import type { AwsAccount, StackResource } from '../aws-account.ts';
import { apiStackName, commitOutput, dataStackName } from '../resource-names.ts';
import { type OriginChange, planOriginChange } from './accepted-origins.ts';
import { checkBootstrap, checkBoundary, checkConcurrency, checkRegion } from './account-checks.ts';
import { AllowedCalls } from './allowed-calls.ts';
import { describeStepBack } from './commit.ts';
import { type ComputeChange, planComputeChange } from './compute-change.ts';
import type { DeployOptions } from './deploy-options.ts';
import { findOrphans, leftBehind, refuseOrphans } from './orphans.ts';

export interface Findings {
  /** Undefined: there is no data stack yet. */
  readonly dataStackStatus: string | undefined;
  /** For the operator to know. */
  readonly notes: readonly string[];
  /** For the operator to confirm: what this deployment would do, each a sentence without its subject. */
  readonly questions: readonly string[];
  readonly originChange: OriginChange;
  readonly computeChange: ComputeChange;
}

/** Throws an Error with one line for what would stop the deployment later. */
export async function checkBeforeDeployment(
  aws: AwsAccount,
  { stage, settings, isAdopting }: Pick<DeployOptions, 'stage' | 'settings' | 'isAdopting'>,
): Promise<Findings> {
  checkRegion(stage, settings, aws.region);
  const allowed = new AllowedCalls();
  const [data, api] = await Promise.all([
    readStack(aws, dataStackName(stage), allowed),
    readStack(aws, apiStackName(stage), allowed),
  ]);
  const resources = [...data.resources, ...api.resources];
  const [orphans, note] = await Promise.all([
    findOrphans(aws, { stage, settings, resources }, allowed),
    checkConcurrency(aws, { stage, settings, deployed: api.stack?.outputs ?? {} }, allowed),
    checkBootstrap(aws, settings, allowed),
    checkBoundary(aws, settings, allowed),
  ]);
  allowed.check();
  refuseOrphans(orphans, stage, settings, isAdopting);
  const left = leftBehind(stage, settings, resources);
  const originChange = planOriginChange(stage, settings, api.stack?.outputs);
  const computeChange = planComputeChange(stage, settings, api.stack?.outputs);
  const questions = [
    originChange.question,
    computeChange.question,
    describeStepBack(api.stack?.outputs[commitOutput]),
    left.length === 0
      ? undefined
      : `leave ${left.join(', ')} behind, outside of the stack (a later deployment takes it over with --adopt)`,
  ];
  return {
    dataStackStatus: data.stack?.status,
    originChange,
    computeChange,
    notes: note === undefined ? [] : [note],
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
