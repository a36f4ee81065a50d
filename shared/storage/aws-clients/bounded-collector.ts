// Reads the answers of AWS, each up to a bound.
import type { Readable } from 'node:stream';

/** The connection of a larger answer is closed. Events, not an iterator: this is on the way of every call. */
export const boundedCollector =
  (maxBytes: number) =>
  (answer: Readable): Promise<Uint8Array> => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const parts: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.byteLength;
      if (bytes > maxBytes) answer.destroy(new RangeError(`an answer of over ${maxBytes} bytes`));
    });
    answer.once('end', () => resolve(Buffer.concat(parts, bytes)));
    answer.on('error', reject);
    return promise;
  };
