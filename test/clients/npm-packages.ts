import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, Skipped, tryCommand } from '../../infra/verify/verify-step.ts';

/**
 * Returns the folder of these packages from npm, by their versions; it is installed under .cache/ at its first use.
 * Throws Skipped if the packages are not available.
 */
export async function installPackages(name: string, versions: Readonly<Record<string, string>>): Promise<string> {
  const packages = Object.entries(versions).map(([one, version]) => `${one}@${version}`);
  const folder = join(projectRoot, '.cache', `${name}-${Object.values(versions).join('-')}`);
  const isComplete = join(folder, 'complete');
  if (existsSync(isComplete)) return folder;
  // The package's own script links the program for this platform.
  const installed = await tryCommand('npm', ['install', '--prefix', folder, '--no-save', ...packages]);
  if (installed.code === 0) {
    writeFileSync(isComplete, '');
    return folder;
  }
  rmSync(folder, { recursive: true, force: true });
  throw new Skipped(`cannot be installed here: ${installed.output.trim().split('\n').at(-1) ?? 'no reason given'}`);
}
