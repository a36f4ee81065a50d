// Searches a text that arrives in pieces for stop sequences, with an Aho-Corasick automaton. The work is linear in the
// length of the text and of the stop sequences, however often the text nearly repeats a stop sequence. The state
// between two pieces is one number.

export interface StopSearch {
  /** Returns the state after one more character. */
  readonly next: (state: number, character: number) => number;
  /** Returns the longest stop that ends with the last character, if any. */
  readonly found: (state: number) => string | undefined;
  /** Returns how many of the last characters may begin a stop. */
  readonly beginningLength: (state: number) => number;
}

/** State at the start of every search: no character was read, or none that begins a stop. */
export const searchStart = 0;

/** Number of UTF-16 code units. */
const characters = 0x1_00_00;

/** Creates the search; every stop has at least one character. */
export function createStopSearch(stops: readonly string[]): StopSearch {
  /** Map from `state * characters + character` to the state that is one character longer. */
  const longer = new Map<number, number>();
  const lengths = [0];
  /** For each state, the state of its longest suffix with which a stop sequence begins. */
  const shorter = [searchStart];
  const ends: (string | undefined)[] = [undefined];

  function add(state: number, character: number): number {
    const known = longer.get(state * characters + character);
    if (known !== undefined) return known;
    const newState = lengths.push((lengths[state] as number) + 1) - 1;
    longer.set(state * characters + character, newState);
    return newState;
  }

  function next(state: number, character: number): number {
    for (let from = state; ; from = shorter[from] as number) {
      const to = longer.get(from * characters + character);
      if (to !== undefined) return to;
      if (from === searchStart) return searchStart;
    }
  }

  for (const stop of stops) {
    let state = searchStart;
    for (let at = 0; at < stop.length; at += 1) state = add(state, stop.charCodeAt(at));
    ends[state] = stop;
  }
  // Shorter prefixes come first, because longer ones depend on them.
  const byLength = [...longer].sort(([, one], [, other]) => (lengths[one] as number) - (lengths[other] as number));
  for (const [key, state] of byLength) {
    const from = Math.floor(key / characters);
    shorter[state] = from === searchStart ? searchStart : next(shorter[from] as number, key % characters);
    ends[state] ??= ends[shorter[state] as number];
  }
  return { next, found: (state) => ends[state], beginningLength: (state) => lengths[state] as number };
}
