// A real store that says how often it was asked to write.
import type { Store } from '../../../shared/storage/store/index.ts';

export function countingWrites(real: Store): { store: Store; writes: () => number } {
  let count = 0;
  const store: Store = {
    get: (...call) => real.get(...call),
    scan: (...call) => real.scan(...call),
    query: (...call) => real.query(...call),
    put: (...call) => {
      count += 1;
      return real.put(...call);
    },
    update: (...call) => {
      count += 1;
      return real.update(...call);
    },
    batchPut: (...call) => {
      count += 1;
      return real.batchPut(...call);
    },
    delete: (...call) => {
      count += 1;
      return real.delete(...call);
    },
  };
  return { store, writes: () => count };
}
