// Frames of AWS's event streams: bytes cut anywhere become whole events, bounded, and events become frames. Lengths,
// headers and checksums are the work of the SDK's codec.
import { EventStreamCodec } from '@smithy/core/event-streams';
import type { EventText } from '../wire/index.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

const exceptionName = /Exception$/;

const header = (value: string) => ({ type: 'string', value }) as const;

/** An event as a frame. A name that ends in `Exception` is that of an exception, which ends the stream. */
export function frameOf({ name = '', text }: EventText): Uint8Array {
  const kind = exceptionName.test(name) ? 'exception' : 'event';
  const headers = {
    [`:${kind}-type`]: header(name),
    ':content-type': header('application/json'),
    ':message-type': header(kind),
  };
  return codec.encode({ headers, body: Buffer.from(text, 'utf8') });
}

/** The same as a text whose characters are its bytes. */
export function frameText(event: EventText): string {
  const { buffer, byteOffset, byteLength } = frameOf(event);
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** The events of a stream that was written as such a text, as far as its frames are whole. */
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

/** Two lengths and their checksum, and a checksum at the end: no frame is shorter. */
const frameMinBytes = 16;
/** Stands for bytes that are no frame: no JSON, so that its reader breaks the stream there. */
const brokenFrame: EventText = { text: 'no frame' };

/** The events of a stream, batched as they came. Throws RangeError when a frame is over `frameMaxBytes`. */
export async function* readFrames(
  body: AsyncIterable<Uint8Array>,
  frameMaxBytes: number,
): AsyncGenerator<EventText[], void, undefined> {
  let pieces: Uint8Array[] = [];
  let heldBytes = 0;
  /** Fewer bytes are no whole frame. */
  let wantedBytes = frameMinBytes;
  for await (const piece of body) {
    pieces.push(piece);
    heldBytes += piece.length;
    if (heldBytes < wantedBytes) continue;
    let held = Buffer.concat(pieces);
    const events: EventText[] = [];
    wantedBytes = frameMinBytes;
    while (held.length >= wantedBytes) {
      wantedBytes = Math.max(held.readUInt32BE(0), frameMinBytes);
      if (wantedBytes > frameMaxBytes) throw new RangeError('an event is too large');
      if (held.length < wantedBytes) break;
      const event = eventIn(held.subarray(0, wantedBytes));
      events.push(event);
      if (event === brokenFrame) {
        yield events;
        return;
      }
      held = held.subarray(wantedBytes);
      wantedBytes = frameMinBytes;
    }
    pieces = [held];
    heldBytes = held.length;
    if (events.length > 0) yield events;
  }
}

function eventIn(frame: Buffer): EventText {
  try {
    const { headers, body } = codec.decode(frame);
    const kind = headers[':message-type']?.value;
    const name = headers[`:${kind === 'exception' ? 'exception' : 'event'}-type`]?.value;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
    // An error that no model of the service knows: its words are in headers.
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
