// Decompresses an answer as it arrives, so that a bound applies to the plain bytes, and each event of a stream is
// available with the piece that ends it.
import { pipeline } from 'node:stream';
import { type Encoding, findEncoding } from './encodings.ts';

/** Thrown when the body of an answer cannot be decompressed. */
export class AnswerNotDecoded extends Error {
  override readonly name = 'AnswerNotDecoded';
  /** Code for the log. */
  readonly code: 'unknown_encoding' | 'broken_encoding';
  constructor(code: AnswerNotDecoded['code'], cause?: unknown) {
    super(code === 'unknown_encoding' ? 'an encoding that is not known' : 'the answer cannot be unpacked', { cause });
    this.code = code;
  }
}

/**
 * Yields the decompressed bytes. `named` is the `content-encoding` of the answer. There is no `return`, so leaving the
 * loop early closes nothing.
 */
export function plainBytes(bytes: AsyncIterator<Buffer>, named: string | undefined): AsyncIterator<Buffer> {
  const name = named?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  const plain = unpack(bytes, findEncoding(name));
  return { next: () => plain.next() };
}

async function* unpack(
  bytes: AsyncIterator<Buffer>,
  encoding: Encoding | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  if (encoding === undefined) throw new AnswerNotDecoded('unknown_encoding');
  const start = await readStart(bytes);
  if (start.length === 0) return;
  const brokenPacking: { cause?: unknown } = {};
  async function* packed(head: Buffer) {
    try {
      for (let part: IteratorResult<Buffer> = { value: head }; part.done !== true; part = await bytes.next()) {
        yield part.value;
      }
    } catch (error) {
      brokenPacking.cause = error;
      throw error;
    }
  }
  const source = packed(start);
  if (encoding.canBegin?.(start) === false) return yield* source;
  try {
    // The reader gets the error; the callback has nothing to do.
    yield* pipeline(source, encoding.open(start), () => {}) as AsyncIterable<Buffer>;
  } catch (error) {
    throw brokenPacking.cause ?? new AnswerNotDecoded('broken_encoding', error);
  }
}

/** Leading bytes by which encodings are distinguished from plain text and from one another. */
const startBytes = 4;

/** Reads at least `startBytes` bytes, or all if there are fewer. */
async function readStart(bytes: AsyncIterator<Buffer>): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < startBytes) {
    const next = await bytes.next();
    if (next.done === true) break;
    start = start.length === 0 ? next.value : Buffer.concat([start, next.value]);
  }
  return start;
}
