import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, Skipped, tryCommand } from '../../infra/verify/verify-step.ts';

/**
 * Returns the Python of a virtual environment with these requirements, which is made under .cache/ at its first use and
 * again when they change. Throws Skipped if Python or the packages are not available.
 */
export async function virtualEnvironment(requirementsFile: string): Promise<string> {
  const requirements = join(import.meta.dirname, 'python', requirementsFile);
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(projectRoot, '.cache', `python-clients-${version}`);
  const python = join(folder, 'bin/python');
  const isComplete = join(folder, 'complete');
  if (existsSync(isComplete)) return python;
  rmSync(folder, { recursive: true, force: true });
  const environment = await tryCommand('python3', ['-m', 'venv', folder]);
  const installed =
    environment.code === 0
      ? await tryCommand(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements])
      : environment;
  if (installed.code !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Skipped(`cannot be installed here: ${installed.output.trim().split('\n').at(-1) ?? 'no reason given'}`);
  }
  writeFileSync(isComplete, '');
  return python;
}
