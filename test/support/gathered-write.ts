import { nextTurn } from '../../shared/foundation/time/index.ts';

/** Ends when the work of an answered promise has run, and the next write of those that gathered meanwhile is sent. */
export async function gatheredWrite(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await nextTurn();
}
