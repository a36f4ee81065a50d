// Measures how long a file of audio plays, by a walk over its frames, packets or PCM data. The length that the file
// itself states counts only if it is longer than the measured length. This module is loaded with the first file.
import { nextTurn } from '../../../foundation/time/index.ts';
import { walkMp4 } from './mp4-length.ts';
import { hidesFrames, walkFrames } from './mpeg-frames.ts';
import { opusSeconds, type PacketSeconds, vorbisSeconds } from './sound-packets.ts';
import { stepsPerTurn, type Walk } from './walk.ts';
import { walkWebm } from './webm-length.ts';

/** Longest length that is accepted. No file of 25 MiB is longer, unless its packets are. */
const headMaxSeconds = 24 * 60 * 60;

/**
 * Returns undefined if the file's frames cannot be walked. The bytes determine the format, as in decoders, and the
 * client's name or type of the file does not count.
 */
export async function audioSeconds(file: Uint8Array): Promise<number | undefined> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const begin = tagsEnd(bytes);
  try {
    if (await inTurns(hidesFrames(bytes.subarray(0, begin)))) return undefined;
    const played = await inTurns(walkOf(bytes.subarray(begin)));
    if (played === undefined || !Number.isFinite(played.walked)) return undefined;
    const { walked, head = 0 } = played;
    const seconds = head < headMaxSeconds ? Math.max(walked, head) : walked;
    return seconds > 0 ? seconds : undefined;
  } catch {
    // The file ends in the middle of a head.
    return undefined;
  }
}

function walkOf(bytes: Buffer): Walk {
  const magic = bytes.toString('latin1', 0, 12);
  if (/^(RIFF|RF64).{4}WAVE/s.test(magic)) return walkWav(bytes);
  if (magic.startsWith('fLaC')) return walkFlac(bytes);
  if (magic.startsWith('OggS')) return walkOgg(bytes);
  if (magic.startsWith('\x1a\x45\xdf\xa3')) return walkWebm(bytes);
  return magic.startsWith('ftyp', 4) ? walkMp4(bytes) : walkFrames(bytes);
}

async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

const tagHeadBytes = 10;
const footerFlag = 0x10;

/** Returns the end of the titles and pictures before a file (ID3v2, whose length has seven bits per byte). */
function tagsEnd(bytes: Buffer): number {
  let end = 0;
  while (bytes.toString('latin1', end, end + 3) === 'ID3' && end + tagHeadBytes <= bytes.length) {
    const sizes = bytes.subarray(end + 6, end + tagHeadBytes);
    if (sizes.some((byte) => byte > 0x7f)) return end;
    const length = sizes.reduce((sum, byte) => sum * 0x80 + byte, 0);
    const hasFooter = ((bytes[end + 5] ?? 0) & footerFlag) !== 0;
    end += tagHeadBytes + length + (hasFooter ? tagHeadBytes : 0);
  }
  return Math.min(end, bytes.length);
}

// WAV: samples that all have the same size.

const firstChunk = 12;
const chunkHeadBytes = 8;
/** PCM, floats, A-law and µ-law, because in any other format a byte may have any number of seconds. */
const sampleForms = new Set([1, 3, 6, 7]);
/** Value of a format that is stored in the first bytes of an identifier instead. */
const extensible = 0xfffe;
const extensibleBytes = 40;
/** Highest sampling rate. No recorder is faster. */
const rateMax = 768_000;
/** Programs that do not know the length yet write this length or a greater length. */
const openLengthFrom = 0x7fff_0000;

/** Walks the file. Everything after the head counts, because decoders end at different points. */
function* walkWav(bytes: Buffer): Walk {
  let bytesPerSecond: number | undefined;
  for (let at = firstChunk; at + chunkHeadBytes <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const begin = at + chunkHeadBytes;
    if (name === 'data') {
      if (bytesPerSecond === undefined) return undefined;
      return yield* lengthOf(bytes.subarray(begin), length, bytesPerSecond);
    }
    if (name === 'fmt ') {
      if (bytesPerSecond !== undefined) return undefined;
      bytesPerSecond = bytesPerSecondOf(bytes.subarray(begin, begin + length));
      if (bytesPerSecond === undefined) return undefined;
    }
    at = begin + length + (length & 1);
  }
  return undefined;
}

function* lengthOf(samples: Buffer, length: number, bytesPerSecond: number): Walk {
  if (yield* hidesFrames(samples)) return undefined;
  const head = length < openLengthFrom ? length / bytesPerSecond : undefined;
  return { walked: samples.length / bytesPerSecond, head };
}

/** Returns the slowest of three rates, because readers differ in the rate that they use. */
function bytesPerSecondOf(chunk: Buffer): number | undefined {
  const written = chunk.readUInt16LE(0);
  const encoding = written === extensible && chunk.length >= extensibleBytes ? chunk.readUInt16LE(24) : written;
  const [channels, rate] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4)];
  const rates = [chunk.readUInt32LE(8), rate * chunk.readUInt16LE(12), (rate * channels * chunk.readUInt16LE(14)) / 8];
  const slowest = Math.min(...rates);
  return sampleForms.has(encoding) && rate <= rateMax && slowest > 0 ? slowest : undefined;
}

// Measures Ogg files, which consist of pages of packets, of one stream or several. Opus, Vorbis and FLAC play by their
// packets.

interface Stream {
  readonly secondsOf: PacketSeconds;
  readonly isFlac?: boolean;
  /** Rate of the positions in its pages. */
  readonly rate: number;
  position: number;
}

const pageHeadBytes = 27;
const continued = 1;
const first = 2;
const segmentMaxBytes = 255;
/** Maximum number of streams, which are songs one after another, or the audio of a video in some languages. */
const streamsMax = 256;

/**
 * Walks the file. Every page counts, even inside another page, because a decoder that rejects a page looks for the next
 * page within it.
 */
function* walkOgg(bytes: Buffer): Walk {
  const streams: Stream[] = [];
  const bySerial = new Map<number, Stream>();
  let [walked, steps, turn] = [0, 0, 1];
  for (let at = 0; at >= 0; at = bytes.indexOf('OggS', at + 4, 'latin1')) {
    if (at + pageHeadBytes > bytes.length) break;
    const segments = bytes.subarray(at + pageHeadBytes, at + pageHeadBytes + (bytes[at + 26] ?? 0));
    const begin = at + pageHeadBytes + segments.length;
    const [flags = 0, serial] = [bytes[at + 5], bytes.readUInt32LE(at + 14)];
    if (flags & first) {
      const stream = streamOf(bytes.subarray(begin));
      if (stream === undefined || streams.length === streamsMax) return undefined;
      streams.push(stream);
      bySerial.set(serial, stream);
    }
    const stream = bySerial.get(serial);
    if (stream === undefined) return undefined;
    walked += pageSeconds(bytes, begin, segments, { stream, isContinued: (flags & continued) !== 0 });
    const position = bytes.readUInt32LE(at + 6) + bytes.readInt32LE(at + 10) * 2 ** 32;
    stream.position = Math.max(stream.position, position);
    steps += segments.length + 1;
    // The pages share their bytes with each other without an end.
    if (steps > 2 * bytes.length) return undefined;
    if (steps > turn * stepsPerTurn) {
      turn += 1;
      yield;
    }
  }
  // A packet may have several frames.
  const flacRates = streams.filter(({ isFlac }) => isFlac === true).map(({ rate }) => rate);
  if (flacRates.length > 0) walked += yield* flacSeconds(bytes, Math.min(...flacRates));
  return { walked, head: streams.reduce((sum, { position, rate }) => sum + position / rate, 0) };
}

interface Page {
  readonly stream: Stream;
  /** True if the page begins with the rest of a packet that was counted. */
  readonly isContinued: boolean;
}

function pageSeconds(bytes: Buffer, begin: number, segments: Buffer, { stream, isContinued }: Page): number {
  let [seconds, at, length, isRest] = [0, begin, 0, isContinued];
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index] ?? 0;
    length += segment;
    if (segment === segmentMaxBytes && index + 1 < segments.length) continue;
    if (!isRest && length > 0) seconds += stream.secondsOf(bytes, at);
    at += length;
    length = 0;
    isRest = false;
  }
  return seconds;
}

const opusRate = 48_000;
const silent: PacketSeconds = () => 0;

/** Returns the stream, by its first packet. */
function streamOf(head: Buffer): Stream | undefined {
  const name = head.toString('latin1', 0, 8);
  if (name === 'OpusHead') return { secondsOf: opusPacket, rate: opusRate, position: 0 };
  if (name.startsWith('\x01vorbis')) {
    const seconds = vorbisSeconds(head);
    // Packets of the head have an odd first byte.
    const secondsOf: PacketSeconds = (bytes, at) => ((bytes[at] ?? 0) & 1 ? 0 : (seconds ?? 0));
    return seconds === undefined ? undefined : { secondsOf, rate: head.readUInt32LE(12), position: 0 };
  }
  if (name.startsWith('\x7fFLAC')) {
    const rate = flacRate(head.subarray(17));
    return rate === 0 ? undefined : { secondsOf: silent, isFlac: true, rate, position: 0 };
  }
  // These streams are pictures, and an index.
  return /^(\x80theora|fishead\0)/.test(name)
    ? { secondsOf: silent, rate: Number.POSITIVE_INFINITY, position: 0 }
    : undefined;
}

const opusHead = Buffer.from('OpusHead');

/**
 * Returns the length of an Opus packet. Packets of the head begin with the letter O; as audio they would be longer than
 * a packet can be.
 */
const opusPacket: PacketSeconds = (bytes, at) =>
  bytes[at] === opusHead[0] && bytes.toString('latin1', at, at + 4) === 'Opus' ? 0 : opusSeconds(bytes, at);

// Measures FLAC, in which each frame has a head with a checksum, and with the number of samples that the frame plays,
// in however few bytes.

const streamInfo = { at: 8, bytes: 34 };
const frameRates = [
  ...[undefined, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000],
];

function* walkFlac(bytes: Buffer): Walk {
  const info = bytes.subarray(streamInfo.at, streamInfo.at + streamInfo.bytes);
  const rate = flacRate(info);
  if (rate === 0 || !isFirstOfItsKind(bytes)) return undefined;
  const head = ((info.readUInt8(13) & 15) * 2 ** 32 + info.readUInt32BE(14)) / rate;
  return { walked: yield* flacSeconds(bytes, rate), head };
}

const lastBlock = 0x80;

/** True if the description of the stream comes first, and only once. */
function isFirstOfItsKind(bytes: Buffer): boolean {
  for (let at = 4, count = 0; at + 4 <= bytes.length; count += 1) {
    const type = bytes[at] ?? 0;
    if ((type & ~lastBlock) === 0 ? count > 0 : count === 0) return false;
    if (type & lastBlock) return true;
    at += 4 + bytes.readUIntBE(at + 1, 3);
  }
  return false;
}

/** Counts every head, wherever it is, because a decoder finds no other frames. */
function* flacSeconds(bytes: Buffer, rate: number): Generator<void, number> {
  let [seconds, steps] = [0, 0];
  for (let at = bytes.indexOf(0xff, 4); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    seconds += frameSeconds(bytes, at, rate);
    steps += 1;
    if (steps % stepsPerTurn === 0) yield;
  }
  return seconds;
}

/** Returns the rate. `info` is the description of the stream, from its first field on. */
const flacRate = (info: Buffer): number => info.readUIntBE(10, 3) >> 4;

/** Returns zero if no frame begins. A frame with a rate of its own counts by the slower of both. */
function frameSeconds(bytes: Buffer, at: number, streamRate: number): number {
  const [sync = 0, sizes = 0, layout = 0] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  if (bytes[at] !== 0xff || (sync & 0xfe) !== 0xf8) return 0;
  const [sizeCode, rateCode] = [sizes >> 4, sizes & 15];
  if (sizeCode === 0 || rateCode === 15 || layout >> 4 > 10 || (layout & 1) === 1) return 0;
  let end = at + 4 + numberBytes(bytes[at + 4] ?? 0);
  const size = sizeOf(sizeCode, bytes, end);
  if (sizeCode === 6) end += 1;
  if (sizeCode === 7) end += 2;
  const rate = rateOf(rateCode, bytes, end) ?? streamRate;
  if (rateCode === 12) end += 1;
  if (rateCode > 12) end += 2;
  if (end >= bytes.length || checksum(bytes.subarray(at, end)) !== bytes[end]) return 0;
  return size / Math.min(rate || streamRate, streamRate);
}

/** Returns the length of a frame's number, which is written as UTF-8 writes a character, in up to seven bytes. */
const numberBytes = (first: number): number =>
  first < 0x80 ? 1 : Math.min(7, Math.max(1, Math.clz32(~(first << 24))));

function sizeOf(code: number, bytes: Buffer, at: number): number {
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  if (code === 6) return (bytes[at] ?? 0) + 1;
  return code === 7 ? ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0) + 1 : 256 << (code - 8);
}

function rateOf(code: number, bytes: Buffer, at: number): number | undefined {
  if (code < 12) return frameRates[code];
  if (code === 12) return (bytes[at] ?? 0) * 1_000;
  return (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) * (code === 13 ? 1 : 10);
}

const checksums = Uint8Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum & 0x80 ? 0x107 : 0);
  return sum;
});

const checksum = (bytes: Buffer): number => bytes.reduce((sum, byte) => checksums[sum ^ byte] ?? 0, 0);
