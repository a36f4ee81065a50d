// `functions list | show | activate | disable | enable`: stored functions and the transitions that an operator asks for.
// Which transitions are allowed is decided in the store of functions.
import { stringify } from 'yaml';
import {
  changeFunction,
  readFunction,
  readFunctions,
  showFunction,
} from '../../../shared/configuration/administration/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { printable } from '../output/format.ts';
import { functionFields, functionJson, functionOutcome, revisionFields } from '../output/stored-functions.ts';
import { fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { addQualify } from './qualify.ts';
import { addRevisions } from './revisions.ts';

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
      const change = { kind: 'activate', revision } as const;
      return functionOutcome(await changeFunction(administration, { workspace, id }, change), session.clock.nowMs());
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
      const record = await changeFunction(administration, { workspace, id }, { kind: 'disable' });
      const outcome = functionOutcome(record, session.clock.nowMs());
      const seconds = configFreshMs / 1_000;
      return {
        ...outcome,
        json: { ...outcome.json, effective_within_seconds: seconds },
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
      const record = await changeFunction(administration, { workspace, id }, { kind: 'enable' });
      return functionOutcome(record, session.clock.nowMs());
    });
  addRevisions(functions);
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
