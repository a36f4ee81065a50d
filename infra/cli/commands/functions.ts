// `functions list | show | activate | disable | enable`: stored functions and the transitions that an operator asks for.
// Which transitions are allowed is decided in the store of functions.
import { stringify } from 'yaml';
import type { FunctionRecord, RevisionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { isoTime, printable } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import type { OpenOptions } from '../target/open-target.ts';
import { storesOn } from '../target/stores.ts';
import { addQualify } from './qualify.ts';

export function addFunctions(program: CommandLine): void {
  const functions = program.command('functions').description('stored functions and their revisions');
  functions
    .command('list')
    .description('every stored function and the revision that serves')
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .does(listFunctions);
  functions
    .command('show')
    .description('a function with the states of its revisions')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesOption('--revision <R>', 'print what this revision holds, as the gateway file writes it', readId)
    .does(showFunction);
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
      const { functionStore } = await storesOf(session, { writes: true });
      return changed(session, await functionStore.activate(workspace, id, revision, session.clock.nowMs()));
    });
  functions
    .command('disable')
    .description('refuse every call of a function')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .asks()
    .does(async (session, workspace: string, id: string) => {
      const { functionStore } = await storesOf(session, { writes: true });
      if ((await functionStore.read(workspace, id)) === undefined) throw absent(workspace, id);
      await confirm(session, `disable function ${id} of ${workspace}`);
      const outcome = changed(session, await functionStore.disable(workspace, id));
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
      const { functionStore } = await storesOf(session, { writes: true });
      return changed(session, await functionStore.enable(workspace, id));
    });
  addQualify(functions);
}

const storesOf = async (session: Session, options: OpenOptions = {}) => storesOn((await session.open(options)).store);

const absent = (workspace: string, id: string) => new Error(`workspace ${workspace} has no function ${id}`);

async function listFunctions(session: Session, { workspace }: { readonly workspace?: string }): Promise<Outcome> {
  const { functionStore } = await storesOf(session);
  session.terminal.showProgress('reading functions …');
  const records = await collect(functionStore.list(workspace));
  records.sort((a, b) => (`${a.workspace}/${a.id}` < `${b.workspace}/${b.id}` ? -1 : 1));
  return {
    json: { functions: records.map((record) => functionJson(record, session.clock.nowMs())) },
    lines: (style) => (records.length === 0 ? ['there are no functions'] : fieldTable(functionFields, records, style)),
  };
}

async function showFunction(
  session: Session,
  workspace: string,
  id: string,
  { revision: wanted }: { readonly revision?: string },
): Promise<Outcome> {
  const shown = await (await storesOf(session)).functionStore.show(workspace, id);
  if (shown === undefined) throw absent(workspace, id);
  const { record, contents } = shown;
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
