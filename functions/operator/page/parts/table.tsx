// A table that becomes a list of cards where the page is narrow: each cell then carries the title of its column. The roles
// are written out because a browser forgets them with the change of the layout.
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly show: (row: Row) => ComponentChildren;
}

export interface TableProperties<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What to say, and to do, where there are no rows. */
  readonly empty: ComponentChildren;
}

export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProperties<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <div class="table">
      <table role="table">
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, isNumber }) => (
              <th key={title} role="columnheader" scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ title, isNumber, show }) => (
                <td key={title} role="cell" data-title={title} class={isNumber ? 'number' : ''}>
                  <span>{show(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}
