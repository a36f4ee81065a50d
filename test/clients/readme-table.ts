import { formats } from './client-gateway.ts';
import { type ErrorKind, errorKinds } from './error-kinds.ts';

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim().replaceAll('`', ''));

/** Names between backticks: a row may be of several clients. */
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The rows below a heading, cells as they are written: those of the head first. */
function tableBelow(readme: string, heading: string): string[][] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const [table = ''] = /^\|.*(?:\n\|.*)*/m.exec(section) ?? [];
  const rows = table.split('\n').map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
  return rows.filter(([first = '']) => !/^-+$/.test(first));
}

/** The column of the README for a kind: refused for good, failed for good, or what may succeed later. */
function columnOf({ title, isFinal }: ErrorKind): number {
  if (!isFinal) return 3;
  return /\((400|401|402)\)$/.test(title) ? 1 : 2;
}

/** How often each client asks: client → one cell a kind, in the order of `errorKinds`, for either base URL. */
export function requestRows(readme: string): Readonly<Record<string, readonly string[]>> {
  const [, ...rows] = tableBelow(readme, 'How often a client comes back');
  return Object.fromEntries(
    rows.flatMap((cells) =>
      namesIn(cells[0]).map((client) => [
        client,
        errorKinds.map((kind) => `${cells[columnOf(kind)]} → ${cells[columnOf(kind)]}`),
      ]),
    ),
  );
}

export interface ReadmeRow {
  readonly showsCost: boolean;
  /** The first words of the two last columns, by base URL. */
  readonly reads: Readonly<Record<'/openai/v1' | '/v1', string>>;
}

/** The table of the README with a row for each client. */
export function clientRows(readme: string): Readonly<Record<string, ReadmeRow>> {
  const firstWords = (cell = '') => cell.replace(/[;(].*/, '').trim();
  return Object.fromEntries(
    readme
      .split('\n')
      .map(cellsOf)
      .filter(({ length }) => length === 5)
      .map(([name = '', , cost, openai, plain]) => [
        name,
        { showsCost: cost !== 'not shown', reads: { '/openai/v1': firstWords(openai), '/v1': firstWords(plain) } },
      ]),
  );
}

/** Says which parts of an error are in the text that a library shows. */
export function readsAs(text: string, { code, says }: ErrorKind): string {
  const hasMessage = text.includes(says);
  if (text.includes(code)) return hasMessage ? 'code and message' : 'code';
  return hasMessage ? 'message' : 'status alone';
}

/** The rows of the table below a heading: client → its cells by the names of the columns. */
function rowsBelow(readme: string, heading: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const table = tableBelow(readme, heading).map((cells) => cells.map((cell) => cell.replaceAll('`', '')));
  const [[, ...columns] = [], ...rows] = table;
  return Object.fromEntries(
    rows.map(([name = '', ...cells]) => [
      name,
      Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
    ]),
  );
}

/** Client → format → yes or no. */
export function formatRows(readme: string): Readonly<Record<string, Readonly<Record<string, 'yes' | 'no'>>>> {
  const [, ...rows] = tableBelow(readme, 'At providers of every format');
  return Object.fromEntries(
    rows.flatMap(([clients, served]) => {
      const cells = Object.fromEntries(
        formats.map((format) => [format, namesIn(served).includes(format) ? 'yes' : 'no'] as const),
      );
      return namesIn(clients).map((client) => [client, cells] as const);
    }),
  );
}

/** Client → maker of the model → what of its thinking the client sends back. */
export const thinkingRows = (readme: string) => rowsBelow(readme, 'Thinking across tool calls');

/** Suite → format → how many of its cases pass. */
export const complianceRows = (readme: string) => rowsBelow(readme, 'Public suites');
