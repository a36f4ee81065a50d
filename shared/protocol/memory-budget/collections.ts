// Decides when to collect memory that large calls have released, which is once there is much of it, and once the
// process is quiet.
import type { Clock } from '../../foundation/time/index.ts';

/** Bytes in addition to the reserved bytes that may wait for their collection. */
const releasedMaxBytes = 32 * 1024 * 1024;
/** Fewer bytes are not collected in a quiet process either, because the runtime collects them in time. */
const quietMinBytes = 16 * 1024 * 1024;
/** Time without a release by a large call after which the process counts as quiet. */
const quietMs = 5_000;

/**
 * Collects garbage. `returnsPages` also returns the memory that the runtime reserves for itself to the system, which
 * takes longer.
 */
export type Collect = (options: { readonly returnsPages: boolean }) => void;

interface Collections {
  released(bytes: number): void;
}

export function createCollections(clock: Clock, collect: Collect): Collections {
  let releasedBytes = 0;
  let hasBeenMuch = false;
  let cancel = () => {};
  const collectHeap = () => {
    releasedBytes = 0;
    collect({ returnsPages: false });
  };
  /** Frees memory outside the heap. Little is left to collect, so that even the longer collection is short. */
  const collectAgain = () => {
    collect({ returnsPages: hasBeenMuch });
    hasBeenMuch = false;
  };
  const whenQuiet = () => {
    collectHeap();
    cancel = clock.after(quietMs, collectAgain);
  };
  return {
    released(bytes) {
      releasedBytes += bytes;
      if (releasedBytes >= releasedMaxBytes) {
        hasBeenMuch = true;
        collectHeap();
      }
      if (!hasBeenMuch && releasedBytes < quietMinBytes) return;
      cancel();
      cancel = clock.after(quietMs, whenQuiet);
    },
  };
}
