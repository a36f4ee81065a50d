// `credits show`: what was given, spent and held, and what is left, of one workspace or of all.
import type { Command } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { creditJson, creditTable } from '../output/credit-table.ts';
import { mapParallel } from '../parallel.ts';
import { storesOn } from '../stores.ts';
import { readId, readOptional } from '../values.ts';
import { accountOf, listWorkspaces, readWorkspace } from '../workspaces.ts';

const parallelReads = 16;

export const creditsShowCommand: Command<OpenTarget> = {
  name: 'credits show',
  summary: 'the credit of a workspace, or of all: granted, spent, held, available',
  parameters: [{ name: 'WORKSPACE', isOptional: true }],
  prepare: (input) => {
    const id = readOptional(readId, 'WORKSPACE', input.optionalParameter('WORKSPACE'));
    return async (session) => {
      const { store } = await session.open();
      const { workspaceStore, credit } = storesOn(store);
      session.terminal.showProgress('reading credit …');
      const workspaces =
        id === undefined ? await listWorkspaces(store, workspaceStore) : [await readWorkspace(workspaceStore, id)];
      const credits = await mapParallel(workspaces, parallelReads, async (workspace) => ({
        workspace,
        summary: await credit.show(accountOf(workspace)),
      }));
      return {
        json: { credits: credits.map(creditJson) },
        lines: (style) => (credits.length === 0 ? ['there are no workspaces'] : creditTable(credits, style)),
      };
    };
  },
};
