// `npm run deploy -- --stage dev [flags of cdk deploy]`: builds the bundles and deploys both stacks of one stage, data
// first, with the CDK of this project. Its own flags: --stage, and --edge and --compute for the context of the same name.
import { spawn } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBundles } from '../build/bundle.ts';
import { stageSettings } from './stage-settings.ts';

const projectRoot = resolve(import.meta.dirname, '../..');
const usage = 'npm run deploy -- --stage NAME [--edge none|cloudfront] [--compute functions|web] [flags of cdk deploy]';

export interface DeployOptions {
  readonly stage: string;
  /** For cdk, after the stacks. */
  readonly flags: readonly string[];
}

/** Throws an Error with one line for the person at the terminal. */
export function readDeployOptions(args: readonly string[], stages: readonly string[]): DeployOptions {
  const own = ['stage', 'edge', 'compute'] as const;
  const { tokens } = parseArgs({
    args: [...args],
    options: { stage: { type: 'string' }, edge: { type: 'string' }, compute: { type: 'string' } },
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string>();
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== 'option' || !own.some((name) => name === token.name)) continue;
    if (token.value === undefined) throw new Error(`--${token.name} needs a value; usage: ${usage}`);
    values.set(token.name, token.value);
    taken.add(token.index);
    if (token.inlineValue === false) taken.add(token.index + 1);
  }
  const stage = values.get('stage');
  const known = `known: ${stages.join(', ')}`;
  if (stage === undefined) throw new Error(`--stage is missing (${known}); usage: ${usage}`);
  if (!stages.includes(stage)) {
    throw new Error(`there is no stage ${stage} (${known}); add it to infra/stage-settings.ts`);
  }
  const context = ['edge', 'compute'].flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : ['--context', `${name}=${value}`];
  });
  return { stage, flags: [...context, ...args.filter((_arg, index) => !taken.has(index))] };
}

/** Resolves with the exit code of cdk, whose words go to this terminal. */
function runCdk({ stage, flags }: DeployOptions): Promise<number> {
  const cdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');
  const args = [cdk, 'deploy', `${stage}/*`, '--no-notices', ...flags];
  // The app is started as `node …`: the same Node as this one.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path, CDK_DISABLE_CLI_TELEMETRY: '1' };
  const child = spawn(process.execPath, args, { cwd: projectRoot, env, stdio: 'inherit' });
  return new Promise((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 1));
  });
}

if (import.meta.main) {
  try {
    const options = readDeployOptions(process.argv.slice(2), Object.keys(stageSettings));
    process.stdout.write(`building, then deploying ${options.stage}\n`);
    await buildBundles(projectRoot, join(projectRoot, 'dist'));
    process.exitCode = await runCdk(options);
    if (process.exitCode !== 0) process.stderr.write(`deploy: ${options.stage} was not deployed; cdk says why above\n`);
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`deploy: ${reason}\n`);
    process.exitCode = 1;
  }
}
