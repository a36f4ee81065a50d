import { nextTurn } from '../../shared/foundation/time/index.ts';

/** Resolves when the work of a resolved promise has run, and the next of the combined writes was sent. */
export async function gatheredWrite(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await nextTurn();
}
