// Everything that is looked at before a deployment builds anything. It changes nothing.

import type { AwsAccount, StackResource } from '../aws-account.ts';
import { apiStackName, commitOutput, computeOutput, dataStackName, tableSuffixOutput } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import type { ComputeKind, DeploymentChange, ThisDeployment } from '../this-deployment.ts';
import { planOriginChange } from './accepted-origins.ts';
import { checkBootstrap, checkBoundary, checkConcurrency, checkRegion } from './account-checks.ts';
import { AllowedCalls } from './allowed-calls.ts';
import { describeStepBack } from './commit.ts';
import type { DeployOptions } from './deploy-options.ts';
import { findOrphans, leftBehind, refuseOrphans, restoredTables } from './orphans.ts';
import { checkTasks } from './task-checks.ts';

interface Findings {
  /** Undefined when there is no data stack yet. */
  readonly dataStackStatus: string | undefined;
  /** Notes for the operator. */
  readonly notes: readonly string[];
  /** Effects of this deployment that the operator must confirm, each a sentence without its subject. */
  readonly questions: readonly string[];
  /** Next steps, printed at the end. */
  readonly next: readonly string[];
  readonly deployment: ThisDeployment;
}

/** Throws an Error with one line for a fault that would stop the deployment later. */
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
      // Both versions must agree on the tables that they write. What they share with the edge they read while they run.
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

// A stage that moves between functions and tasks: the running ones stay for one deployment beside the new ones, and the
// next deployment removes them. So calls in flight end where they run.

const names: Readonly<Record<ComputeKind, string>> = { functions: 'the functions', container: 'the tasks' };

/** `outputs`: of the deployed api stack, undefined where there is none. */
export function planComputeChange(
  stage: string,
  settings: Pick<StageSettings, 'compute' | 'edge' | 'customDomain'>,
  outputs: Readonly<Record<string, string>> | undefined,
): DeploymentChange {
  if (outputs?.BaseUrl === undefined) return {};
  // Stages from before the output had functions.
  const running: ComputeKind = outputs[computeOutput] === 'container' ? 'container' : 'functions';
  const { compute, edge, customDomain } = settings;
  if (running === compute) return {};
  // Without a distribution tasks are called by names that these settings do not have any more.
  if (running === 'container' && edge === 'none' && customDomain === null) {
    return { question: `end the tasks: clients of ${outputs.BaseUrl} get no answer any more` };
  }
  return {
    alsoRuns: running,
    question: `have ${names[compute]} run new calls; ${names[running]} stay until you deploy once more`,
    next: `${names[running]} are still there. Once no call runs in them: npm run deploy -- --stage ${stage}`,
  };
}
