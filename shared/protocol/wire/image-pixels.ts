// Reads the size of an image from its first bytes. A client decides the number and the content of images, so each image
// costs the same few steps, even an image that does not state its size. Other formats are rare enough to count as the
// largest image.

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** Returns the type by the first bytes, whatever was declared; undefined for another type or no image. */
export const imageTypeOf = (base64: string): string | undefined =>
  formats.find(({ start }) => base64.startsWith(start))?.type;

/**
 * Maximum number of images of a request that are measured, because no provider accepts more (OpenAI: 1,500, November
 * 2026). Further images count as the largest.
 */
const headsMax = 1_500;

/**
 * Opens a reader for one request. It returns undefined if the head has no size, the size is impossible, or enough
 * heads were read.
 */
export function openPixelReader(): (base64: string) => Pixels | undefined {
  let read = 0;
  return (base64) => {
    read += 1;
    return read > headsMax ? undefined : pixelsOf(base64);
  };
}

function pixelsOf(base64: string): Pixels | undefined {
  const format = formats.find(({ start }) => base64.startsWith(start));
  if (format === undefined) return undefined;
  const { width, height } = format.read(Buffer.from(base64.slice(0, format.headCharacters), 'base64')) ?? none;
  return width >= 1 && height >= 1 ? { width, height } : undefined;
}

interface ImageFormat {
  readonly type: string;
  /** First bytes in base64. */
  readonly start: string;
  /** Number of characters that are read; base64 has four characters for three bytes. */
  readonly headCharacters: number;
  readonly read: (head: Buffer) => Pixels | undefined;
}

const none: Pixels = { width: 0, height: 0 };

const formats: readonly ImageFormat[] = [
  { type: 'image/png', start: 'iVBORw0KGgo', headCharacters: 32, read: pngPixels },
  // A preview, camera data and a colour profile precede the size.
  { type: 'image/jpeg', start: '/9j/', headCharacters: 256 * 1024, read: jpegPixels },
  { type: 'image/gif', start: 'R0lGOD', headCharacters: 16, read: gifPixels },
  { type: 'image/webp', start: 'UklGR', headCharacters: 40, read: webpPixels },
];

function pngPixels(head: Buffer): Pixels | undefined {
  if (head.length < 24) return undefined;
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
}

function gifPixels(head: Buffer): Pixels | undefined {
  if (head.length < 10) return undefined;
  return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
}

function webpPixels(head: Buffer): Pixels | undefined {
  if (head.length < 30 || head.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const kind = head.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) };
  if (kind === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  if (kind !== 'VP8L') return undefined;
  const sizes = head.readUInt32LE(21);
  return { width: 1 + (sizes & 0x3fff), height: 1 + ((sizes >>> 14) & 0x3fff) };
}

const jpegSegmentsMax = 256;

/** Reads segments, which begin with a marker and their length. The frame header is the segment that states the size. */
function jpegPixels(head: Buffer): Pixels | undefined {
  let at = 2;
  for (let segments = 0; segments < jpegSegmentsMax && at + 9 <= head.length; segments += 1) {
    if (head[at] !== 0xff) return undefined;
    if (isFrameHeader(head[at + 1] ?? 0)) {
      return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    }
    at += 2 + head.readUInt16BE(at + 2);
  }
  return undefined;
}

/** True for SOF0 to SOF15, except three numbers among them that mean something else. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
