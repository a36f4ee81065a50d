// The decompressed body of a request. Bounds apply to the plain body and are checked while it is decompressed.
import { pipeline, type Transform } from 'node:stream';
import { fail, GatewayError } from '../../errors/index.ts';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { encodingNamed, encodingNames } from '../../foundation/content-encoding/index.ts';
import { freeBytes, gatherBytes } from '../../foundation/heap/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';
import type { GatewayRequest } from './exchange.ts';

const header = 'content-encoding';

/** Rejects with a GatewayError as `readBody` does, and where the body does not match its encoding. */
export async function readPlainBody(
  request: GatewayRequest,
  memory: CallMemory,
  maxBytes = plainBodyMaxBytes,
): Promise<Buffer> {
  const encoding = request.headers[header]?.join(',').trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return request.readBody(memory, maxBytes);
  const decoder = encodingNamed(encoding);
  if (decoder === undefined) {
    throw fail('invalid_request', { message: `The header ${header} must be one of ${encodingNames.join(', ')}.` });
  }
  const packed = await request.readBody(memory, maxBytes);
  const plain = await unpack(decoder.open(packed), { packed, memory, maxBytes }).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw fail('invalid_request', { message: `The body is not ${encoding}, as its header ${header} says.`, cause });
  });
  memory.release(packed.length);
  freeBytes(packed);
  return plain;
}

interface Unpacking {
  readonly packed: Buffer;
  readonly memory: CallMemory;
  readonly maxBytes: number;
}

async function unpack(decoder: Transform, { packed, memory, maxBytes }: Unpacking): Promise<Buffer> {
  const gathered = gatherBytes(0);
  // Ignored here: the loop below gets the errors.
  pipeline([packed], decoder, () => {});
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      if (gathered.length + piece.length > maxBytes) throw fail('request_too_large');
      await memory.reserve(piece.length);
      gathered.add(piece);
    }
    return gathered.take();
  } catch (error) {
    gathered.drop();
    throw error;
  }
}
