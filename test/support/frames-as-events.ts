// Converts a stream of AWS's frames to one of server-sent events, for suites that read every interface alike. The SDK's
// own codec reads the frames.
import { EventStreamCodec } from '@smithy/core/event-streams';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

function eventOf(frame: Buffer): string {
  const { headers, body } = codec.decode(frame);
  const kind = headers[':message-type']?.value === 'exception' ? ':exception-type' : ':event-type';
  const name = headers[kind]?.value;
  const text = Buffer.from(body).toString('utf8');
  const data = name === 'chunk' ? Buffer.from(JSON.parse(text).bytes, 'base64').toString('utf8') : text;
  return `event: ${name}\ndata: ${data}\n\n`;
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pendingBytes = Buffer.alloc(0);
  for await (const piece of body) {
    pendingBytes = Buffer.concat([pendingBytes, piece]);
    while (pendingBytes.length >= 4 && pendingBytes.length >= pendingBytes.readUInt32BE(0)) {
      const length = pendingBytes.readUInt32BE(0);
      yield Buffer.from(eventOf(pendingBytes.subarray(0, length)));
      pendingBytes = pendingBytes.subarray(length);
    }
  }
  if (pendingBytes.length > 0) throw new Error('a frame is cut off');
}

/** Converts a stream of frames, and returns any other answer unchanged. */
export function framesAsEvents(response: Response): Response {
  const { status, headers, body } = response;
  if (body === null || headers.get('content-type') !== 'application/vnd.amazon.eventstream') return response;
  const readable = new Headers(headers);
  readable.set('content-type', 'text/event-stream');
  return new Response(ReadableStream.from(eventsOf(body)) as ReadableStream<Uint8Array>, { status, headers: readable });
}
