// The table of errors as Markdown: what infra/openapi/README.md shows, and what `--errors` prints.
import { type ErrorCode, errorCatalogue } from '../../shared/errors/index.ts';
import { errorGuide } from './error-guide/index.ts';
import { errorCodes } from './error-responses.ts';

const serverFault = 500;

function adviceOf(code: ErrorCode): string {
  const { retry, status } = errorCatalogue[code];
  if (retry === 'wait' || retry === 'soon') return 'after `Retry-After`';
  return retry === 'none' && status >= serverFault ? 'may help' : 'no';
}

export const errorColumns = ['status', 'code', 'cause', 'cure', 'again?'] as const;

/** One row a code, in the order of statuses. */
export const errorRows = (): string[][] =>
  errorCodes
    .map((code) => ({ code, status: errorCatalogue[code].status }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status }) => [
      String(status),
      `\`${code}\``,
      errorGuide[code].cause,
      errorGuide[code].cure,
      adviceOf(code),
    ]);

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const errorsPage = (): string =>
  [toLine(errorColumns), toLine(errorColumns.map(() => '---')), ...errorRows().map(toLine)].join('\n');
