// Shows a table that becomes a list of cards if the page is narrow. Each cell then shows the title of its column. The
// roles are written out because a browser drops them when the layout changes.
import { type ComponentChildren, Fragment } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type UsdFormat, usdAlike } from './money.ts';
import { count, none } from './shown-values.ts';

export interface TableColumn<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Value by which rows are sorted. Absent if the table cannot be sorted by this column. */
  readonly value?: (row: Row) => number | string | null;
  /** Amounts in the cells of the column, which all have the same number of decimals. */
  readonly amounts?: (row: Row) => readonly (string | null)[];
  /** True if the amounts show all their decimals. */
  readonly isExact?: boolean;
  /** Content of a cell. `usd` formats the amounts of the column. */
  readonly show: (row: Row, usd: UsdFormat) => ComponentChildren;
}

export const textColumn = <Row,>(title: string, value: (row: Row) => string | null): TableColumn<Row> => ({
  title,
  value,
  show: (row) => value(row) ?? none,
});

export const countColumn = <Row,>(title: string, value: (row: Row) => number | null): TableColumn<Row> => ({
  title,
  isNumber: true,
  value,
  show: (row) => count(value(row)),
});

export const amountColumn = <Row,>(
  title: string,
  amount: (row: Row) => string | null,
  { isExact = false }: { readonly isExact?: boolean } = {},
): TableColumn<Row> => ({
  title,
  isNumber: true,
  isExact,
  value: (row) => sizeOf(amount(row)),
  amounts: (row) => [amount(row)],
  show: (row, usd) => usd(amount(row)),
});

export const sizeOf = (amount: string | null): number | null => (amount === null ? null : Number(amount));

/** Returns a part of a row that is shown below it on demand. */
interface Fold<Row> {
  readonly title: (row: Row) => string;
  readonly show: (row: Row) => ComponentChildren;
}

export interface Sorting {
  readonly title: string;
  readonly isDescending: boolean;
}
/** The state of the sorting. Without a sorting, rows have the order of the gateway. */
type SortState = readonly [Sorting | undefined, (sorting: Sorting | undefined) => void];

export interface TableProperties<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Text and advice if there are no rows. */
  readonly empty: ComponentChildren;
  readonly fold?: Fold<Row> | undefined;
  /** State of the sorting, if the caller keeps it longer than the table exists. */
  readonly sortState?: SortState;
}

export function Table<Row>({ caption, columns, rows, keyOf, empty, fold, sortState }: TableProperties<Row>) {
  const ownState = useState<Sorting>();
  const [sorting, sort] = sortState ?? ownState;
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const forms = columns.map(({ amounts, isExact }) =>
    usdAlike(amounts === undefined ? [] : rows.flatMap(amounts), isExact),
  );
  const sorted = inOrder(rows, columns, sorting);
  const shown = sorted.map((row) => columns.map(({ show }, at) => show(row, forms[at] ?? usdAlike([]))));
  const decimals = columns.map((_column, at) => Math.max(...shown.map((cells) => decimalsOf(cells[at]).length)));
  const turn = (key: string) => {
    const next = new Set(unfolded);
    if (!next.delete(key)) next.add(key);
    setUnfolded(next);
  };
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <div class="table">
      {rows.length > 1 && <SortChoice caption={caption} columns={columns} sorting={sorting} sort={sort} />}
      <table role="table">
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Title key={column.title} column={column} sorting={sorting} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted.map((row, line) => {
            const key = keyOf(row);
            const isUnfolded = unfolded.has(key);
            return (
              <Fragment key={key}>
                <tr role="row">
                  {columns.map(({ title, isNumber }, at) => {
                    const cell = shown[line]?.[at];
                    return (
                      <td
                        key={title}
                        role="cell"
                        data-title={title}
                        class={`${isNumber ? 'number' : ''} ${cell === none ? 'none' : ''}`.trim()}
                      >
                        {at === 0 && fold !== undefined && (
                          <button
                            type="button"
                            class="fold"
                            aria-expanded={isUnfolded}
                            aria-label={fold.title(row)}
                            onClick={() => turn(key)}
                          />
                        )}
                        <span>{isNumber ? aligned(cell, decimals[at] ?? 0) : cell}</span>
                      </td>
                    );
                  })}
                </tr>
                {isUnfolded && (
                  <tr role="row" class="unfolded">
                    <td role="cell" colSpan={columns.length}>
                      {fold?.show(row)}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

interface SortProperties<Row> {
  readonly sorting: Sorting | undefined;
  readonly sort: (sorting: Sorting | undefined) => void;
  readonly column: TableColumn<Row>;
}

/**
 * Shows the title of a column. The first press sorts numbers from the largest and text from A, the second press
 * reverses the sorting, and the third press removes it.
 */
function Title<Row>({ column: { title, isNumber = false, value }, sorting, sort }: SortProperties<Row>) {
  const current = sorting?.title === title ? sorting : undefined;
  const next = current === undefined ? { title, isDescending: isNumber } : { title, isDescending: !isNumber };
  const isLast = current !== undefined && current.isDescending !== isNumber;
  const order = current === undefined ? 'none' : current.isDescending ? 'descending' : 'ascending';
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <th role="columnheader" scope="col" class={isNumber ? 'number' : ''} {...(value ? { 'aria-sort': order } : {})}>
      {value === undefined ? (
        title
      ) : (
        <button type="button" class="sort" onClick={() => sort(isLast ? undefined : next)}>
          {title}
        </button>
      )}
    </th>
  );
}

/** Shows the choice of the sorting for a narrow page, which has no titles to press. */
function SortChoice<Row>({
  caption,
  columns,
  sorting,
  sort,
}: Omit<SortProperties<Row>, 'column'> & { readonly caption: string; readonly columns: readonly TableColumn<Row>[] }) {
  const id = useId();
  const sortable = columns.filter(({ value }) => value !== undefined);
  if (sortable.length === 0) return null;
  const options = sortable.flatMap(({ title, isNumber = false }) =>
    [isNumber, !isNumber].map((isDescending): [string, string] => [
      `${isDescending ? '-' : '+'}${title}`,
      `${title}, ${isDescending ? 'descending' : 'ascending'}`,
    ]),
  );
  return (
    <div class="sort-choice">
      <label for={id}>Order of {caption}</label>
      <select
        id={id}
        value={sorting === undefined ? '' : `${sorting.isDescending ? '-' : '+'}${sorting.title}`}
        onChange={({ currentTarget: { value } }) =>
          sort(value === '' ? undefined : { title: value.slice(1), isDescending: value.startsWith('-') })
        }
      >
        {[['', 'as it comes'], ...options].map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Sorts the rows. A row without a value is last in both orders. */
function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const value = columns.find(({ title }) => title === sorting?.title)?.value;
  if (sorting === undefined || value === undefined) return rows;
  const sign = sorting.isDescending ? -1 : 1;
  return rows.toSorted((left, right) => {
    const [one, other] = [value(left), value(right)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * compare(one, other);
  });
}

const texts = new Intl.Collator('en', { numeric: true });

const compare = (one: number | string, other: number | string): number =>
  typeof one === 'number' && typeof other === 'number' ? one - other : texts.compare(String(one), String(other));

/** Matches a number with the text around it: `1,250.75`, `99.5 %`. */
const number = /^([^\d]*[\d,]+)(\.\d+)?(\D*)$/;

/** Returns the decimals with the point; empty if there are none. */
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
