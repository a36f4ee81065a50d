// Keys as one instance met them lately. What is remembered saves a read; it never decides: the write that admits a
// request compares it with what the item says now, so a revoked key ends with its next request.
import type { Item } from '../../storage/store/index.ts';

export interface KeyMemory {
  recall(publicId: string): Item | undefined;
  remember(publicId: string, item: Item): void;
  forget(publicId: string): void;
}

export function createKeyMemory(keysMax: number): KeyMemory {
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const items = new Map<string, Item>();
  return {
    recall: (publicId) => items.get(publicId),
    remember(publicId, item) {
      items.delete(publicId);
      items.set(publicId, item);
      const [oldest] = items.keys();
      if (items.size > keysMax && oldest !== undefined) items.delete(oldest);
    },
    forget: (publicId) => void items.delete(publicId),
  };
}
