// Decides when to collect memory that large calls have released: once it is much, and once it is quiet.
import type { Clock } from '../../foundation/time/index.ts';

/** Bytes beside the kept ones that may wait for their collection. */
const releasedMaxBytes = 64 * 1024 * 1024;
/** No large call has released anything for so long. */
const quietMs = 5_000;
/** The second collection frees memory outside the heap. */
const quietCollections = 2;

interface Collections {
  released(bytes: number): void;
}

export function createCollections(clock: Clock, collect: () => void): Collections {
  let releasedBytes = 0;
  let pendingCount = 0;
  let cancel = () => {};
  const whenQuiet = () => {
    collect();
    releasedBytes = 0;
    pendingCount -= 1;
    if (pendingCount > 0) cancel = clock.after(quietMs, whenQuiet);
  };
  return {
    released(bytes) {
      releasedBytes += bytes;
      if (releasedBytes >= releasedMaxBytes) {
        releasedBytes = 0;
        collect();
      }
      pendingCount = quietCollections;
      cancel();
      cancel = clock.after(quietMs, whenQuiet);
    },
  };
}
