// Formats the output of `apply`: a line per changed resource, below it its fields old → new, and new keys.
import {
  type CreatedKey,
  type FilledMembers,
  formatProblem,
  memberText,
  type PlannedChange,
  type Problem,
} from '../../../shared/configuration/gateway-file/index.ts';
import type { CommandOutcome } from '../args/session.ts';
import { table } from './table.ts';

interface AppliedChanges {
  readonly changes: readonly PlannedChange[];
  readonly createdKeys: readonly CreatedKey[];
  readonly notes: readonly string[];
  readonly isDry: boolean;
  /** Fields that a dry run shows. */
  readonly filled: readonly FilledMembers[];
}

export function applyOutcome({ changes, createdKeys, notes, isDry, filled }: AppliedChanges): CommandOutcome {
  return {
    json: {
      dry_run: isDry,
      changes: changes.map(({ resource, change, members }) => ({ resource, change, members })),
      ...(isDry ? { filled } : {}),
      created_keys: createdKeys,
      notes,
    },
    lines: (style) => [
      ...changesLines(changes, style.columns),
      ...(isDry ? filled.flatMap((one) => filledLines(one, style.columns)) : []),
      ...notes.map((line) => `warning: ${line}`),
      ...(createdKeys.length === 0
        ? []
        : [
            '',
            ...table(
              [{ title: 'workspace' }, { title: 'name' }, { title: 'key (shown once)' }],
              rowsOf(createdKeys),
              style,
            ),
          ]),
      summary(changes, isDry),
    ],
  };
}

const rowsOf = (keys: readonly CreatedKey[]) => keys.map(({ workspace, name, key }) => [workspace, name, key]);

const changesLines = (changes: readonly PlannedChange[], columns: number): string[] =>
  changes
    .filter(({ change }) => change !== 'unchanged')
    .flatMap(({ resource, change, members }) => [
      `${change.padEnd('unchanged'.length)}  ${resource}`,
      ...members.map((member) => cut(`${memberIndent}${memberText(member)}`, columns)),
    ]);

const memberIndent = ' '.repeat(13);

/** Shows every value, over several lines, so that filled-in values are read before they are applied. */
function filledLines({ place, origin, members }: FilledMembers, columns: number): string[] {
  const texts = Object.entries(members).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const lines: string[] = [];
  for (const text of texts) {
    const longer = `${lines.at(-1)}, ${text}`;
    if (lines.length === 0 || longer.length > columns - memberIndent.length) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return [`filled in  ${place}, from the ${origin}`, ...lines.map((line) => cut(`${memberIndent}${line}`, columns))];
}

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;

function summary(changes: readonly PlannedChange[], isDry: boolean): string {
  const count = (kind: PlannedChange['change']) => changes.filter(({ change }) => change === kind).length;
  const kinds = (['created', 'changed', 'removed', 'unchanged'] as const).filter((kind) => count(kind) > 0);
  const counts = kinds.map((kind) => `${count(kind)} ${kind}`).join(', ') || 'nothing';
  return isDry ? `dry run, nothing was written: ${counts}` : counts;
}

/** Returns the outcome for a file that cannot be applied. No problem quotes a value of the file. */
export const problemsOutcome = (path: string, problems: readonly Problem[]): CommandOutcome => ({
  json: { problems },
  lines: () => problems.map((problem) => formatProblem(problem, path)),
  failure: `${path} is not valid: ${problems.length === 1 ? 'one problem' : `${problems.length} problems`}, nothing was done`,
});
