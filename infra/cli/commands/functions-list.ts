// `functions list`: every stored function, and which revision serves.
import type { FunctionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import type { Command } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { functionJson, functionTable } from '../output/function-table.ts';
import { storesOn } from '../stores.ts';
import { readId, readOptional } from '../values.ts';

export const functionsListCommand: Command<OpenTarget> = {
  name: 'functions list',
  summary: 'every stored function and the revision that serves',
  options: { workspace: { value: 'W', summary: 'of this workspace only' } },
  prepare: (input) => {
    const workspace = readOptional(readId, '--workspace', input.text('workspace'));
    return async (session) => {
      const { functionStore } = storesOn((await session.open()).store);
      session.terminal.showProgress('reading functions …');
      const records: FunctionRecord[] = [];
      for await (const record of functionStore.list(workspace)) records.push(record);
      records.sort((a, b) => (`${a.workspace}/${a.id}` < `${b.workspace}/${b.id}` ? -1 : 1));
      return {
        json: { functions: records.map((record) => functionJson(record, session.clock.nowMs())) },
        lines: (style) => (records.length === 0 ? ['there are no functions'] : functionTable(records, style)),
      };
    };
  },
};
