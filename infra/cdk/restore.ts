// `npm run restore -- --stage NAME --to TIME`: the tables of a stage as they were at that moment, in one step. See
// infra/cdk/guides/restoring.md. Never run on a live account.
import { parseArgs } from 'node:util';
import { runScript } from '../run-script.ts';
import { openAwsAccount } from './aws-account.ts';
import { checkPlace, checkSettings } from './check-settings.ts';
import { confirm } from './deployment/confirm.ts';
import { awsSteps } from './restoration/aws-steps.ts';
import { checkMoment, describeDuration, restoredTables, restoreStage } from './restoration/restore-stage.ts';
import { stageSettings } from './stage-settings.ts';

const usage = 'npm run restore -- --stage NAME --to 2026-11-22T10:00:00Z [--profile NAME] [--region NAME] [--yes]';
const print = (line: string) => process.stdout.write(`${line}\n`);

function readOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { stage: text, to: text, profile: text, region: text, yes: { type: 'boolean' } } as const;
  const { stage, to, profile, region, yes } = parseArgs({ args: [...args], options }).values;
  const settings = stage === undefined ? undefined : stageSettings[stage];
  if (stage === undefined || settings === undefined)
    throw new Error(`--stage names no stage of the settings; usage: ${usage}`);
  checkSettings(stage, settings);
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(to ?? '') ? Date.parse(String(to)) : Number.NaN;
  if (Number.isNaN(atMs)) throw new Error(`--to takes a moment in UTC; usage: ${usage}`);
  return { stage, settings, atMs, profile, region, isConfirmed: yes === true };
}

async function restore(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const { stage, settings, atMs } = options;
  const aws = await openAwsAccount({ ...options, defaultRegion: settings.region });
  checkPlace(stage, settings, aws);
  print(`stage ${stage}: account ${aws.account}, region ${aws.region}`);
  const steps = awsSteps(aws, stage);
  const moment = new Date(atMs).toISOString();
  if ((await checkMoment(options, steps)) === undefined) {
    print(`the restoration to ${moment} is finished already: nothing was changed`);
    return;
  }
  for (const line of await describeDuration(options, steps)) print(line);
  const question = `refuse calls for some minutes and take ${restoredTables.join(', ')} of ${stage} back to ${moment}: credit, spending, keys and records since then are lost; keys and operator keys that were revoked or rotated since then stay ended and are named, newer ones are gone`;
  await confirm(question, options.isConfirmed, print);
  try {
    await restoreStage(options, steps, print);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}; where calls are refused, they stay so: run the same line again to go on`, {
      cause: error,
    });
  }
}

await runScript('restore', restore);
