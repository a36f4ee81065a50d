// `credits add | show | history`: the credit of workspaces, to the last digit.
import type { CreditAddition } from '../../../shared/accounting/credit/index.ts';
import {
  addCredit,
  readCredits,
  readWorkspace,
  type WorkspaceCredit,
} from '../../../shared/configuration/administration/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsdChange } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';

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
    .does(addToCredit);
  credits
    .command('show')
    .description('the credit of a workspace, or of all: granted, spent, held, available')
    .takesArgument('[WORKSPACE]', readId)
    .does(showCredits);
  credits
    .command('history')
    .description('what was added to the credit of a workspace and taken away, the newest first')
    .takesArgument('WORKSPACE', readId)
    .notes('Additions are known for 30 days.')
    .does(showHistory);
}

async function addToCredit(
  session: Session,
  workspace: string,
  amount: PicoUsd,
  { id = session.randomness.uuid() }: { readonly id?: string },
): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  const { change, ...credit } = await addCredit(administration, { workspace, amount, id });
  return {
    json: { id, amount_usd: formatUsd(amount), change, ...fieldJson(creditFields, credit) },
    lines: (style) => [
      change === 'added' ? `added ${formatUsd(amount)} USD (id ${id})` : `the addition ${id} was made before`,
      ...fieldTable(creditFields, [credit], style),
    ],
  };
}

async function showCredits(session: Session, workspace: string | undefined): Promise<Outcome> {
  const administration = await openAdministration(session);
  session.terminal.showProgress('reading credit …');
  const credits = await readCredits(administration, workspace);
  return {
    json: { credits: credits.map((one) => fieldJson(creditFields, one)) },
    lines: (style) => (credits.length === 0 ? ['there are no workspaces'] : fieldTable(creditFields, credits, style)),
  };
}

async function showHistory(session: Session, workspace: string): Promise<Outcome> {
  const administration = await openAdministration(session);
  await readWorkspace(administration, workspace);
  const additions = (await administration.credit.additions(workspace)).toSorted((a, b) => b.atMs - a.atMs);
  return {
    json: { workspace, additions: additions.map((one) => fieldJson(additionFields, one)) },
    lines: (style) =>
      additions.length === 0
        ? ['nothing was added or taken away within 30 days']
        : fieldTable(additionFields, additions, style),
  };
}

const additionFields: readonly Field<CreditAddition>[] = [
  { member: 'time', title: 'time', value: ({ atMs }) => instantOf(atMs) },
  { member: 'amount_usd', title: 'USD', align: 'decimal', value: ({ amount: added }) => formatUsd(added) },
  { member: 'id', title: 'id', isFlexible: true, value: ({ id }) => id },
];

const amount = (
  member: string,
  title: string,
  amountOf: (credit: WorkspaceCredit) => PicoUsd | null,
): Field<WorkspaceCredit> => ({
  member,
  title,
  align: 'decimal',
  value: (credit) => formatUsd(amountOf(credit)),
});

export const creditFields: readonly Field<WorkspaceCredit>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace.id },
  amount('granted_usd', 'granted USD', ({ summary }) => summary.granted),
  amount('spent_usd', 'spent USD', ({ summary }) => summary.spent),
  amount('held_usd', 'held USD', ({ summary }) => summary.held),
  amount('available_usd', 'available USD', ({ summary }) => summary.available),
  { member: 'spend_limit_usd', title: 'spend limit', align: 'decimal', value: (c) => c.workspace.spend_limit_usd },
  amount('under_spend_limit_usd', 'under limit', ({ summary }) => summary.underSpendLimit),
];
