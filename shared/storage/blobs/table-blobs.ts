// Stores blobs as items of the table whose records name them, split to the size of an item. Gateways that share only a
// DynamoDB server store blobs in this way. The head names the number of parts, and is written after all of them.
import type { Item, Store } from '../store/index.ts';
import { type BlobStore, blobLifeMs, checkBlobKey } from './blob-store.ts';

/** Bytes of a part, because DynamoDB refuses items over 400 KB. */
const partBytes = 380 * 1024;
/** Maximum number of parts that are written or read at a time. */
const atOnceMax = 8;

const table = 'idempotency';

export function tableBlobs(store: Pick<Store, 'get' | 'put'>, clock: { nowMs(): number }): BlobStore {
  const headKey = (key: string) => `BLOB#${key}`;
  const partKey = (key: string, part: number) => `${headKey(key)}#${part}`;

  return {
    async put(key, bytes, options) {
      checkBlobKey(key);
      const expires = { expires_at_epoch_seconds: Math.ceil((clock.nowMs() + blobLifeMs(key)) / 1_000) };
      const write = (item: Item) => store.put({ table, item: { ...item, ...expires }, repeatable: true }, options);
      const parts = Math.ceil(bytes.byteLength / partBytes);
      await inTurns(parts, (part) =>
        write({ pk: partKey(key, part), bytes: bytes.subarray(part * partBytes, (part + 1) * partBytes) }),
      );
      await write({ pk: headKey(key), parts });
    },
    async get(key, options) {
      checkBlobKey(key);
      const head = await store.get(table, headKey(key), options);
      if (head === undefined) return undefined;
      const items = await inTurns(Number(head.parts), (part) => store.get(table, partKey(key, part), options));
      const parts = items.flatMap((item) => (item === undefined ? [] : [item.bytes as Uint8Array]));
      return parts.length === items.length ? Buffer.concat(parts) : undefined;
    },
  };
}

/** Runs the work and returns the results in their order. */
async function inTurns<Result>(count: number, run: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < count; first += atOnceMax) {
    const turn = Array.from({ length: Math.min(atOnceMax, count - first) }, (_none, index) => run(first + index));
    results.push(...(await Promise.all(turn)));
  }
  return results;
}
