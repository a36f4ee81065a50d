// Checks another commit of this repository out into a folder of its own, and installs its own packages.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '../../..');
/** Time limit of an installation, which takes less than a minute if npm has fetched the packages before. */
const installTimeoutMs = 300_000;

/** Checks the commit out into `folder`, which the caller removes. Throws an Error with one line for the terminal. */
export async function fetchTree(commit: string, folder: string) {
  const revision = await run('git', ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`], {
    cwd: repository,
  }).catch(() => {
    throw new Error(`--against takes a commit of this repository, and ${commit} is none`);
  });
  const hash = revision.stdout.trim();
  const tree = join(folder, `tree-${hash.slice(0, 12)}`);
  const archive = `${tree}.tar`;
  await mkdir(tree);
  await run('git', ['archive', `--output=${archive}`, hash], { cwd: repository });
  await run('tar', ['--extract', `--file=${archive}`], { cwd: tree });
  // Removes npm's variables of this tree, which do not apply to the other tree.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tree, env, timeout: installTimeoutMs });
  return { name: hash.slice(0, 7), tree };
}
