// Clients of HTTP/2 that do things which Node's own never does: single frames, headers that do not end, floods. It also
// has Node's own client, for complete calls.
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { connected } from './raw-http.ts';

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Opens a session with a listener without TLS on this machine. Errors of the connection are its end. */
export function openSession(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  return session;
}

export function openStream(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): ClientHttp2Stream {
  const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined });
  stream.on('error', () => {});
  if (body !== undefined) stream.end(body);
  return stream;
}

/** Rejects if the stream is reset before its answer. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const ended = once(stream, 'close').then(() => {
    throw new Error(`reset with code ${stream.rstCode}`);
  });
  const [headers] = await Promise.race([once(stream, 'response'), ended]);
  return { status: headers[':status'], headers, body: await text(stream) };
}

export const callOn = (
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Http2Answer> => answerOf(openStream(session, headers, body));

export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  continuation: 9,
};
export const frameFlags = { none: 0, endStream: 1, endHeaders: 4, ack: 1 };
export const cancelCode = 8;
export const calmCode = 11;

export interface SentFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly content: Buffer;
}

export function frame(type: number, flags: number, streamId: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(content.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, content]);
}

const host = Buffer.from('localhost');
/** Returns compressed headers: `:method`, `:path: /` and `:scheme: http` of the static table, and a host. */
export const packedHead = (method: 'GET' | 'POST'): Buffer =>
  Buffer.concat([Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x84, 0x86, 0x01, host.length]), host]);

/** Returns a complete request without a body. */
export const getFrame = (streamId: number): Buffer =>
  frame(frameTypes.headers, frameFlags.endHeaders | frameFlags.endStream, streamId, packedHead('GET'));

export const postFrame = (streamId: number): Buffer =>
  frame(frameTypes.headers, frameFlags.endHeaders, streamId, packedHead('POST'));

export const resetFrame = (streamId: number, code = cancelCode): Buffer => {
  const content = Buffer.alloc(4);
  content.writeUInt32BE(code);
  return frame(frameTypes.reset, frameFlags.none, streamId, content);
};

export const settingsFrame: Buffer = frame(frameTypes.settings, frameFlags.none, 0);
export const opening: Buffer = Buffer.concat([Buffer.from(preface), settingsFrame]);

/** Opens a connection that sends bytes unchanged, and stores the frames that it receives. */
export async function rawSession(port: number, bytes: Buffer | string = opening) {
  const socket = await connected(port);
  const frames: SentFrame[] = [];
  let unread = Buffer.alloc(0);
  socket.on('data', (read: Buffer) => {
    unread = Buffer.concat([unread, read]);
    for (let length = lengthOf(unread); length !== undefined; length = lengthOf(unread)) {
      const [type = 0, flags = 0] = unread.subarray(3, 5);
      frames.push({ type, flags, streamId: unread.readUInt32BE(5), content: unread.subarray(9, length) });
      unread = unread.subarray(length);
      socket.emit('frame');
    }
  });
  socket.write(bytes);
  return {
    socket,
    frames,
    send: (...chunks: readonly Buffer[]) => socket.write(Buffer.concat(chunks)),
    /** Resolves with the first frame of a type, on a stream if one is named, that has arrived or arrives later. */
    async until(type: number, streamId?: number): Promise<SentFrame> {
      for (;;) {
        const found = frames.find((one) => one.type === type && (streamId ?? one.streamId) === one.streamId);
        if (found !== undefined) return found;
        await once(socket, 'frame');
      }
    },
    /** Returns the code with which the server ends the connection. */
    async goawayCode(): Promise<number> {
      return (await this.until(frameTypes.goaway)).content.readUInt32BE(4);
    },
  };
}

function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < 9) return undefined;
  const length = 9 + bytes.readUIntBE(0, 3);
  return bytes.length < length ? undefined : length;
}
