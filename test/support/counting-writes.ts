// A real store that counts its writes.
import type { Store } from '../../shared/storage/store/index.ts';
import { aroundStore } from './wrapped-store.ts';

export function countingWrites(real: Store): { store: Store; writes: () => number } {
  let count = 0;
  const store = aroundStore(real, ({ method }, run) => {
    if (method !== 'get') count += 1;
    return run();
  });
  return { store, writes: () => count };
}
