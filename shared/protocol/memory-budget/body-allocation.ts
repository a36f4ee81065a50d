// Reserves the memory of one call's body before it is read, for the path that needs most memory. Each step then reduces
// the reservation to the memory that the call still needs.
import type { RequestAllocation } from './memory-budget.ts';
import { type RequestTake, smallBodyMaxBytes } from './request-budget.ts';
import { type RequestPath, type RequestSize, requestBytes, textBytesInMemory } from './weights.ts';

export interface BodyAllocation {
  /**
   * Raises the reservation to the memory that these paths need. Rejects if they need more than the head of the request
   * suggested, and more memory is not available.
   */
  take(...paths: readonly RequestPath[]): Promise<void> | undefined;
  /** Releases what is not needed on this path. */
  keep(path: RequestPath): void;
  /** Releases everything. */
  end(): void;
  /** Returns the same memory for the request with another text. */
  resized(size: RequestSize): BodyAllocation;
}

export function openBodyAllocation(
  allocation: RequestAllocation,
  taking: Pick<RequestTake, 'workspace' | 'gone'>,
  sizeOf: () => RequestSize,
): BodyAllocation {
  return {
    take(...paths) {
      const size = sizeOf();
      const isLarge = size.textBytes + size.formBytes > smallBodyMaxBytes;
      const bytes = requestBytes(paths, size);
      const waits = allocation.take({ ...taking, bytes, isLarge });
      if (waits === undefined) allocation.keepOnly(bytes);
      return waits;
    },
    keep: (path) => allocation.keepOnly(requestBytes([path], sizeOf())),
    end: () => allocation.keepOnly(0),
    resized: (size) => openBodyAllocation(allocation, taking, () => size),
  };
}

export const noRequest: RequestSize = { textBytes: 0, tableBytes: 0, formBytes: 0 };

/** Measures a request. `formBytes` are the bytes of the form around the text. */
export function sizeOfRequest(
  { text, tableBytes }: { readonly text: string; readonly tableBytes: number },
  formBytes = 0,
): RequestSize {
  return { textBytes: textBytesInMemory(text), tableBytes, formBytes };
}
