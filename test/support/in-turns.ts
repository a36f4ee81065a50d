import { nextTurn } from '../../shared/foundation/time/index.ts';

/**
 * Counts the turns of the event loop that other work had until `run` ended. `run` can read the number of the current
 * turn.
 */
export async function inTurns<Read>(run: (turn: () => number) => Promise<Read>) {
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; turns += 1) await nextTurn();
  })();
  const read = await run(() => turns);
  isDone = true;
  await others;
  return { read, turns };
}
