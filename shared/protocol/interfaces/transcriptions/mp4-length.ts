// Measures MP4 files, whose tables have the number of packets of a track. The codec determines how long each packet
// plays, not the clock that the file states.
import { aacSeconds, alacSeconds } from './sound-packets.ts';
import { occurrencesOf, type Walk } from './walk.ts';

interface Box {
  readonly type: string;
  readonly content: Buffer;
  /** Boxes inside this box. */
  readonly boxes: readonly Box[];
}

interface Track {
  readonly packetSeconds: number;
  readonly head: number;
}

const holders = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf']);
/** Types of tables. Decoders look for tables in more places than the format allows, and for a compressed index. */
const tables = ['stsd', 'stsz', 'stz2', 'trun', 'cmov'];
/** Deepest level of a table. */
const depthMax = 6;
/** Maximum number of boxes. A video in pieces of one second has ten boxes in each piece. */
const boxesMax = 64 * 1024;

export function* walkMp4(bytes: Buffer): Walk {
  const found = { boxes: 0, tables: new Map<string, number>() };
  const roots = boxesIn(bytes, found, depthMax);
  for (const type of tables) {
    const count = found.tables.get(type) ?? 0;
    if ((yield* occurrencesOf(Buffer.from(type), bytes, count + 1)) !== count) return undefined;
  }
  const tracks = new Map<number, Track>();
  let walked = 0;
  for (const trak of allOf(roots, 'trak')) {
    const track = trackOf(trak);
    if (track === undefined) return undefined;
    tracks.set(track.id, track);
    walked += samplesIn(trak) * track.packetSeconds;
  }
  for (const traf of allOf(roots, 'traf')) {
    const track = tracks.get(allOf(traf.boxes, 'tfhd')[0]?.content.readUInt32BE(4) ?? 0);
    if (track === undefined) return undefined;
    for (const { content } of allOf(traf.boxes, 'trun')) walked += content.readUInt32BE(4) * track.packetSeconds;
  }
  return { walked, head: Math.max(0, ...[...tracks.values()].map(({ head }) => head)) };
}

const headBytes = 8;
const longHeadBytes = 16;

interface Found {
  boxes: number;
  readonly tables: Map<string, number>;
}

function boxesIn(bytes: Buffer, found: Found, depth: number): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + headBytes <= bytes.length && depth > 0; ) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + headBytes);
    const isLong = size === 1;
    const written = isLong ? Number(bytes.readBigUInt64BE(at + headBytes)) : size === 0 ? bytes.length - at : size;
    if (written < (isLong ? longHeadBytes : headBytes)) break;
    const content = bytes.subarray(at + (isLong ? longHeadBytes : headBytes), at + written);
    if (tables.includes(type)) found.tables.set(type, (found.tables.get(type) ?? 0) + 1);
    found.boxes += 1;
    if (found.boxes > boxesMax) throw new RangeError('the index has too many boxes');
    boxes.push({ type, content, boxes: holders.has(type) ? boxesIn(content, found, depth - 1) : [] });
    at += written;
  }
  return boxes;
}

/** Returns all boxes of the type, at any depth. */
const allOf = (boxes: readonly Box[], type: string): readonly Box[] =>
  boxes.flatMap((box) => [...(box.type === type ? [box] : []), ...allOf(box.boxes, type)]);

/** Returns the number of packets that its tables count. */
const samplesIn = ({ boxes }: Box): number =>
  [...allOf(boxes, 'stsz'), ...allOf(boxes, 'stz2')].reduce((sum, { content }) => sum + content.readUInt32BE(8), 0);

/** Returns undefined for a track that may play for an unknown time. */
function trackOf({ boxes }: Box): (Track & { readonly id: number }) | undefined {
  const [[tkhd], [mdhd], [hdlr], stsds] = [
    ...[allOf(boxes, 'tkhd'), allOf(boxes, 'mdhd'), allOf(boxes, 'hdlr'), allOf(boxes, 'stsd')],
  ] as const;
  const entries = stsds[0]?.content;
  if (tkhd === undefined || hdlr === undefined || entries === undefined || stsds.length > 1) return undefined;
  const id = tkhd.content.readUInt32BE(tkhd.content[0] === 1 ? 20 : 12);
  const format = entries.toString('latin1', 12, 16);
  if (isSilent(hdlr.content.toString('latin1', 8, 12), format)) return { id, packetSeconds: 0, head: 0 };
  const packetSeconds = entries.readUInt32BE(4) === 1 ? packetSecondsOf(format, entries.subarray(8)) : undefined;
  if (packetSeconds === undefined) return undefined;
  return { id, packetSeconds, head: mdhd === undefined ? 0 : headOf(mdhd.content) };
}

/** Formats of texts, times and hints for players. */
const silentFormats = new Set(['text', 'tx3g', 'tmcd', 'mebx', 'mett', 'metx', 'stpp', 'wvtt', 'c608', 'rtp ']);
const soundFormats = new Set(['mp4a', 'alac']);

/** True for a track without audio; the handler counts if the format is none of audio. */
const isSilent = (handler: string, format: string): boolean =>
  !soundFormats.has(format) && (handler === 'vide' || silentFormats.has(format));

const rateAt = 32;

function packetSecondsOf(format: string, entry: Buffer): number | undefined {
  const rate = entry.readUInt16BE(rateAt);
  const at = entry.indexOf(format === 'alac' ? 'alac' : 'esds', headBytes, 'latin1');
  const head = entry.subarray(at + 8);
  if (at < 0 || !soundFormats.has(format)) return undefined;
  if (format === 'alac') return alacSeconds(head, rate);
  const config = aacConfigIn(head);
  return config && aacSeconds(config, rate);
}

/** Object types of MPEG-4 and MPEG-2 audio. */
const aacObjects = new Set([0x40, 0x66, 0x67, 0x68]);
const decoderConfig = 4;
const specificConfig = 5;

/** Returns the configuration; undefined if it describes another codec. */
function aacConfigIn(descriptors: Buffer): Buffer | undefined {
  const stream = contentOf(descriptors);
  const flags = stream[2] ?? 0;
  const skipped = 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (stream[3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
  const decoder = stream.subarray(skipped);
  const config = contentOf(decoder);
  if (decoder[0] !== decoderConfig || !aacObjects.has(config[0] ?? 0)) return undefined;
  const specific = config.subarray(13);
  return specific[0] === specificConfig ? contentOf(specific) : undefined;
}

/** Returns the content of a descriptor, which has a type, a length of seven bits per byte, and a content. */
function contentOf(descriptor: Buffer): Buffer {
  let [at, length] = [1, 0];
  for (let bytes = 0; bytes < 4; bytes += 1) {
    const byte = descriptor[at] ?? 0;
    at += 1;
    length = length * 0x80 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return descriptor.subarray(at, at + length);
}

function headOf(mdhd: Buffer): number {
  const isLong = mdhd[0] === 1;
  const scale = mdhd.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(mdhd.readBigUInt64BE(24)) : mdhd.readUInt32BE(16);
  return scale === 0 ? 0 : duration / scale;
}
