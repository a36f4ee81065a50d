import type { ErrorKind } from './error-kinds.ts';
import { errorKinds } from './error-kinds.ts';

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim().replaceAll('`', ''));

/** The tables of the README with the number of requests: client → one cell a kind, in the order of `errorKinds`. */
export function requestRows(readme: string): Readonly<Record<string, readonly string[]>> {
  const rows = readme.split('\n').map(cellsOf);
  return Object.fromEntries(
    rows.flatMap(([first, ...clients], head) => {
      if (first !== 'requests') return [];
      const body = errorKinds.map((_kind, index) => rows[head + 2 + index] ?? []);
      return clients.map((client, column) => [client, body.map((cells) => cells[column + 1] ?? '')] as const);
    }),
  );
}

export interface ClientRow {
  readonly showsCost: boolean;
  /** The first words of the two last columns, by base URL. */
  readonly reads: Readonly<Record<'/openai/v1' | '/v1', string>>;
}

/** The table of the README with a row for each client. */
export function clientRows(readme: string): Readonly<Record<string, ClientRow>> {
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

/** What of an error stands in the text that a library shows. */
export function readsAs(text: string, { code, says }: ErrorKind): string {
  const hasMessage = text.includes(says);
  if (text.includes(code)) return hasMessage ? 'code and message' : 'code';
  return hasMessage ? 'message' : 'status alone';
}

/** The rows of the table below a heading: client → its cells by the names of the columns. */
function rowsBelow(readme: string, heading: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const [, section = ''] = readme.split(`\n${heading}\n`);
  const table = section
    .trimStart()
    .split('\n\n')
    .find((block) => /^\| (client|suite)/.test(block))
    ?.split('\n')
    .map(cellsOf);
  const [[, ...columns] = [], , ...rows] = table ?? [];
  return Object.fromEntries(
    rows.map(([name = '', ...cells]) => [
      name,
      Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
    ]),
  );
}

/** Client → format → yes or no. */
export const formatRows = (readme: string) => rowsBelow(readme, '## At providers of every format');

/** Client → maker of the model → what of its thinking the client sends back. */
export const thinkingRows = (readme: string) => rowsBelow(readme, '## Thinking across tool calls');

/** Suite → format → how many of its cases pass. */
export const complianceRows = (readme: string) => rowsBelow(readme, '## Public suites');
