// `functions list | show | activate | disable | enable`: stored functions and the transitions that an operator asks for.
// Which transitions are allowed is decided in the store of functions.
import { stringify } from 'yaml';
import {
  changeFunction,
  readFunction,
  readFunctions,
  showFunction,
} from '../../../shared/configuration/administration/index.ts';
import type { FunctionRecord, RevisionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { isoTime, printable } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { addQualify } from './qualify.ts';

export function addFunctions(program: CommandLine): void {
  const functions = program.command('functions').description('stored functions and their revisions');
  functions
    .command('list')
    .description('every stored function and the revision that serves')
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .does(list);
  functions
    .command('show')
    .description('a function with the states of its revisions')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesOption('--revision <R>', 'print what this revision holds, as the gateway file writes it', readId)
    .does(show);
  functions
    .command('activate')
    .description('make a revision the one that serves, and the function serve again')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesArgument('REVISION', readId)
    .notes(
      'An activated revision never changes again. The former one stays callable by pin: gw/function/ID@REVISION.',
      'A revision that carries cases must be qualified first.',
    )
    .does(async (session, workspace: string, id: string, revision: string) => {
      const administration = await openAdministration(session, { writes: true });
      return changed(session, await changeFunction(administration, { workspace, id }, { kind: 'activate', revision }));
    });
  functions
    .command('disable')
    .description('refuse every call of a function')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .asks()
    .does(async (session, workspace: string, id: string) => {
      const administration = await openAdministration(session, { writes: true });
      await readFunction(administration, { workspace, id });
      await confirm(session, `disable function ${id} of ${workspace}`);
      const outcome = changed(session, await changeFunction(administration, { workspace, id }, { kind: 'disable' }));
      const seconds = configFreshMs / 1_000;
      return {
        ...outcome,
        json: { ...(outcome.json as object), effective_within_seconds: seconds },
        lines: (style) => [
          ...outcome.lines(style),
          `instances that read it a moment ago may still answer for up to ${seconds} s`,
        ],
      };
    });
  functions
    .command('enable')
    .description('let a disabled function serve again')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .does(async (session, workspace: string, id: string) => {
      const administration = await openAdministration(session, { writes: true });
      return changed(session, await changeFunction(administration, { workspace, id }, { kind: 'enable' }));
    });
  addQualify(functions);
}

async function list(session: Session, { workspace }: { readonly workspace?: string }): Promise<Outcome> {
  const administration = await openAdministration(session);
  session.terminal.showProgress('reading functions …');
  const records = await readFunctions(administration, workspace);
  return {
    json: { functions: records.map((record) => functionJson(record, session.clock.nowMs())) },
    lines: (style) => (records.length === 0 ? ['there are no functions'] : fieldTable(functionFields, records, style)),
  };
}

async function show(
  session: Session,
  workspace: string,
  id: string,
  { revision: wanted }: { readonly revision?: string },
): Promise<Outcome> {
  const administration = await openAdministration(session);
  const { record, contents } = await showFunction(administration, { workspace, id });
  const nowMs = session.clock.nowMs();
  const content = contents.get(wanted ?? '');
  if (wanted !== undefined && content === undefined) {
    throw new Error(`function ${id} of ${workspace} has no revision ${wanted}`);
  }
  return {
    json: {
      ...functionJson(record, nowMs),
      contents: content === undefined ? Object.fromEntries(contents) : { [wanted ?? '']: content },
    },
    lines: (style) => [
      ...fieldTable(functionFields, [record], style),
      '',
      ...fieldTable(revisionFields(record, nowMs), [...record.revisions.values()], style),
      ...(content === undefined ? [] : ['', ...printable(stringify(content)).trimEnd().split('\n')]),
    ],
  };
}

const changed = (session: Session, record: FunctionRecord): Outcome => ({
  json: functionJson(record, session.clock.nowMs()),
  lines: (style) => fieldTable(functionFields, [record], style),
});

const functionFields: readonly Field<FunctionRecord>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace },
  { member: 'function', title: 'function', isFlexible: true, value: ({ id }) => id },
  { member: 'kind', title: 'kind', value: ({ kind }) => kind },
  { member: 'status', title: 'status', value: ({ status }) => status },
  { member: 'active', title: 'active', isFlexible: true, value: ({ active }) => active },
  { title: 'revisions', align: 'right', value: ({ revisions }) => revisions.size },
];

const revisionFields = ({ active }: FunctionRecord, nowMs: number): readonly Field<RevisionRecord>[] => [
  { member: 'id', title: 'revision', isFlexible: true, value: ({ id }) => id },
  // Expiry is not stored: every reader compares the time.
  { member: 'state', title: 'state', value: (r) => ((r.expiresAtMs ?? Infinity) <= nowMs ? 'expired' : r.state) },
  { member: 'has_cases', title: 'cases', value: ({ hasCases }) => hasCases },
  { member: 'qualified_at', title: 'qualified', value: ({ qualifiedAtMs }) => isoTime(qualifiedAtMs) },
  { member: 'activated_at', title: 'activated', value: ({ activatedAtMs }) => isoTime(activatedAtMs) },
  { member: 'expires_at', title: 'expires', value: ({ expiresAtMs }) => isoTime(expiresAtMs) },
  { title: '', value: ({ id }) => (id === active ? 'active' : '') },
];

const functionJson = (record: FunctionRecord, nowMs: number) => ({
  ...fieldJson(functionFields, record),
  revisions: [...record.revisions.values()].map((revision) => fieldJson(revisionFields(record, nowMs), revision)),
});
