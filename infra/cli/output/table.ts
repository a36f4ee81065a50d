// Formats aligned columns for people, and the same fields as JSON. Cells may contain clients' text, so characters that
// control a terminal are escaped.
import { formatTags, type Tags } from '../../../shared/protocol/wire/index.ts';
import { inBold, type Style } from './terminal.ts';

interface Column {
  readonly title: string;
  /** Alignment; `decimal` is right-aligned with the points under each other, and shows every digit. Default: left. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** Whether it may be cut if the line is too narrow. */
  readonly isFlexible?: boolean;
  /** Order in which columns are dropped if the line is too narrow: lower numbers first. */
  readonly leftOut?: number;
}

/** Names with their values. */
type Pairs = Tags | { readonly [name: string]: string | number | boolean | undefined };
export type CellValue = string | number | bigint | boolean | readonly string[] | Pairs | null | undefined;

/** One field of a row: in the JSON document and in the table. */
export interface Field<Row> extends Partial<Column> {
  /** Name in JSON; undefined for a column of the table only. */
  readonly member?: string;
  /** Value; null in JSON if it is undefined. */
  readonly value: (row: Row) => CellValue;
  /** Text in the table, if it differs from JSON. */
  readonly shown?: (row: Row) => CellValue;
}

/** Returns a table of the fields that have a title. */
export function fieldTable<Row>(fields: readonly Field<Row>[], rows: readonly Row[], style: Style): string[] {
  const columns = fields.flatMap((field) => (field.title === undefined ? [] : [{ ...field, title: field.title }]));
  const cellsOf = (row: Row) => columns.map(({ value, shown = value }) => shown(row));
  return table(columns, rows.map(cellsOf), style);
}

export const fieldJson = <Row>(fields: readonly Field<Row>[], row: Row): Record<string, CellValue> =>
  Object.fromEntries(
    fields.flatMap(({ member, value }) => (member === undefined ? [] : [[member, value(row) ?? null]])),
  );

const gap = '  ';

/** Shows a document as lines of a name and a text; fields with an undefined text are omitted. */
export function memberLines(document: object, textOf: (value: unknown) => string | undefined): string[] {
  const texts = Object.entries(document).flatMap(([name, value]) => {
    const text = textOf(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  const width = Math.max(...texts.map(([name]) => name.length));
  return texts.map(([name, text]) => `${name.padEnd(width)}${gap}${text}`);
}

const flexibleWidthMin = 12;

/** Returns a title line and one line per row, none wider than the terminal. Null and undefined are shown as -. */
export function table(columns: readonly Column[], rows: readonly (readonly CellValue[])[], style: Style): string[] {
  const sized = columns.map((column, index): SizedColumn => {
    const texts = alignCells(
      column,
      rows.map((row) => clean(row[index])),
    );
    return { ...column, texts, width: Math.max(column.title.length, ...texts.map((text) => text.length)) };
  });
  const shownColumns = leaveOut(sized, style.columns);
  const widths = narrow(shownColumns, style.columns);
  const line = (cells: readonly string[]) =>
    cut(
      cells
        .map((text, index) => pad(cut(text, widths[index] ?? 0), shownColumns[index]?.align, widths[index] ?? 0))
        .join(gap)
        .trimEnd(),
      style.columns,
    );
  const title = line(shownColumns.map((column) => column.title));
  const missing = columns.filter(({ title }) => !shownColumns.some((column) => column.title === title));
  return [
    style.isColoured ? inBold(title) : title,
    ...rows.map((_row, index) => line(shownColumns.map(({ texts }) => texts[index] ?? ''))),
    ...(missing.length === 0
      ? []
      : [cut(`left out, the terminal is too narrow: ${missing.map(({ title }) => title).join(', ')}`, style.columns)]),
  ];
}

interface SizedColumn extends Column {
  readonly texts: readonly string[];
  readonly width: number;
}

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);

/** Drops columns one after the other, until the line fits with its flexible columns as narrow as they may be. */
function leaveOut(columns: readonly SizedColumn[], available: number): readonly SizedColumn[] {
  const least = columns.map(({ width, isFlexible }) =>
    isFlexible === true ? Math.min(width, flexibleWidthMin) : width,
  );
  const next = columns.reduce<SizedColumn | undefined>(
    (first, column) =>
      (column.leftOut ?? Number.POSITIVE_INFINITY) < (first?.leftOut ?? Number.POSITIVE_INFINITY) ? column : first,
    undefined,
  );
  if (lineWidth(least) <= available || next === undefined) return columns;
  return leaveOut(
    columns.filter((column) => column !== next),
    available,
  );
}

function clean(cell: CellValue): string {
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return (isPairs(cell) ? formatTags(cell as Tags) || '-' : (cell ?? '-')).toString().replace(/[\p{Cc}\p{Cf}]/gu, '·');
}

const isPairs = (cell: CellValue): cell is Pairs => typeof cell === 'object' && cell !== null && !Array.isArray(cell);

function alignCells({ align }: Column, cells: readonly string[]): string[] {
  if (align !== 'decimal') return [...cells];
  const fractions = cells.map((cell) => (cell.includes('.') ? cell.length - cell.indexOf('.') : 0));
  const widest = Math.max(0, ...fractions);
  return cells.map((cell, index) => cell + ' '.repeat(widest - (fractions[index] ?? 0)));
}

/** Narrows the widest flexible column until the line fits, or no column can be narrowed further. */
function narrow(columns: readonly SizedColumn[], available: number): number[] {
  const widths = columns.map(({ width }) => width);
  while (lineWidth(widths) > available) {
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
