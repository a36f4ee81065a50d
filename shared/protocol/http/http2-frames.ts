// Divides an HTTP/2 connection's bytes into frames by the frames' own heads of nine bytes (RFC 9113, 4.1). Only Node's
// parser reads the contents of frames.

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Compares a connection's first bytes, at least one, with the preface of HTTP/2. */
export function comparePreface(bytes: Buffer): 'whole' | 'part' | 'none' {
  const length = Math.min(bytes.length, preface.length);
  if (bytes.compare(preface, 0, length, 0, length) !== 0) return 'none';
  return length === preface.length ? 'whole' : 'part';
}

export const prefaceBytes = preface.length;

const frameHeadBytes = 9;
/** Maximum length of a frame's content, which is the default of HTTP/2. */
const contentMaxBytes = 16 * 1024;

const [data, headers, windowUpdate, continuation] = [0x0, 0x1, 0x8, 0x9];
const [endStream, endHeaders] = [0x1, 0x4];

export interface Http2Frame {
  /** Kind of the frame; `control`: carries neither a request nor its body, and widens no window. */
  readonly kind: 'head' | 'data' | 'window' | 'control' | 'oversized';
  readonly streamId: number;
  /** Length with the frame's head; for a request's head with the frames that continue it. */
  readonly bytes: number;
  /** True if all bytes of the frame have arrived. */
  readonly isWhole: boolean;
}

/** Returns the frame that begins at an offset; undefined while its head is incomplete. */
export function frameAt(bytes: Buffer, offset: number): Http2Frame | undefined {
  if (bytes.length < offset + frameHeadBytes) return undefined;
  const contentBytes = bytes.readUIntBE(offset, 3);
  const [type, flags = 0] = [bytes[offset + 3], bytes[offset + 4]];
  const streamId = bytes.readUInt32BE(offset + 5) & 0x7fff_ffff;
  const frame = { streamId, bytes: frameHeadBytes + contentBytes };
  const isWhole = bytes.length >= offset + frame.bytes;
  if (contentBytes > contentMaxBytes) return { kind: 'oversized', ...frame, isWhole };
  if (type === headers) return { kind: 'head', streamId, ...wholeHead(bytes, offset, flags) };
  // An empty data frame counts as `control`, unless it ends a body.
  if (type === data && (contentBytes > 0 || (flags & endStream) !== 0)) return { kind: 'data', ...frame, isWhole };
  return { kind: type === windowUpdate ? 'window' : 'control', ...frame, isWhole };
}

/**
 * Measures a head with its continuation frames. If another frame follows, the head counts as complete, and the
 * parser finds the fault.
 */
function wholeHead(bytes: Buffer, offset: number, firstFlags: number): Pick<Http2Frame, 'bytes' | 'isWhole'> {
  let end = offset + frameHeadBytes + bytes.readUIntBE(offset, 3);
  let flags = firstFlags;
  while ((flags & endHeaders) === 0 && bytes.length >= end + frameHeadBytes && bytes[end + 3] === continuation) {
    flags = bytes[end + 4] ?? 0;
    end += frameHeadBytes + bytes.readUIntBE(end, 3);
  }
  const isContinued = (flags & endHeaders) === 0 && bytes.length < end + frameHeadBytes;
  return { bytes: end - offset, isWhole: bytes.length >= end && !isContinued };
}
