// `functions show`: the states of a function's revisions, and with `--revision` what one of them holds.
import { stringify } from 'yaml';
import type { Command, Outcome, Session } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { functionJson, functionTable, revisionTable } from '../output/function-table.ts';
import { storesOn } from '../stores.ts';
import { readId, readOptional } from '../values.ts';

export const functionsShowCommand: Command<OpenTarget> = {
  name: 'functions show',
  summary: 'a function with the states of its revisions',
  parameters: [{ name: 'WORKSPACE' }, { name: 'FUNCTION' }],
  options: { revision: { value: 'R', summary: 'print what this revision holds, as the gateway file writes it' } },
  prepare: (input) => {
    const workspace = readId('WORKSPACE', input.parameter('WORKSPACE'));
    const id = readId('FUNCTION', input.parameter('FUNCTION'));
    const revision = readOptional(readId, '--revision', input.text('revision'));
    return (session) => show(session, workspace, id, revision);
  },
};

async function show(
  session: Session<OpenTarget>,
  workspace: string,
  id: string,
  revisionId: string | undefined,
): Promise<Outcome> {
  const shown = await storesOn((await session.open()).store).functionStore.show(workspace, id);
  if (shown === undefined) throw new Error(`workspace ${workspace} has no function ${id}`);
  const { record, contents } = shown;
  const nowMs = session.clock.nowMs();
  const content = revisionId === undefined ? undefined : contents.get(revisionId);
  if (revisionId !== undefined && content === undefined) {
    throw new Error(`function ${id} of ${workspace} has no revision ${revisionId}`);
  }
  return {
    json: {
      ...functionJson(record, nowMs),
      contents: content === undefined ? Object.fromEntries(contents) : { [revisionId ?? '']: content },
    },
    lines: (style) => [
      ...functionTable([record], style),
      '',
      ...revisionTable(record, nowMs, style),
      ...(content === undefined ? [] : ['', ...printable(stringify(content)).trimEnd().split('\n')]),
    ],
  };
}

/** Templates may hold anything. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '·');
