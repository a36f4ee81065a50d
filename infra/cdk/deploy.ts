// `npm run deploy -- --stage NAME [flags]`: deploys both stacks of one stage, data first, with the CDK of this project. It
// prints account and region before anything is written. Flags that are not its own go to `cdk deploy`.
import { spawn } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openAwsAccount } from './aws-account.ts';
import { dataStackName } from './resource-names.ts';
import { checkSettings, type StageSettings } from './settings-schema.ts';
import { stageSettings } from './stage-settings.ts';

const projectRoot = resolve(import.meta.dirname, '../..');
const usage = 'npm run deploy -- --stage NAME [--profile NAME] [--region NAME] [--yes] [--adopt] [flags of cdk deploy]';

export interface DeployOptions {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly profile: string | undefined;
  readonly region: string | undefined;
  /** For cdk, after the stacks. */
  readonly flags: readonly string[];
}

const ownFlags = {
  stage: { type: 'string' },
  profile: { type: 'string' },
  region: { type: 'string' },
  /** Asks no question: for unattended runs. */
  yes: { type: 'boolean' },
  /** Imports tables and bucket that a former deployment of this stage left behind. */
  adopt: { type: 'boolean' },
} as const;

/** Throws an Error with one line for the terminal. */
export function readDeployOptions(
  args: readonly string[],
  stages: Readonly<Record<string, StageSettings>>,
): DeployOptions {
  const { tokens } = parseArgs({ args: [...args], options: ownFlags, strict: false, tokens: true });
  const values: Partial<Record<keyof typeof ownFlags, string>> = {};
  const own = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== 'option' || !(token.name in ownFlags)) continue;
    const name = token.name as keyof typeof ownFlags;
    if (ownFlags[name].type === 'string' && token.value === undefined) {
      throw new Error(`--${name} needs a value; usage: ${usage}`);
    }
    values[name] = token.value ?? '';
    own.add(token.index);
    if (token.inlineValue === false) own.add(token.index + 1);
  }
  const { stage, profile, region, yes, adopt } = values;
  const known = `known: ${Object.keys(stages).join(', ')}`;
  if (stage === undefined) throw new Error(`--stage is missing (${known}); usage: ${usage}`);
  const settings = stages[stage];
  if (settings === undefined) {
    throw new Error(`there is no stage ${stage} (${known}); add it to infra/cdk/stage-settings.ts`);
  }
  checkSettings(stage, settings);
  if (adopt !== undefined && settings.adopt === null) {
    throw new Error(`--adopt needs the member adopt in the settings of ${stage}: see infra/cdk/README.md`);
  }
  const flags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(region === undefined ? [] : ['--region', region]),
    ...(yes === undefined ? [] : ['--yes', '--require-approval', 'never']),
    ...(adopt === undefined ? [] : ['--import-existing-resources']),
    ...args.filter((_arg, index) => !own.has(index)),
  ];
  return { stage, settings, profile, region, flags };
}

/** Statuses of a stack that was never created successfully; cdk deletes what is left of it. */
const neverCreated = ['REVIEW_IN_PROGRESS', 'CREATE_FAILED', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

/**
 * The arguments of each run of cdk. Protection of the data stack is switched on after its first success: a failed first
 * deployment could not be removed otherwise, and would block every later one.
 */
export function cdkRuns({ stage, settings, flags }: DeployOptions, dataStackStatus: string | undefined): string[][] {
  const isFirst = dataStackStatus === undefined || neverCreated.includes(dataStackStatus);
  const isProtected = settings.deletionProtection || settings.terminationProtection;
  const all = ['deploy', `${stage}/*`, ...flags];
  if (!isFirst || !isProtected) return [all];
  return [['deploy', `${stage}/data`, '--context', 'firstDeployment=true', ...flags], all];
}

/** Resolves with the exit code of cdk, which writes to this terminal. */
function runCdk(args: readonly string[]): Promise<number> {
  const cdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');
  // cdk.json starts the app as `node …`: the same Node as this one.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path, CDK_DISABLE_CLI_TELEMETRY: '1' };
  const child = spawn(process.execPath, [cdk, ...args, '--no-notices'], { cwd: projectRoot, env, stdio: 'inherit' });
  return new Promise((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 1));
  });
}

if (import.meta.main) {
  try {
    const options = readDeployOptions(process.argv.slice(2), stageSettings);
    const { account, region, readStack } = await openAwsAccount(options);
    process.stdout.write(`stage ${options.stage}: account ${account}, region ${region}\n`);
    const dataStack = await readStack(dataStackName(options.stage));
    for (const args of cdkRuns(options, dataStack?.status)) {
      process.exitCode = await runCdk(args);
      if (process.exitCode !== 0) throw new Error(`${options.stage} was not deployed; cdk says why above`);
    }
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`deploy: ${reason}\n`);
    process.exitCode = 1;
  }
}
