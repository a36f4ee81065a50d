// Cuts lists into pages. A cursor is the position of the last item, so that concurrent additions and removals move no
// page.
import { fail } from '../../../shared/errors/index.ts';
import { hasText } from '../../../shared/foundation/lines/index.ts';

export const toCursor = (position: string): string => Buffer.from(position, 'utf8').toString('base64url');

/** Throws invalid_request if the list has no position of this kind. */
export function fromCursor(
  cursor: string | undefined,
  name: string,
  isPosition: (text: string) => boolean = () => true,
): string | undefined {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString('utf8');
  if (toCursor(position) === cursor && isPosition(position)) return position;
  throw fail('invalid_request', { message: `${name}: must be a next_cursor of the page before`, param: name });
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly search?: string | undefined;
}

/**
 * Returns a page of the list. The list is sorted by the `parts` of its items, which differ from item to item. `texts`
 * of an item are searched.
 */
export function pageOf<Item>(
  all: readonly Item[],
  { limit, cursor, search }: PageQuery,
  parts: (item: Item) => readonly string[],
  texts: (item: Item) => readonly (string | null)[] = parts,
): Page<Item> {
  const after = fromCursor(cursor, 'cursor');
  const placed = all
    .filter((item) => search === undefined || hasText(search, texts(item)))
    .map((item) => ({ item, position: parts(item).join('\u0000') }))
    .filter(({ position }) => after === undefined || position > after)
    .sort((a, b) => (a.position < b.position ? -1 : 1));
  const shown = placed.slice(0, limit);
  const last = placed.length > limit ? shown.at(-1)?.position : undefined;
  return { items: shown.map(({ item }) => item), next_cursor: last === undefined ? null : toCursor(last) };
}
