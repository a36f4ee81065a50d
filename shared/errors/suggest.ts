// The nearest existing name to one that does not exist, which a mistyped id most likely means.
import { distance } from 'fastest-levenshtein';

/** Limit to the quoted text of a client, which may be megabytes long. */
const quotedCharactersMax = 64;
/** Share of a name's length: a name further away is another name, not a typing error. */
const distanceMaxShare = 0.4;
/** Letters that may differ even in a short name, as long as one of them is left. */
const distanceMin = 2;

/** A client's text as a message repeats it. */
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

/** Returns `Did you mean "…"?`, or `otherwise` where no name is near. */
export function suggest(wanted: string, known: Iterable<string>, otherwise: string): string {
  const nearest = nearestOf(wanted, known);
  return nearest === undefined ? otherwise : `Did you mean "${nearest}"?`;
}
