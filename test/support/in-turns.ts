import { nextTurn } from '../../shared/foundation/time/index.ts';

/** The turns that others had of the event loop until it was done. `run` gets the turn that it is. */
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
