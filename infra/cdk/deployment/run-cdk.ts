// Runs the CDK of this project once, on this terminal.
import { spawn, spawnSync } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';

const projectRoot = resolve(import.meta.dirname, '../../..');
const installedCdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');

/**
 * Resolves with the exit code of cdk. `imageBuilder` is the program that builds the image of tasks; undefined when no
 * image is built.
 */
export function runCdk(
  args: readonly string[],
  imageBuilder: string | undefined,
  cdk: string = installedCdk,
): Promise<number> {
  // cdk.json starts the app as `node …`, which must be the same Node as the Node of this process.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const builder = imageBuilder === undefined ? {} : { CDK_DOCKER: imageBuilder };
  const env = { ...process.env, PATH: path, CDK_DISABLE_CLI_TELEMETRY: '1', ...builder };
  const child = spawn(process.execPath, [cdk, ...args, '--no-notices'], { cwd: projectRoot, env, stdio: 'inherit' });
  return new Promise((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 1));
  });
}

// Finds the program that builds the image of a stage with tasks. The CDK runs the program, and fails without a program
// in the middle of a deployment.

/** Programs in order of preference. The CDK uses the first program by default. */
const knownBuilders = ['docker', 'finch', 'podman'] as const;
/** Time limit after which a service counts as not running. */
const answerMaxMs = 15_000;

/** Returns the reason why a program cannot build an image now, or undefined when it can. */
type AskBuilder = (program: string) => string | undefined;

/** Runs more than a version check, because docker and finch build in a service that may not be running. */
const askBuilder: AskBuilder = (program) => {
  const { error, status } = spawnSync(program, ['info'], { stdio: 'ignore', timeout: answerMaxMs });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return 'is not installed';
  return error === undefined && status === 0 ? undefined : 'does not answer: is its service started?';
};

/**
 * Returns the program for `CDK_DOCKER`. `chosen` is the shell's value, which is used if set. Throws one line that names
 * the missing program.
 */
export function findImageBuilder(chosen: string | undefined, ask: AskBuilder = askBuilder): string {
  const faults: string[] = [];
  for (const program of chosen ? [chosen] : knownBuilders) {
    const fault = ask(program);
    if (fault === undefined) return program;
    faults.push(`${program} ${fault}`);
  }
  throw new Error(
    `compute: 'container' needs a program that builds its image: ${faults.join('; ')}. Start or install one of ${knownBuilders.join(', ')}, or name another in CDK_DOCKER`,
  );
}
