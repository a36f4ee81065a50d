// One run of the CDK of this project, on this terminal.
import { spawn } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';

const projectRoot = resolve(import.meta.dirname, '../../..');
const installedCdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');

/** Resolves with the exit code of cdk. `imageBuilder`: what builds the image of tasks; undefined: no image is built. */
export function runCdk(
  args: readonly string[],
  imageBuilder: string | undefined,
  cdk: string = installedCdk,
): Promise<number> {
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
