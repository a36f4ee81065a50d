// Who the calls of an overview belong to: one table for each way to group them, whose rows lead to their calls.
import type { Parameters } from '../connection/address.ts';
import type { CallTotals } from '../connection/documents.ts';
import { Link } from '../parts/link.tsx';
import { count, hasByok, milliseconds, none, spendOf, usd } from '../parts/shown-values.ts';
import { Table, type TableColumn } from '../parts/table.tsx';

interface Group extends CallTotals {
  readonly name: string | null;
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
  { title: 'Calls', isNumber: true, show: ({ calls }) => count(calls) },
  { title: 'Failed', isNumber: true, show: ({ failed }) => count(failed) },
  { title: 'Refused', isNumber: true, show: ({ refused }) => count(refused) },
];

export function Groups<Row extends Group>({ by, rows, since, columns = callColumns }: GroupsProperties<Row>) {
  const name: TableColumn<Row> = {
    title: `${by.slice(0, 1).toUpperCase()}${by.slice(1)}`,
    show: (row) =>
      row.name === null ? none : <Link view="calls" parameters={{ ...row.filter, since }} text={row.name} />,
  };
  const figures: readonly TableColumn<Row>[] = [
    { title: 'Spend', isNumber: true, show: (row) => usd(String(spendOf(row))) },
    ...(rows.some(hasByok)
      ? [{ title: 'BYOK', isNumber: true, show: ({ byok_cost_usd }: Row) => usd(byok_cost_usd) }]
      : []),
    { title: 'Tokens', isNumber: true, show: ({ tokens }) => count(tokens) },
    { title: 'p50', isNumber: true, show: ({ p50_ms }) => milliseconds(p50_ms) },
    { title: 'p95', isNumber: true, show: ({ p95_ms }) => milliseconds(p95_ms) },
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
