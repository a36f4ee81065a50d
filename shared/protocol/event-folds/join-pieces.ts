// Joins pieces of an object. Texts are concatenated, lists appended to, and identifying fields written once.
import { emptyObject, type FoldedObject, isObject, isRawNumber } from './event-fold.ts';

/** Fields that some servers repeat with each piece. */
const names: ReadonlySet<string> = new Set(['id', 'type', 'role', 'name', 'format', 'signature', 'expires_at']);

/** The latest item of each index, by list. */
type Places = WeakMap<readonly unknown[], Map<number, FoldedObject>>;
const places: Places = new WeakMap();

export function addPieces(whole: FoldedObject, pieces: Readonly<Record<string, unknown>>): void {
  for (const [name, piece] of Object.entries(pieces)) {
    if (piece !== null) whole[name] = joined(name, whole[name], piece);
    else if (whole[name] === undefined) whole[name] = null;
  }
}

function joined(name: string, whole: unknown, piece: unknown): unknown {
  if (typeof piece === 'string') return typeof whole === 'string' && !names.has(name) ? whole + piece : piece;
  if (Array.isArray(piece)) {
    const list: unknown[] = Array.isArray(whole) ? whole : [];
    for (const item of piece) addItem(list, item);
    return list;
  }
  if (!isObject(piece) || isRawNumber(piece)) return piece;
  const object = isObject(whole) ? whole : emptyObject();
  addPieces(object, piece);
  return object;
}

/** Adds an item to a list. An item with an index continues the item of that index, unless its type differs. */
function addItem(list: unknown[], item: unknown): void {
  if (!isObject(item)) {
    list.push(item);
    return;
  }
  const { index, type } = item;
  const byPlace = places.get(list) ?? new Map<number, FoldedObject>();
  places.set(list, byPlace);
  const open = typeof index === 'number' ? byPlace.get(index) : undefined;
  if (open !== undefined && (type === undefined || open.type === undefined || open.type === type)) {
    addPieces(open, item);
    return;
  }
  const piece = emptyObject();
  addPieces(piece, item);
  list.push(piece);
  if (typeof index === 'number') byPlace.set(index, piece);
}
