// Lines of a start about its gateway file: what it changes in the store, and what it leaves as operators changed it.

import {
  destructiveChanges,
  formatProblem,
  type GatewayFilePlan,
  GatewayFileRefused,
  type MemberChange,
  memberText,
  type PlannedChange,
} from '../../shared/configuration/gateway-file/index.ts';
import { programs } from '../../shared/foundation/constants/index.ts';

/** Beyond these a person reads `gw apply --dry-run`. */
const linesMax = 100;

/** A line for each change of what was stored before. Empty for the first file of a store. */
export function changeLines(changes: readonly PlannedChange[]): string[] {
  const isFirst = changes.some(({ resource, change }) => resource === 'catalogue' && change === 'created');
  const lines = changes.flatMap((change) => linesOf(change, isFirst));
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `and ${more} more changes`] : lines;
}

function linesOf(change: PlannedChange, isFirst: boolean): string[] {
  const { resource, members } = change;
  switch (change.change) {
    case 'unchanged':
      return [];
    case 'created':
      return isFirst ? [] : [`adds: ${resource}`];
    case 'removed':
      return [`takes away: ${resource}`];
    case 'changed':
      return members.flatMap((member) => memberLines(resource, member));
  }
}

function memberLines(resource: string, member: MemberChange): string[] {
  const taken = destructiveChanges([{ resource, change: 'changed', members: [member] }]);
  if (taken.length > 0) return taken.map((what) => `takes away: ${what}`);
  const isNewItem = 'to' in member && !('from' in member) && member.path.endsWith(']');
  return [isNewItem ? `adds: ${member.path} of ${resource}` : `changes: ${resource}: ${memberText(member)}`];
}

interface AppliedPlans {
  readonly applied: GatewayFilePlan;
  /** The whole file beside the store afterwards; undefined where all of it was applied. */
  readonly whole: GatewayFilePlan | GatewayFileRefused | undefined;
}

/** `store`: how the command line names it; undefined where it is in memory. */
export function describeDifferences(
  { applied, whole }: AppliedPlans,
  { name, store }: { readonly name: string; readonly store: string | undefined },
): string[] {
  if (whole instanceof GatewayFileRefused) {
    const [problem] = whole.problems;
    const reason = problem === undefined ? '' : `: ${formatProblem(problem, name)}`;
    return [
      ...revokedLines(applied.revokedKeys),
      `note: gw apply would refuse ${name}, as operators changed the store${reason}`,
    ];
  }
  const revoked = revokedLines([...new Set([...applied.revokedKeys, ...(whole?.revokedKeys ?? [])])]);
  const count = (whole?.changes ?? []).reduce((sum, one) => sum + settingsIn(one), 0);
  if (count === 0) return revoked;
  const differ = count === 1 ? '1 setting differs' : `${count} settings differ`;
  const command = `${programs.commandLine} apply -f ${name} --dry-run${store === undefined ? '' : ` ${store}`}`;
  return [
    ...revoked,
    `note: ${differ} from ${name}, as operators changed the store: ${command} names them, and --reapply sets them as in the file`,
  ];
}

const revokedLines = (keys: readonly string[]): string[] =>
  keys.map((key) => `note: ${key} was revoked and stays revoked`);

const settingsIn = ({ change, members }: PlannedChange): number =>
  change === 'unchanged' ? 0 : Math.max(1, members.length);
