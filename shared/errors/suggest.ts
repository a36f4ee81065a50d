// The nearest name to one that does not exist: what a mistyped id most likely means.
import { distance } from 'fastest-levenshtein';

/** A client's text comes back shortened: it may be megabytes long. */
const quotedCharactersMax = 64;
/** Of a name's length: what is farther away is another name, not a typing error. */
const distanceMaxShare = 0.4;
/** Of a short name so many letters may differ all the same, as long as one of them is left. */
const distanceMin = 2;

/** A client's text as a message repeats it. */
export const quote = (text: string): string => `"${text.slice(0, quotedCharactersMax)}"`;

/** Undefined: none is near. */
export function nearestOf(wanted: string, known: Iterable<string>): string | undefined {
  const text = wanted.slice(0, quotedCharactersMax);
  const [nearest] = [...known]
    .map((name) => ({ name, edits: distance(text, name) }))
    .filter(({ edits }) => edits <= Math.max(distanceMin, text.length * distanceMaxShare) && edits < text.length)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.name;
}

/** `Did you mean "…"?`, or what to say where no name is near. */
export function suggest(wanted: string, known: Iterable<string>, otherwise: string): string {
  const nearest = nearestOf(wanted, known);
  return nearest === undefined ? otherwise : `Did you mean "${nearest}"?`;
}
