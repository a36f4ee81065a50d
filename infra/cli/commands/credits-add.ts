// `credits add`: gives a workspace more credit, once per id.
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { Command, Outcome, Session } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { creditJson, creditTable } from '../output/credit-table.ts';
import { storesOn } from '../stores.ts';
import { readId, readOptional, readUsd } from '../values.ts';
import { accountOf, readWorkspace } from '../workspaces.ts';

interface Addition {
  readonly workspace: string;
  readonly amount: PicoUsd;
  readonly id: string | undefined;
}

export const creditsAddCommand: Command<OpenTarget> = {
  name: 'credits add',
  summary: 'add credit to a workspace; the same --id adds once',
  parameters: [{ name: 'WORKSPACE' }, { name: 'USD' }],
  options: { id: { value: 'ID', summary: 'names the addition, as an invoice number does; left out: a new one' } },
  notes: ['An addition is remembered by its id for 30 days: repeating it within them adds nothing.'],
  prepare: (input) => {
    const addition: Addition = {
      workspace: readId('WORKSPACE', input.parameter('WORKSPACE')),
      amount: readUsd('USD', input.parameter('USD')),
      id: readOptional(readId, '--id', input.text('id')),
    };
    return (session) => addCredit(session, addition);
  },
};

async function addCredit(session: Session<OpenTarget>, addition: Addition): Promise<Outcome> {
  const { workspace, amount } = addition;
  const { workspaceStore, credit } = storesOn((await session.open()).store);
  const document = await readWorkspace(workspaceStore, workspace);
  const id = addition.id ?? session.randomness.uuid();
  const result = await credit.add({ workspace, amount, id, nowMs: session.clock.nowMs() }).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Error(`the store gave no answer; repeat with --id ${id}, which adds once`);
  });
  if (result === 'absent')
    throw new Error(`workspace ${workspace} has no credit account: apply its gateway file again`);
  const shown = { workspace: document, summary: await credit.show(accountOf(document)) };
  return {
    json: {
      id,
      amount_usd: formatUsd(amount),
      change: result === 'added' ? 'added' : 'unchanged',
      ...creditJson(shown),
    },
    lines: (style) => [
      result === 'added' ? `added ${formatUsd(amount)} USD (id ${id})` : `the addition ${id} was made before`,
      ...creditTable([shown], style),
    ],
  };
}
