// `credits add | show`: the credit of workspaces, to the last digit.
import type { CreditSummary } from '../../../shared/accounting/credit/index.ts';
import type { WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsdChange } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { accountOf, readWorkspace, readWorkspaces, storesOn } from '../target/stores.ts';

export function addCredits(program: CommandLine): void {
  const credits = program.command('credits').description('the credit of workspaces');
  credits
    .command('add')
    .description('add credit to a workspace, or take some away; the same --id adds once')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('USD', readUsdChange)
    .takesOption('--id <ID>', 'names the addition, as an invoice number does; left out: a new one', readId)
    .notes(
      'An addition is remembered by its id for 30 days: repeating it within them adds nothing.',
      'A negative amount takes credit away, never what running calls hold or what was spent.',
    )
    .does(addCredit);
  credits
    .command('show')
    .description('the credit of a workspace, or of all: granted, spent, held, available')
    .takesArgument('[WORKSPACE]', readId)
    .does(showCredits);
}

async function addCredit(
  session: Session,
  workspace: string,
  amount: PicoUsd,
  { id = session.randomness.uuid() }: { readonly id?: string },
): Promise<Outcome> {
  const { workspaceStore, credit } = storesOn((await session.open({ writes: true })).store);
  const document = await readWorkspace(workspaceStore, workspace);
  const addition = { workspace, shards: document.credit_shards, amount, id, nowMs: session.clock.nowMs() };
  const result = await credit.add(addition).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Error(`the store gave no answer; repeat with --id ${id}, which adds once`);
  });
  if (result === 'absent')
    throw new Error(`workspace ${workspace} has no credit account: apply its gateway file again`);
  if (result === 'insufficient') {
    const { available } = await credit.show(accountOf(document));
    throw new Error(`nothing was taken away: ${formatUsd(available)} USD are neither spent nor held by running calls`);
  }
  const shown = { workspace: document, summary: await credit.show(accountOf(document)) };
  const change = result === 'added' ? 'added' : 'unchanged';
  return {
    json: { id, amount_usd: formatUsd(amount), change, ...fieldJson(creditFields, shown) },
    lines: (style) => [
      result === 'added' ? `added ${formatUsd(amount)} USD (id ${id})` : `the addition ${id} was made before`,
      ...fieldTable(creditFields, [shown], style),
    ],
  };
}

async function showCredits(session: Session, id: string | undefined): Promise<Outcome> {
  const { store } = await session.open();
  const { credit } = storesOn(store);
  session.terminal.showProgress('reading credit …');
  const credits = await mapParallel(await readWorkspaces(store, id), parallelReads, async (workspace) => ({
    workspace,
    summary: await credit.show(accountOf(workspace)),
  }));
  return {
    json: { credits: credits.map((one) => fieldJson(creditFields, one)) },
    lines: (style) => (credits.length === 0 ? ['there are no workspaces'] : fieldTable(creditFields, credits, style)),
  };
}

interface WorkspaceCredit {
  readonly workspace: WorkspaceDocument;
  readonly summary: CreditSummary;
}

const amount = (
  member: string,
  title: string,
  amountOf: (credit: WorkspaceCredit) => PicoUsd | null,
): Field<WorkspaceCredit> => ({
  member,
  title,
  align: 'decimal',
  value: (credit) => {
    const value = amountOf(credit);
    return value === null ? null : formatUsd(value);
  },
});

const creditFields: readonly Field<WorkspaceCredit>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace.id },
  amount('granted_usd', 'granted USD', ({ summary }) => summary.granted),
  amount('spent_usd', 'spent USD', ({ summary }) => summary.spent),
  amount('held_usd', 'held USD', ({ summary }) => summary.held),
  amount('available_usd', 'available USD', ({ summary }) => summary.available),
  { member: 'spend_limit_usd', title: 'spend limit', align: 'decimal', value: (c) => c.workspace.spend_limit_usd },
  amount('under_spend_limit_usd', 'under limit', ({ summary }) => summary.underSpendLimit),
];
