// `functions activate | disable | enable`: the transitions that an operator asks for. Which of them may happen is decided
// where functions are stored.
import type { FunctionRecord, FunctionStore } from '../../../shared/configuration/stored-functions/index.ts';
import type { Command, Outcome, Session } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { Input } from '../input.ts';
import type { OpenTarget } from '../open-target.ts';
import { functionJson, functionTable } from '../output/function-table.ts';
import { storesOn } from '../stores.ts';
import { readId } from '../values.ts';

const parameters = [{ name: 'WORKSPACE' }, { name: 'FUNCTION' }] as const;

const readFunction = (input: Input) => ({
  workspace: readId('WORKSPACE', input.parameter('WORKSPACE')),
  id: readId('FUNCTION', input.parameter('FUNCTION')),
});

export const functionsActivateCommand: Command<OpenTarget> = {
  name: 'functions activate',
  summary: 'make a revision the one that serves, and the function serve again',
  parameters: [...parameters, { name: 'REVISION' }],
  notes: [
    'An activated revision never changes again. The former one stays callable by pin: gw/function/ID@REVISION.',
    'A revision that carries cases must be qualified first.',
  ],
  prepare: (input) => {
    const { workspace, id } = readFunction(input);
    const revision = readId('REVISION', input.parameter('REVISION'));
    return (session) =>
      change(session, (functions) => functions.activate(workspace, id, revision, session.clock.nowMs()));
  },
};

export const functionsDisableCommand: Command<OpenTarget> = {
  name: 'functions disable',
  summary: 'refuse every call of a function',
  parameters,
  asks: true,
  prepare: (input) => {
    const { workspace, id } = readFunction(input);
    return async (session) => {
      const { functionStore } = storesOn((await session.open()).store);
      if ((await functionStore.read(workspace, id)) === undefined) {
        throw new Error(`workspace ${workspace} has no function ${id}`);
      }
      await confirm(session, `disable function ${id} of ${workspace}`);
      return change(session, (functions) => functions.disable(workspace, id));
    };
  },
};

export const functionsEnableCommand: Command<OpenTarget> = {
  name: 'functions enable',
  summary: 'let a disabled function serve again',
  parameters,
  prepare: (input) => {
    const { workspace, id } = readFunction(input);
    return (session) => change(session, (functions) => functions.enable(workspace, id));
  },
};

async function change(
  session: Session<OpenTarget>,
  step: (functions: FunctionStore) => Promise<FunctionRecord>,
): Promise<Outcome> {
  const record = await step(storesOn((await session.open()).store).functionStore);
  return {
    json: functionJson(record, session.clock.nowMs()),
    lines: (style) => functionTable([record], style),
  };
}
