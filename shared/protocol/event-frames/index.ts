// Converts between AWS's event streams and events. Bytes that are cut anywhere become complete events, which are
// bounded, and events become frames. The SDK's codec reads and writes lengths, headers and checksums.
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { EventText } from '../wire/index.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

const exceptionName = /Exception$/;

const header = (value: string) => ({ type: 'string', value }) as const;

/** Writes an event as a frame. A name that ends in `Exception` makes an exception, which ends the stream. */
export function frameOf({ name = '', text }: EventText): Uint8Array {
  const kind = exceptionName.test(name) ? 'exception' : 'event';
  const headers = {
    [`:${kind}-type`]: header(name),
    ':content-type': header('application/json'),
    ':message-type': header(kind),
  };
  return codec.encode({ headers, body: Buffer.from(text, 'utf8') });
}

/** Writes a frame as a text whose characters are its bytes. */
export function frameText(event: EventText): string {
  const { buffer, byteOffset, byteLength } = frameOf(event);
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** Reads the events of a stream that `frameText` has written, as far as its frames are complete. */
export function eventsOfFrameText(text: string): EventText[] {
  const bytes = Buffer.from(text, 'latin1');
  const events: EventText[] = [];
  for (let at = 0; at + frameMinBytes <= bytes.length; ) {
    const end = at + Math.max(bytes.readUInt32BE(at), frameMinBytes);
    if (end > bytes.length) break;
    events.push(eventIn(bytes.subarray(at, end)));
    at = end;
  }
  return events;
}

/** Bytes before the headers of a frame: two lengths and their checksum. Another checksum follows its text. */
const preludeBytes = 12;
const checksumBytes = 4;
/** Least length of a frame. */
const frameMinBytes = preludeBytes + checksumBytes;
/** Event in the place of bytes that are not a frame. The event is not JSON, so that its reader breaks the stream. */
const brokenFrame: EventText = { text: 'no frame' };

/**
 * Yields the events of a stream, in the batches of `splitFrames`. Throws RangeError when a frame is over
 * `frameMaxBytes`.
 */
export async function* readFrames(
  body: AsyncIterable<Uint8Array>,
  frameMaxBytes: number,
): AsyncGenerator<EventText[], void, undefined> {
  for await (const { frames, rest } of splitFrames(body, frameMaxBytes)) {
    const events: EventText[] = [];
    for (const frame of frames) {
      const event = eventIn(frame);
      events.push(event);
      if (event === brokenFrame) break;
    }
    const isBroken = events.at(-1) === brokenFrame;
    if (rest !== undefined && !isBroken) events.push(brokenFrame);
    if (events.length > 0) yield events;
    if (isBroken || rest !== undefined) return;
  }
}

interface FrameBatch {
  readonly frames: readonly Buffer[];
  /** Bytes that are not a frame, and everything after them. */
  readonly rest?: Buffer;
  /** The beginning of a frame at which the stream ended. */
  readonly cut?: Buffer;
}

/**
 * Yields the complete frames of a stream, in the batches in which they arrived, as many as are read in one turn of the
 * event loop. Throws RangeError when a frame is over `frameMaxBytes`.
 */
export async function* splitFrames(
  body: AsyncIterable<Uint8Array>,
  frameMaxBytes: number,
): AsyncGenerator<FrameBatch, void, undefined> {
  let pieces: Uint8Array[] = [];
  let heldBytes = 0;
  /** Number of bytes below which there is no complete frame. */
  let wantedBytes = preludeBytes;
  let isBroken = false;
  let turnFrames = 0;
  for await (const piece of body) {
    pieces.push(piece);
    heldBytes += piece.length;
    if (heldBytes < wantedBytes && !isBroken) continue;
    let held = Buffer.concat(pieces);
    let frames: Buffer[] = [];
    wantedBytes = preludeBytes;
    while (held.length >= preludeBytes && !isBroken) {
      isBroken = !hasWholePrelude(held);
      if (isBroken) break;
      wantedBytes = held.readUInt32BE(0);
      if (wantedBytes > frameMaxBytes) throw new RangeError('an event is too large');
      if (held.length < wantedBytes) break;
      if (turnFrames === inOneTurn.events) {
        if (frames.length > 0) yield { frames };
        frames = [];
        turnFrames = 0;
        await nextTurn();
      }
      turnFrames += 1;
      frames.push(held.subarray(0, wantedBytes));
      held = held.subarray(wantedBytes);
      wantedBytes = preludeBytes;
    }
    // A view would keep the whole batch in memory until more bytes arrive.
    pieces = isBroken ? [] : [new Uint8Array(held)];
    heldBytes = isBroken ? 0 : held.length;
    if (isBroken) yield { frames, rest: held };
    else if (frames.length > 0) yield { frames };
  }
  if (heldBytes > 0) yield { frames: [], cut: Buffer.concat(pieces) };
}

/** True if the checksum of a frame's lengths is right, so that they may be trusted. */
function hasWholePrelude(bytes: Buffer): boolean {
  const headersBytes = bytes.readUInt32BE(4);
  return (
    crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8) &&
    preludeBytes + headersBytes + checksumBytes <= bytes.readUInt32BE(0)
  );
}

/** Returns views of the parts of a complete frame. */
export function partsOfFrame(frame: Buffer): { readonly headers: Buffer; readonly text: Buffer } {
  const textAt = preludeBytes + frame.readUInt32BE(4);
  return { headers: frame.subarray(preludeBytes, textAt), text: frame.subarray(textAt, -checksumBytes) };
}

/** Returns the frame with another text. A broken frame stays unchanged. */
export function withFrameText(frame: Buffer, change: (text: string) => string): Uint8Array {
  try {
    const { headers, body } = codec.decode(frame);
    return codec.encode({ headers, body: Buffer.from(change(Buffer.from(body).toString('utf8')), 'utf8') });
  } catch {
    return frame;
  }
}

function eventIn(frame: Buffer): EventText {
  try {
    const { headers, body } = codec.decode(frame);
    const kind = headers[':message-type']?.value;
    const name = headers[`:${kind === 'exception' ? 'exception' : 'event'}-type`]?.value;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
    // An error that the service's model does not define has its text in headers.
    if (kind === 'error') return unknownError(headers[':error-code']?.value, headers[':error-message']?.value);
    return { name: typeof name === 'string' ? name : undefined, text };
  } catch {
    return brokenFrame;
  }
}

const unknownError = (code: unknown, message: unknown): EventText => ({
  name: `${typeof code === 'string' ? code.replace(exceptionName, '') : 'unknown'}Exception`,
  text: JSON.stringify({ message: typeof message === 'string' ? message : '' }),
});
