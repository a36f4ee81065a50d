// Aligned columns for people, and the same fields as JSON. Cells may hold what clients wrote, so nothing that steers a
// terminal comes through.
import type { Style } from './terminal.ts';

export interface Column {
  readonly title: string;
  /** decimal: right-aligned with the points under each other, every digit kept. Default left. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** May be cut where the line is too narrow. */
  readonly isFlexible?: boolean;
}

type Cell = string | number | bigint | boolean | readonly string[] | null | undefined;

/** One member of a row: in the JSON document and in the table. */
export interface Field<Row> extends Partial<Column> {
  /** In JSON. Undefined: only in the table. */
  readonly member?: string;
  /** In JSON null where it is undefined. */
  readonly value: (row: Row) => Cell;
  /** In the table, where it looks other than in JSON. */
  readonly shown?: (row: Row) => Cell;
}

/** Only fields with a title. */
export function fieldTable<Row>(fields: readonly Field<Row>[], rows: readonly Row[], style: Style): string[] {
  const columns = fields.flatMap((field) => (field.title === undefined ? [] : [{ ...field, title: field.title }]));
  const cellsOf = (row: Row) => columns.map(({ value, shown = value }) => shown(row));
  return table(columns, rows.map(cellsOf), style);
}

export const fieldJson = <Row>(fields: readonly Field<Row>[], row: Row): Record<string, Cell> =>
  Object.fromEntries(
    fields.flatMap(({ member, value }) => (member === undefined ? [] : [[member, value(row) ?? null]])),
  );

const gap = '  ';
const flexibleWidthMin = 12;

/** A title line and one line per row. What is null or undefined is shown as -. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], style: Style): string[] {
  const texts = columns.map((column, index) =>
    alignCells(
      column,
      rows.map((row) => clean(row[index])),
    ),
  );
  const widths = narrow(
    columns,
    columns.map(({ title }, index) => Math.max(title.length, ...(texts[index] ?? []).map((text) => text.length))),
    style.columns,
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((text, index) => pad(cut(text, widths[index] ?? 0), columns[index]?.align, widths[index] ?? 0))
      .join(gap)
      .trimEnd();
  const title = line(columns.map((column) => column.title));
  return [
    style.isColoured ? `\u001b[1m${title}\u001b[22m` : title,
    ...rows.map((_row, index) => line(texts.map((cells) => cells[index] ?? ''))),
  ];
}

function clean(cell: Cell): string {
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return (cell ?? '-').toString().replace(/[\p{Cc}\p{Cf}]/gu, '·');
}

function alignCells({ align }: Column, cells: readonly string[]): string[] {
  if (align !== 'decimal') return [...cells];
  const fractions = cells.map((cell) => (cell.includes('.') ? cell.length - cell.indexOf('.') : 0));
  const widest = Math.max(0, ...fractions);
  return cells.map((cell, index) => cell + ' '.repeat(widest - (fractions[index] ?? 0)));
}

/** Takes from the widest flexible column until the line fits, or nothing more can be taken. */
function narrow(columns: readonly Column[], natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);
  while (total() > available) {
    const flexible = widths.map((width, index) => (columns[index]?.isFlexible === true ? width : 0));
    const widest = flexible.indexOf(Math.max(...flexible));
    if ((flexible[widest] ?? 0) <= flexibleWidthMin) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

const pad = (text: string, align: Column['align'], width: number): string =>
  align === undefined || align === 'left' ? text.padEnd(width) : text.padStart(width);
