// Requests a full garbage collection. V8 starts one by the growth of its heap, but texts and buffers of calls lie
// outside it: 400 MB of ended calls can wait while the heap is 30 MB.
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
