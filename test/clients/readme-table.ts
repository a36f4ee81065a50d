import { errorKinds } from './error-kinds.ts';

/** The table of the README with the number of requests: client → one cell a kind, in the order of `errorKinds`. */
export function requestRows(readme: string): Readonly<Record<string, readonly string[]>> {
  const rows = readme
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  const head = rows.findIndex(([first]) => first === 'requests');
  const [, ...clients] = rows[head] ?? [];
  const body = rows.slice(head + 1, head + 2 + errorKinds.length).filter(([first]) => !first?.startsWith('---'));
  return Object.fromEntries(clients.map((client, index) => [client, body.map((cells) => cells[index + 1] ?? '')]));
}
