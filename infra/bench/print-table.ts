// Tables for a terminal and for Markdown alike.

export type Cell = string | number | undefined;

/** A Markdown table with padded columns; numbers to the right. Lines end in a line feed. */
export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => (cell === undefined ? '' : String(cell))));
  const widths = head.map((name, column) => Math.max(name.length, 3, ...texts.map((row) => row[column]?.length ?? 0)));
  const isRight = head.map((_name, column) => column > 0 && rows.every((row) => isNumeric(row[column])));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, isRight[column] === true)).join(' | ')} |\n`;
  const rule = `|${widths.map((width, column) => (isRight[column] ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|\n`;
  return line(head) + rule + texts.map(line).join('');
}

const pad = (text: string, width: number, isRight: boolean): string =>
  isRight ? text.padStart(width) : text.padEnd(width);

const isNumeric = (cell: Cell): boolean => cell === undefined || cell === '' || /^[–\d-]/.test(String(cell));
