// Finds the existing name that is nearest to an unknown name, because a mistyped id most likely means the nearest name.
import { distance } from 'fastest-levenshtein';

/** Bound of the quoted text of a client, which may be megabytes long. */
const quotedCharactersMax = 64;
/** Share of a name's length. A name further away is another name, not a typing error. */
const distanceMaxShare = 0.4;
/** Letters that may differ even in a short name, as long as one of its letters is right. */
const distanceMin = 2;

/** Quotes a client's text for a message. */
export const quote = (text: string): string => `"${text.slice(0, quotedCharactersMax)}"`;

/** Returns undefined when no name is near. */
export function nearestOf(wanted: string, known: Iterable<string>): string | undefined {
  const text = wanted.slice(0, quotedCharactersMax);
  const [nearest] = [...known]
    .map((name) => ({ name, edits: distance(text, name) }))
    .filter(({ edits }) => edits <= Math.max(distanceMin, text.length * distanceMaxShare) && edits < text.length)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.name;
}

/** Returns `Did you mean "…"?`, or `otherwise` if no name is near. */
export function suggest(wanted: string, known: Iterable<string>, otherwise: string): string {
  const nearest = nearestOf(wanted, known);
  return nearest === undefined ? otherwise : `Did you mean "${nearest}"?`;
}
