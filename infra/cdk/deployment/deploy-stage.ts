// Deploys a stage step by step: checks of the account, notes and confirmations, the runs of cdk, and a check of the
// result. Nothing is changed before the first run of cdk.

import { createInterface } from 'node:readline/promises';
import { openAwsAccount } from '../aws-account.ts';
import { checkPlace } from '../check-settings.ts';
import { apiStackName } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { checkBeforeDeployment } from './check-before-deployment.ts';
import { checkRoutes, type RouteCheckSurroundings } from './check-routes.ts';
import { cdkRuns, readDeployOptions } from './deploy-options.ts';

interface DeploymentSurroundings extends RouteCheckSurroundings {
  readonly stages: Readonly<Record<string, StageSettings>>;
  readonly print: (line: string) => void;
  /** Returns the program that builds images. Throws if none is found. */
  readonly findImageBuilder: () => string;
  /** Runs cdk and returns its exit code. */
  readonly runCdk: (args: readonly string[], imageBuilder: string | undefined) => Promise<number>;
}

/** Deploys a stage. Throws an Error with one line for the terminal. */
export async function deployStage(
  args: readonly string[],
  { stages, print, findImageBuilder, runCdk, ...surroundings }: DeploymentSurroundings,
): Promise<void> {
  const options = readDeployOptions(args, stages);
  const { stage, settings } = options;
  const aws = await openAwsAccount({ ...options, defaultRegion: settings.region });
  checkPlace(stage, settings, aws);
  print(`stage ${stage}: account ${aws.account}, region ${aws.region}`);
  const { dataStackStatus, notes, questions, next, deployment } = await checkBeforeDeployment(aws, options);
  const hasImage = [settings.compute, deployment.alsoRuns].includes('container');
  const imageBuilder = hasImage ? findImageBuilder() : undefined;
  for (const note of notes) print(note);
  for (const question of questions) await confirm(question, options.isConfirmed, print);
  for (const run of cdkRuns(options, dataStackStatus, deployment, `${aws.account}/${aws.region}`)) {
    if ((await runCdk(run, imageBuilder)) !== 0) throw new Error(`${stage} was not deployed; cdk says why above`);
  }
  const outputs = (await aws.readStack(apiStackName(stage)))?.outputs ?? {};
  print(await checkRoutes(stage, settings, outputs, surroundings));
  for (const line of next) print(line);
}

// Asks the operator to confirm a destructive step.

/** Asks the operator. `question` is the step, as a sentence without its subject. Throws if the answer is not yes. */
async function confirm(question: string, isConfirmed: boolean, print: (line: string) => void): Promise<void> {
  if (isConfirmed) {
    print(`--yes was passed: this will ${question}`);
    return;
  }
  if (!process.stdin.isTTY) throw new Error(`this would ${question}: pass --yes, as there is no terminal to ask on`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`This would ${question}. Go on? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done');
}
