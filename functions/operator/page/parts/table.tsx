// A table that becomes a list of cards where the page is narrow: each cell then carries the title of its column. The roles
// are written out because a browser forgets them with the change of the layout.
import type { ComponentChildren } from 'preact';
import { none } from './shown-values.ts';

export interface TableColumn<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly show: (row: Row) => ComponentChildren;
}

export interface TableProperties<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Text, and advice, where there are no rows. */
  readonly empty: ComponentChildren;
}

export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProperties<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const shown = rows.map((row) => columns.map(({ show }) => show(row)));
  const decimals = columns.map((_column, at) => Math.max(...shown.map((cells) => decimalsOf(cells[at]).length)));
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
          {rows.map((row, line) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ title, isNumber }, at) => {
                const cell = shown[line]?.[at];
                return (
                  <td
                    key={title}
                    role="cell"
                    data-title={title}
                    class={`${isNumber ? 'number' : ''} ${cell === none ? 'none' : ''}`.trim()}
                  >
                    <span>{isNumber ? aligned(cell, decimals[at] ?? 0) : cell}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

/** A number with the text around it: `$1,250.75`, `99.5 %`. */
const number = /^([^\d]*[\d,]+)(\.\d+)?(\D*)$/;

/** Decimals with the point; empty where there are none. */
const decimalsOf = (cell: ComponentChildren): string =>
  typeof cell === 'string' ? (number.exec(cell)?.[2] ?? '') : '';

/** Aligns the decimal points of a column. */
function aligned(cell: ComponentChildren, decimals: number): ComponentChildren {
  const [, whole, fraction = '', behind] = (typeof cell === 'string' && number.exec(cell)) || [];
  if (whole === undefined || fraction.length === decimals) return cell;
  const lacking = `${fraction === '' ? '.' : ''}`.padEnd(decimals - fraction.length, '0');
  return (
    <>
      <span data-lacks={lacking}>
        {whole}
        {fraction}
      </span>
      {behind}
    </>
  );
}
