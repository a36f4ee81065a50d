// Decompresses the body of a request. The memory of the body is reserved before it is read. The reservation follows the
// declared length, else the growth of the body; beyond the bound of small bodies it is the maximum length. Bounds apply
// to the decompressed body and are checked while it is decompressed.
import { pipeline, type Transform } from 'node:stream';
import { fail, GatewayError } from '../../errors/index.ts';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { encodingNames, findEncoding } from '../../foundation/content-encoding/index.ts';
import { freeBytes, gatherBytes } from '../../foundation/heap/index.ts';
import { type RequestAllocation, type RequestTake, smallBodyMaxBytes } from '../memory-budget/index.ts';
import type { GatewayRequest } from './exchange.ts';

const header = 'content-encoding';

interface BodyTaking extends Pick<RequestTake, 'workspace' | 'gone'> {
  readonly allocation: RequestAllocation;
  /** Bytes of memory for each byte of the body. */
  readonly weight: number;
}

/**
 * Reads the body, and releases the memory that it does not need. Rejects with a GatewayError as `readBody` and the
 * memory do, and if the body does not match its encoding.
 */
export async function readPlainBody(
  request: GatewayRequest,
  taking: BodyTaking,
  maxBytes = plainBodyMaxBytes,
): Promise<Buffer> {
  const encoding = request.headers[header]?.join(',').trim().toLowerCase() ?? '';
  const isPacked = encoding !== '' && encoding !== 'identity';
  const decoder = isPacked ? findEncoding(encoding) : undefined;
  if (isPacked && decoder === undefined) {
    throw fail('invalid_request', { message: `The header ${header} must be one of ${encodingNames.join(', ')}.` });
  }
  const { declaredBodyBytes } = request;
  if (declaredBodyBytes > maxBytes) throw fail('request_too_large');
  const growing = openGrowing(request, taking, { isPacked, maxBytes });
  const beginning = growing.begin();
  if (beginning !== undefined) await beginning;
  const bytes = await request.readBody({ maxBytes, came: growing.came, signal: growing.signal });
  if (decoder === undefined) {
    taking.allocation.keepOnly(taking.weight * bytes.length);
    return bytes;
  }
  const plain = await unpack(decoder.open(bytes), { packed: bytes, grow: growing.grow, maxBytes }).catch(
    (cause: unknown) => {
      if (cause instanceof GatewayError) throw cause;
      throw fail('invalid_request', { message: `The body is not ${encoding}, as its header ${header} says.`, cause });
    },
  );
  freeBytes(bytes);
  taking.allocation.keepOnly(taking.weight * plain.length);
  return plain;
}

/** Opens the memory of one body, as far as its length is known. */
function openGrowing(
  { declaredBodyBytes }: GatewayRequest,
  { allocation, weight, ...taking }: BodyTaking,
  { isPacked, maxBytes }: { readonly isPacked: boolean; readonly maxBytes: number },
) {
  const stop = new AbortController();
  let cameBytes = 0;
  let takenBytes = 0;
  const upload = {
    lengthBytes: declaredBodyBytes === 0 ? maxBytes : declaredBodyBytes,
    cameBytes: () => cameBytes,
    giveUp: (refusal: GatewayError) => stop.abort(refusal),
  };
  const grow = (bytes: number, isOfHead = false): Promise<void> | undefined => {
    if (bytes <= takenBytes) return undefined;
    const isKnown = !isPacked && declaredBodyBytes > 0;
    const isLarge = bytes > smallBodyMaxBytes;
    takenBytes = isLarge && !isKnown ? maxBytes : bytes;
    return allocation.take({ ...taking, bytes: weight * takenBytes, isLarge, isOfHead, upload });
  };
  return {
    signal: stop.signal,
    begin: () => grow(declaredBodyBytes, true),
    came(bytes: number) {
      cameBytes = bytes;
      return grow(bytes);
    },
    grow,
  };
}

interface Unpacking {
  readonly packed: Buffer;
  readonly grow: (bytes: number) => Promise<void> | undefined;
  readonly maxBytes: number;
}

async function unpack(decoder: Transform, { packed, grow, maxBytes }: Unpacking): Promise<Buffer> {
  const gathered = gatherBytes(0);
  // The error is ignored here, because the loop below receives it.
  pipeline([packed], decoder, () => {});
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      if (gathered.length + piece.length > maxBytes) throw fail('request_too_large');
      await grow(gathered.length + piece.length);
      gathered.add(piece);
    }
    return gathered.take();
  } catch (error) {
    gathered.drop();
    throw error;
  }
}
