// `keys list`: every key with its limits and what it has spent.
import type { Command } from '../command.ts';
import { readKeyFigures } from '../key-figures.ts';
import type { OpenTarget } from '../open-target.ts';
import { keyJson, keyTable } from '../output/key-table.ts';
import { storesOn } from '../stores.ts';
import { readId, readOptional } from '../values.ts';

export const keysListCommand: Command<OpenTarget> = {
  name: 'keys list',
  summary: 'every key with its limits and what it has spent',
  options: { workspace: { value: 'W', summary: 'of this workspace only' } },
  notes: ['Spending is counted on keys that have a limit; `usage --by key` knows it of every key.'],
  prepare: (input) => {
    const workspace = readOptional(readId, '--workspace', input.text('workspace'));
    return async (session) => {
      session.terminal.showProgress('reading keys …');
      const keys = await readKeyFigures(storesOn((await session.open()).store).keys, workspace);
      return {
        json: { keys: keys.map(keyJson) },
        lines: (style) => (keys.length === 0 ? ['there are no keys'] : keyTable(keys, style)),
      };
    };
  },
};
