// Keys as tables and as JSON. Neither holds more of a key than its public id.
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { KeyFigures } from '../key-figures.ts';
import type { Style } from '../terminal.ts';
import { type Column, table } from './table.ts';

const columns: readonly Column[] = [
  { title: 'workspace', isFlexible: true },
  { title: 'name', isFlexible: true },
  { title: 'public id' },
  { title: 'status' },
  { title: 'rpm', align: 'right' },
  { title: 'spend limit', align: 'decimal' },
  { title: 'spent USD', align: 'decimal' },
  { title: 'held USD', align: 'decimal' },
];

/** What has no limit shows -. */
export const keyTable = (keys: readonly KeyFigures[], style: Style): string[] =>
  table(
    columns,
    keys.map(({ workspace, name, publicId, status, rpm, spendLimitUsd, spent, held }) => [
      workspace,
      name,
      publicId,
      status,
      rpm,
      spendLimitUsd,
      amountOf(spent),
      amountOf(held),
    ]),
    style,
  );

export const keyJson = ({ workspace, name, publicId, status, rpm, spendLimitUsd, spent, held }: KeyFigures) => ({
  workspace,
  name,
  public_id: publicId,
  status,
  rpm,
  spend_limit_usd: spendLimitUsd,
  spent_usd: amountOf(spent),
  held_usd: amountOf(held),
});

const amountOf = (amount: PicoUsd | null): string | null => (amount === null ? null : formatUsd(amount));
