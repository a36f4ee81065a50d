// Pages of a list of models by a token, which is the id of the first model of a page.
import { fail } from '../../errors/index.ts';

interface PageSize {
  /** The parameter's value; null if it was not sent. */
  readonly sent: string | null;
  /** Name of the parameter in errors. */
  readonly param: string;
  readonly fallback: number;
  readonly max: number;
  /** True if a size of 0 counts as absent. */
  readonly zeroIsNone: boolean;
}

interface PageToken {
  readonly sent: string | null;
  readonly param: string;
}

interface Page<Model> {
  readonly models: readonly Model[];
  /** Token of the next page; undefined for the last page. */
  readonly nextToken: string | undefined;
}

/** Returns the page. Throws invalid_request for an impossible page. */
export function pageOf<Model extends { readonly id: string }>(
  models: readonly Model[],
  { size, token }: { readonly size: PageSize; readonly token: PageToken },
): Page<Model> {
  const start = startOf(models, token);
  const end = start + readSize(size);
  return { models: models.slice(start, end), nextToken: models[end]?.id };
}

function readSize({ sent, param, fallback, max, zeroIsNone }: PageSize): number {
  if (sent === null || sent === '' || (zeroIsNone && sent === '0')) return fallback;
  if (/^\d{1,9}$/.test(sent) && Number(sent) > 0) return Math.min(Number(sent), max);
  throw fail('invalid_request', { message: `${param}: must be a whole number above 0.`, param });
}

function startOf(models: readonly { readonly id: string }[], { sent, param }: PageToken): number {
  if (sent === null || sent === '') return 0;
  const start = models.findIndex(({ id }) => id === sent);
  if (start < 0) throw fail('invalid_request', { message: `${param}: is none of this list.`, param });
  return start;
}
