// Shows a list as a table: its first page, and further pages on demand.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { List } from '../connection/documents.ts';
import { type LoadState, readJson } from '../connection/management.ts';
import { Button } from './button.tsx';
import { count } from './shown-values.ts';
import { Failure, Shown } from './states.tsx';
import { type Sorting, Table, type TableProperties } from './table.tsx';
import { useRequests } from './use-requests.ts';

interface PagedTableProperties<Item, Row> extends Omit<TableProperties<Row>, 'rows' | 'empty'> {
  /** The first page. */
  readonly loaded: LoadState<List<Item>>;
  /** Parameter in which the cursor is sent. */
  readonly cursorName?: 'before' | 'cursor';
  readonly rowsOf: (items: readonly Item[]) => readonly Row[];
  readonly empty: (items: readonly Item[], hasMore: boolean) => ComponentChildren;
  readonly moreTitle: string;
}

export function PagedTable<Item, Row>({ loaded, ...table }: PagedTableProperties<Item, Row>) {
  // The sorting stays while the person types other filters.
  const sortState = useState<Sorting>();
  return (
    <Shown loaded={loaded}>
      {(first) => <Pages key={loaded.path} {...table} sortState={sortState} path={loaded.path} first={first} />}
    </Shown>
  );
}

interface PagesProperties<Item, Row> extends Omit<PagedTableProperties<Item, Row>, 'loaded'> {
  /** Path with its query. */
  readonly path: string | undefined;
  readonly first: List<Item>;
}

function Pages<Item, Row>(properties: PagesProperties<Item, Row>) {
  const { path, cursorName = 'cursor', first, rowsOf, empty, moreTitle, ...table } = properties;
  const [more, setMore] = useState<readonly List<Item>[]>([]);
  const { failure, run } = useRequests();
  // Further pages belong to the former first page, so they are dropped.
  useEffect(() => setMore([]), [first]);
  const pages = [first, ...more];
  const items = pages.flatMap(({ data }) => data);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const readMore = async (from: string) => {
    const page = await run(() => readJson<List<Item>>(`${path}&${cursorName}=${encodeURIComponent(from)}`));
    if (page !== undefined) setMore((last) => [...last, page]);
  };
  return (
    <>
      <Table {...table} rows={rowsOf(items)} empty={empty(items, cursor !== null)} />
      <Failure failure={failure} />
      {cursor !== null && (
        <p class="actions">
          <Button text={moreTitle} onClick={() => readMore(cursor)} />
          {table.sortState?.[0] !== undefined && (
            <span class="muted">Only the {count(items.length)} that were read are in this order.</span>
          )}
        </p>
      )}
    </>
  );
}

export const allRows = <Row,>(items: readonly Row[]): readonly Row[] => items;
