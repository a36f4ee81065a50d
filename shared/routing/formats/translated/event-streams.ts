// Streams as their packages can read them: events bounded, without what is new to the package, with a usage that it takes, and
// with the end that was said.
import { crc32 } from 'node:zlib';
import { upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { type EventText, isJsonObject, readEvents, toEventLine } from '../../../protocol/wire/index.ts';
import { withReadableEventUsage, withReadableGeminiUsage, withReadableUsage } from './reported-usage.ts';
import type { TranslatedApi } from './translated-api.ts';

type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

export const readableStreams: Readonly<Record<TranslatedApi, (bytes: AsyncIterable<Uint8Array>) => Bytes>> = {
  messages: anthropicEvents,
  converse: bedrockFrames,
  async *'generate-content'(bytes) {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
      yield eventBytes(events.map(({ name, text }) => ({ name, text: withReadableGeminiUsage(text) })));
    }
  },
};

const eventBytes = (events: readonly EventText[]): Uint8Array =>
  Buffer.from(events.map(({ name, text }) => toEventLine(text, name)).join(''));

/** Anthropic may add events at any time: the package knows these. */
const knownEvents = /"type"\s*:\s*"(message_|content_block_|error|ping)/;
const usageEvents = /"type"\s*:\s*"message_(start|delta)"/;

async function* anthropicEvents(bytes: AsyncIterable<Uint8Array>): Bytes {
  let isFinished = false;
  let isEnded = false;
  const read = ({ name, text }: EventText): EventText[] => {
    if (!knownEvents.test(text)) return isEventObject(text) ? [] : [{ name, text }];
    isEnded ||= text.includes('"message_stop"');
    if (!usageEvents.test(text)) return [{ name, text }];
    const event = parsed(text);
    if (event === undefined) return [{ name, text }];
    isFinished ||= isJsonObject(event.delta) && typeof event.delta.stop_reason === 'string';
    return [{ name, text: JSON.stringify(withReadableEventUsage(event)) }];
  };
  try {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) yield eventBytes(events.flatMap(read));
  } catch (error) {
    // However the connection ends then, everything was said.
    if (!isFinished) throw error;
  }
  if (isFinished && !isEnded) yield eventBytes([{ name: 'message_stop', text: '{"type":"message_stop"}' }]);
}

const isEventObject = (text: string): boolean => typeof parsed(text)?.type === 'string';

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Two lengths and their checksum stand before the headers of a frame, and its own checksum behind its text. */
const preludeBytes = 12;
const checksumBytes = 4;

/** Frames of an AWS event stream, each whole. What is none goes on as it is: the package says what is wrong with it. */
async function* bedrockFrames(bytes: AsyncIterable<Uint8Array>): Bytes {
  let pieces: Uint8Array[] = [];
  let heldBytes = 0;
  /** Before so many bytes are there, no frame can be whole. */
  let wantedBytes = preludeBytes;
  let isRaw = false;
  for await (const piece of bytes) {
    pieces.push(piece);
    heldBytes += piece.length;
    if (heldBytes < wantedBytes && !isRaw) continue;
    let held = Buffer.concat(pieces);
    const frames: Buffer[] = [];
    wantedBytes = preludeBytes;
    while (held.length >= preludeBytes && !isRaw) {
      const length = held.readUInt32BE(0);
      const headersLength = held.readUInt32BE(4);
      isRaw =
        crc32(held.subarray(0, 8)) !== held.readUInt32BE(8) || preludeBytes + headersLength + checksumBytes > length;
      if (isRaw) break;
      if (length > upstreamEventMaxBytes) throw new RangeError('an event is too large');
      wantedBytes = length;
      if (held.length < length) break;
      frames.push(withReadableFrame(held.subarray(0, length), headersLength));
      held = held.subarray(length);
      wantedBytes = preludeBytes;
    }
    if (isRaw) frames.push(held);
    pieces = isRaw ? [] : [held];
    heldBytes = isRaw ? 0 : held.length;
    if (frames.length > 0) yield Buffer.concat(frames);
  }
  if (heldBytes > 0) yield Buffer.concat(pieces);
}

/** The frame that tells the usage comes last; its name stands in its headers. */
function withReadableFrame(frame: Buffer, headersLength: number): Buffer {
  const textAt = preludeBytes + headersLength;
  const isMetadata = frame.subarray(preludeBytes, textAt).includes('metadata');
  const isWhole = crc32(frame.subarray(0, -checksumBytes)) === frame.readUInt32BE(frame.length - checksumBytes);
  if (!isMetadata || !isWhole) return frame;
  const text = frame.subarray(textAt, -checksumBytes).toString('utf8');
  const readable = Buffer.from(withReadableUsage(text, 'converse'));
  const head = Buffer.alloc(preludeBytes);
  head.writeUInt32BE(textAt + readable.length + checksumBytes, 0);
  head.writeUInt32BE(headersLength, 4);
  head.writeUInt32BE(crc32(head.subarray(0, 8)), 8);
  const body = Buffer.concat([head, frame.subarray(preludeBytes, textAt), readable]);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(crc32(body), 0);
  return Buffer.concat([body, checksum]);
}
