// The money of workspaces, to the last digit.
import type { CreditSummary } from '../../../shared/accounting/credit/index.ts';
import type { WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { Style } from '../terminal.ts';
import { type Column, table } from './table.ts';

export interface WorkspaceCredit {
  readonly workspace: WorkspaceDocument;
  readonly summary: CreditSummary;
}

const columns: readonly Column[] = [
  { title: 'workspace', isFlexible: true },
  { title: 'granted USD', align: 'decimal' },
  { title: 'spent USD', align: 'decimal' },
  { title: 'held USD', align: 'decimal' },
  { title: 'available USD', align: 'decimal' },
  { title: 'spend limit', align: 'decimal' },
  { title: 'under limit', align: 'decimal' },
];

export const creditTable = (credits: readonly WorkspaceCredit[], style: Style): string[] =>
  table(
    columns,
    credits.map(({ workspace, summary }) => [
      workspace.id,
      formatUsd(summary.granted),
      formatUsd(summary.spent),
      formatUsd(summary.held),
      formatUsd(summary.available),
      workspace.spend_limit_usd,
      summary.underSpendLimit === null ? null : formatUsd(summary.underSpendLimit),
    ]),
    style,
  );

export const creditJson = ({ workspace, summary }: WorkspaceCredit) => ({
  workspace: workspace.id,
  granted_usd: formatUsd(summary.granted),
  spent_usd: formatUsd(summary.spent),
  held_usd: formatUsd(summary.held),
  available_usd: formatUsd(summary.available),
  spend_limit_usd: workspace.spend_limit_usd,
  under_spend_limit_usd: summary.underSpendLimit === null ? null : formatUsd(summary.underSpendLimit),
});
