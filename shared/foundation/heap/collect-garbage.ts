// Requests a full garbage collection. V8 starts one by the growth of its heap, but texts and buffers of calls lie
// outside it: 400 MB of ended calls can wait while the heap is 30 MB.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8's own function; other versions of it ignore members that they do not know. */
type Gc = (options: { readonly type: 'major'; readonly flavor?: 'last-resort' }) => void;

/** Undefined until it is first asked for. */
let collect: Gc | undefined;

/**
 * Takes 10 to 40 ms, by the number of objects that are alive. `returnsPages`: V8 keeps the pages of collected objects, and returns them
 * by itself only in a process that does next to nothing: a few small calls a second kept 250 MB for ever. Takes three times as long.
 */
export function collectGarbage({ returnsPages = false }: { readonly returnsPages?: boolean } = {}): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Gc;
  }
  collect(returnsPages ? { type: 'major', flavor: 'last-resort' } : { type: 'major' });
}
