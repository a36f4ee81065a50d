// Requests a full garbage collection. V8 starts one when its heap grows, but strings and buffers of calls are outside
// its heap, so 400 MB of ended calls can wait while the heap has 30 MB.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8's garbage collector. Versions of V8 ignore fields that they do not know. */
type Gc = (options: { readonly type: 'major'; readonly flavor?: 'last-resort' }) => void;

/** V8's garbage collector; undefined until it is first used. */
let collect: Gc | undefined;

/**
 * Collects garbage, which takes 10 to 40 ms, depending on the number of live objects. `returnsPages` also returns the
 * pages of collected objects to the system, which takes three times as long. V8 does that by itself only in a nearly
 * idle process: with a few small calls a second 250 MB stayed forever.
 */
export function collectGarbage({ returnsPages = false }: { readonly returnsPages?: boolean } = {}): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Gc;
  }
  collect(returnsPages ? { type: 'major', flavor: 'last-resort' } : { type: 'major' });
}
