// `npm run deploy -- --stage NAME [flags]`: deploys both stacks of one stage, data first, with the CDK of this project.
// Before anything is built it prints account and region and checks what would fail, or lose something, later.
import { spawn } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';
import { runScript } from '../run-script.ts';
import { openAwsAccount } from './aws-account.ts';
import { checkBeforeDeployment } from './deployment/check-before-deployment.ts';
import { confirm } from './deployment/confirm.ts';
import { cdkRuns, readDeployOptions } from './deployment/deploy-options.ts';
import { findImageBuilder } from './deployment/image-builder.ts';
import { checkPlace } from './settings-schema.ts';
import { stageSettings } from './stage-settings.ts';

const projectRoot = resolve(import.meta.dirname, '../..');
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves with the exit code of cdk, which writes to this terminal. */
function runCdk(args: readonly string[], imageBuilder: string | undefined): Promise<number> {
  const cdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');
  // cdk.json starts the app as `node …`: the same Node as this one.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const builder = imageBuilder === undefined ? {} : { CDK_DOCKER: imageBuilder };
  const env = { ...process.env, PATH: path, CDK_DISABLE_CLI_TELEMETRY: '1', ...builder };
  const child = spawn(process.execPath, [cdk, ...args, '--no-notices'], { cwd: projectRoot, env, stdio: 'inherit' });
  return new Promise((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 1));
  });
}

async function deploy(): Promise<void> {
  const options = readDeployOptions(process.argv.slice(2), stageSettings);
  const { stage, settings } = options;
  const aws = await openAwsAccount({ ...options, defaultRegion: settings.region });
  checkPlace(stage, settings, aws);
  print(`stage ${stage}: account ${aws.account}, region ${aws.region}`);
  const findings = await checkBeforeDeployment(aws, options);
  const { dataStackStatus, notes, questions, originChange, computeChange } = findings;
  const hasImage = [settings.compute, computeChange.alsoRuns].includes('container');
  const imageBuilder = hasImage ? findImageBuilder(process.env.CDK_DOCKER) : undefined;
  for (const note of notes) print(note);
  for (const question of questions) await confirm(question, options.isConfirmed);
  for (const args of cdkRuns(options, dataStackStatus, aws, { ...originChange, ...computeChange })) {
    process.exitCode = await runCdk(args, imageBuilder);
    if (process.exitCode !== 0) throw new Error(`${stage} was not deployed; cdk says why above`);
  }
  for (const { next } of [originChange, computeChange]) if (next !== undefined) print(next);
}

if (import.meta.main) await runScript('deploy', deploy);
