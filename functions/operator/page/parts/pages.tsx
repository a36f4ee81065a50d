// The pages of a list: the first one, and those that were asked for behind it.
import { useEffect, useState } from 'preact/hooks';
import type { List } from '../connection/documents.ts';
import { manage, RequestFailed } from '../connection/management.ts';
import { Failure } from './states.tsx';

export interface Pages<Row> {
  readonly rows: readonly Row[];
  readonly failure: RequestFailed | undefined;
  /** Undefined: there is no further page. */
  readonly readMore: (() => void) | undefined;
}

/** `path` is that of the first page, with a query; the cursor goes back as `cursorName`. */
export function usePages<Row>(path: string, cursorName: 'before' | 'cursor', first: List<Row>): Pages<Row> {
  const [more, setMore] = useState<readonly List<Row>[]>([]);
  const [failure, setFailure] = useState<RequestFailed>();
  // Another first page makes those behind it disagree with it.
  useEffect(() => setMore([]), [first]);
  const pages = [first, ...more];
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const readMore = async (from: string) => {
    setFailure(undefined);
    try {
      const page = await manage<List<Row>>(`${path}&${cursorName}=${encodeURIComponent(from)}`);
      setMore((last) => [...last, page]);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailure(error);
    }
  };
  return {
    rows: pages.flatMap(({ data }) => data),
    failure,
    readMore: cursor === null ? undefined : () => void readMore(cursor),
  };
}

export function MoreRows<Row>({ pages, title }: { readonly pages: Pages<Row>; readonly title: string }) {
  const { failure, readMore } = pages;
  return (
    <>
      {failure && <Failure failure={failure} />}
      {readMore && (
        <button type="button" onClick={readMore}>
          {title}
        </button>
      )}
    </>
  );
}
