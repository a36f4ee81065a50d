// A list as a table: its first page, and those that were asked for behind it.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { List } from '../connection/documents.ts';
import { manage, RequestFailed } from '../connection/management.ts';
import { Failure } from './states.tsx';
import { Table, type TableProperties } from './table.tsx';

interface PagedTableProperties<Item, Row> extends Omit<TableProperties<Row>, 'rows' | 'empty'> {
  /** That of the first page, with a query. */
  readonly path: string;
  /** What the cursor goes back as. */
  readonly cursorName?: 'before' | 'cursor';
  readonly first: List<Item>;
  readonly rowsOf: (items: readonly Item[]) => readonly Row[];
  readonly empty: (items: readonly Item[], hasMore: boolean) => ComponentChildren;
  readonly moreTitle: string;
}

export function PagedTable<Item, Row>(properties: PagedTableProperties<Item, Row>) {
  const { path, cursorName = 'cursor', first, rowsOf, empty, moreTitle, ...table } = properties;
  const [more, setMore] = useState<readonly List<Item>[]>([]);
  const [failure, setFailure] = useState<RequestFailed>();
  // Another first page makes those behind it disagree with it.
  useEffect(() => setMore([]), [first]);
  const pages = [first, ...more];
  const items = pages.flatMap(({ data }) => data);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const readMore = async (from: string) => {
    setFailure(undefined);
    try {
      const page = await manage<List<Item>>(`${path}&${cursorName}=${encodeURIComponent(from)}`);
      setMore((last) => [...last, page]);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailure(error);
    }
  };
  return (
    <>
      <Table {...table} rows={rowsOf(items)} empty={empty(items, cursor !== null)} />
      {failure && <Failure failure={failure} />}
      {cursor !== null && (
        <button type="button" onClick={() => void readMore(cursor)}>
          {moreTitle}
        </button>
      )}
    </>
  );
}

export const allRows = <Row,>(items: readonly Row[]): readonly Row[] => items;
