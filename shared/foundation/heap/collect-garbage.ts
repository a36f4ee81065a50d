// A full collection of V8's heap, asked for. V8 starts one by the growth of its heap; texts and buffers of calls lie outside it, and
// of what has ended 400 MB can wait for a heap of 30.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Undefined until it is first asked for. */
let collect: (() => void) | undefined;

/** Takes 10 to 40 ms, by the number of objects that are alive. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
