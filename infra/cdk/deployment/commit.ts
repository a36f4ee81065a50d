// Reads the commit that a stage runs, and whether this checkout is older than that commit.
import { execFileSync } from 'node:child_process';

/** Commit of a copy that is not a git repository. */
export const unknownCommit = 'unknown';

/** Suffix of the commit if files differ from the commit. */
const changedMark = '-changed';

function git(cwd: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', [...args], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

/** Returns the commit of the checkout that contains `folder`. */
export function readCommit(folder = import.meta.dirname): string {
  const commit = git(folder, 'rev-parse', 'HEAD');
  if (!commit) return unknownCommit;
  return git(folder, 'status', '--porcelain') === '' ? commit : `${commit}${changedMark}`;
}

/**
 * Describes a deployment of an older commit; `deployed` comes from `readCommit`. Returns undefined if this checkout
 * contains the deployed commit, or nothing is known.
 */
export function describeStepBack(deployed: string | undefined, folder = import.meta.dirname): string | undefined {
  if (deployed === undefined || deployed === unknownCommit) return undefined;
  const [then, now] = [deployed, readCommit(folder)].map((commit) => commit.replace(changedMark, '')) as [
    string,
    string,
  ];
  if (then === now) return undefined;
  const isOlder = git(folder, 'merge-base', '--is-ancestor', now, then) !== undefined;
  if (isOlder) return `deploy ${short(now)}, which is older than the deployed ${short(then)}`;
  const isNewer = git(folder, 'merge-base', '--is-ancestor', then, now) !== undefined;
  return isNewer ? undefined : `deploy ${short(now)}, which does not contain the deployed ${short(then)}`;
}

const short = (commit: string): string => commit.slice(0, 12);
