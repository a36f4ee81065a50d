// Who the calls of an overview belong to: one table for each way to group them, whose rows lead to their calls.
import type { Parameters } from '../connection/address.ts';
import type { CallTotals } from '../connection/documents.ts';
import { Link } from '../parts/link.tsx';
import { amountText } from '../parts/money.ts';
import { hasByok, milliseconds, none, spendOf } from '../parts/shown-values.ts';
import { amountColumn, countColumn, Table, type TableColumn } from '../parts/table.tsx';

interface Group extends CallTotals {
  readonly name: string | null;
  /** Workspace of a key. */
  readonly of?: string;
  readonly filter: Parameters;
}

interface GroupsProperties<Row extends Group> {
  readonly by: string;
  readonly rows: readonly Row[];
  readonly since: string;
  /** How often each was called. */
  readonly columns?: readonly TableColumn<Row>[];
}

const callColumns: readonly TableColumn<Group>[] = [
  countColumn('Calls', ({ calls }) => calls),
  countColumn('Failed', ({ failed }) => failed),
  countColumn('Refused', ({ refused }) => refused),
];

export function Groups<Row extends Group>({ by, rows, since, columns = callColumns }: GroupsProperties<Row>) {
  const name: TableColumn<Row> = {
    title: `${by.slice(0, 1).toUpperCase()}${by.slice(1)}`,
    value: (row) => row.name,
    show: (row) =>
      row.name === null ? (
        none
      ) : (
        <span class="lines">
          <Link view="calls" parameters={{ ...row.filter, since }} text={row.name} />
          {row.of !== undefined && <span class="muted">of {row.of}</span>}
        </span>
      ),
  };
  const figures: readonly TableColumn<Row>[] = [
    amountColumn('Spend', (row) => amountText(spendOf(row))),
    ...(rows.some(hasByok) ? [amountColumn<Row>('BYOK', ({ byok_cost_usd }) => byok_cost_usd)] : []),
    countColumn('Tokens', ({ tokens }) => tokens),
    { title: 'p50', isNumber: true, value: ({ p50_ms }) => p50_ms, show: ({ p50_ms }) => milliseconds(p50_ms) },
    { title: 'p95', isNumber: true, value: ({ p95_ms }) => p95_ms, show: ({ p95_ms }) => milliseconds(p95_ms) },
  ];
  return (
    <>
      <h2>By {by}</h2>
      <Table
        caption={`Calls by ${by}`}
        columns={[name, ...columns, ...figures]}
        rows={rows}
        keyOf={({ filter }) => JSON.stringify(filter)}
        empty={`No ${by} was called.`}
      />
    </>
  );
}
