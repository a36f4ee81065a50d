// Measures frames that state their own length, one after another, in MP3, and in AAC in ADTS. It also finds these
// frames inside files that claim another format, because decoders look for them too (ffmpeg does in PCM of WAV).
import { occurrencesOf, stepsPerTurn, type Walk } from './walk.ts';

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** Bits that are the same in all frames of a stream. */
  readonly kind: number;
}

/** Least speed of an MP3: 8 kbit/s. */
const slowestBytesPerSecond = 1_000;
const lastTagBytes = 128;

/**
 * Walks the frames. Bytes after the last frame that matches the first count as the slowest MP3, which bounds anything
 * that a decoder finds in these bytes.
 */
export function* walkFrames(file: Buffer): Walk {
  const hasLastTag = file.toString('latin1', file.length - lastTagBytes, file.length - lastTagBytes + 3) === 'TAG';
  const bytes = hasLastTag ? file.subarray(0, -lastTagBytes) : file;
  const frameAt = layerThreeFrame(bytes, 0) === undefined ? adtsFrame : layerThreeFrame;
  const first = frameAt(bytes, 0);
  if (first === undefined || frameAt(bytes, first.bytes)?.kind !== first.kind) return undefined;
  let [at, steps, walked] = [0, 0, 0];
  for (let frame = frameAt(bytes, 0); frame?.kind === first.kind; frame = frameAt(bytes, at)) {
    at += frame.bytes;
    walked += frame.seconds;
    steps += 1;
    if (steps % stepsPerTurn === 0) yield;
  }
  const rest = Math.max(0, bytes.length - at);
  return { walked: walked + rest / slowestBytesPerSecond, head: secondsInHead(bytes.subarray(0, first.bytes), first) };
}

/** Returns the length in a first frame, which may state the number of all frames, after its side information. */
function secondsInHead(frame: Buffer, { seconds }: Frame): number | undefined {
  const at = Math.max(frame.indexOf('Xing'), frame.indexOf('Info'));
  const hasCount = at >= 0 && at + 12 <= frame.length && ((frame[at + 7] ?? 0) & 1) === 1;
  return hasCount ? frame.readUInt32BE(at + 8) * seconds : undefined;
}

/** Rates in kbit/s, by version and layer, then by their index. */
const layerOneRates = {
  first: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  second: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
};
const layerTwoRates = {
  first: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  second: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const layerThreeRates = {
  first: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  second: layerTwoRates.second,
};
const ratesOf = [undefined, layerThreeRates, layerTwoRates, layerOneRates];
/** Sampling rates by the two bits of the version: 2.5, none, 2, 1. */
const sampleRates = [[11_025, 12_000, 8_000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]];
const versionOne = 3;
const layerOne = 3;
const layerThree = 1;

/** Returns a frame of any layer. A free bit rate is invalid. */
function mpegFrame(bytes: Buffer, at: number): Frame | undefined {
  const [head = 0, rates = 0] = [bytes[at + 1], bytes[at + 2]];
  if (bytes[at] !== 0xff || head < 0xe0) return undefined;
  const [version, layer] = [(head >> 3) & 3, (head >> 1) & 3];
  const isFirst = version === versionOne;
  const kilobits = ratesOf[layer]?.[isFirst ? 'first' : 'second'][(rates >> 4) - 1];
  const sampleRate = sampleRates[version]?.[(rates >> 2) & 3];
  if (kilobits === undefined || sampleRate === undefined) return undefined;
  const padding = (rates >> 1) & 1;
  const samples = layer === layerOne ? 384 : layer === layerThree && !isFirst ? 576 : 1_152;
  const exact = (samples * kilobits * 125) / sampleRate;
  const length = layer === layerOne ? (Math.floor(exact / 4) + padding) * 4 : Math.floor(exact) + padding;
  return { bytes: length, seconds: samples / sampleRate, kind: ((head & 0x1e) << 2) | ((rates >> 2) & 3) };
}

const layerThreeFrame = (bytes: Buffer, at: number): Frame | undefined =>
  (((bytes[at + 1] ?? 0) >> 1) & 3) === layerThree ? mpegFrame(bytes, at) : undefined;

export const aacRates = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350],
];
/** Samples in a frame of the AAC core, which is the maximum of all profiles. */
export const aacFrameSamples = 1_024;
const adtsHeadBytes = 7;

function adtsFrame(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return undefined;
  const [rate = 0, size = 0, low = 0, last = 0] = [bytes[at + 2], bytes[at + 3], bytes[at + 4], bytes[at + 5]];
  const length = ((size & 3) << 11) | (low << 3) | (last >> 5);
  const sampleRate = aacRates[(rate >> 2) & 15];
  if (sampleRate === undefined || length < adtsHeadBytes) return undefined;
  const blocks = ((bytes[at + 6] ?? 0) & 3) + 1;
  return { bytes: length, seconds: (blocks * aacFrameSamples) / sampleRate, kind: (rate << 2) | (size >> 6) };
}

const ac3Kilobits = [...[32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]];
const enhancedFrom = 11;

/** Returns a frame of AC-3 or of its successor. */
function ac3Frame(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) return undefined;
  const [low = 0, codes = 0, layout = 0] = [bytes[at + 3], bytes[at + 4], bytes[at + 5]];
  const kind = layout >> 3;
  if (kind >= enhancedFrom) return { bytes: 2 * ((((bytes[at + 2] ?? 0) & 7) << 8) + low + 1), seconds: 0, kind };
  const kilobits = ac3Kilobits[(codes & 0x3f) >> 1];
  if (kilobits === undefined || codes >> 6 === 3) return undefined;
  const words = [2 * kilobits, Math.floor((kilobits * 320) / 147) + (codes & 1), 3 * kilobits][codes >> 6] ?? 0;
  return { bytes: 2 * words, seconds: 0, kind };
}

/** Returns a frame of AAC in LOAS. */
const loasFrame = (bytes: Buffer, at: number): Frame | undefined =>
  bytes[at] === 0x56 && (bytes[at + 1] ?? 0) >> 5 === 7
    ? { bytes: 3 + ((((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0)), seconds: 0, kind: 0 }
    : undefined;

type Finder = (bytes: Buffer, at: number) => Frame | undefined;

/** Returns the reader of a frame that begins with these bytes. */
function finderOf(first: number, second: number): Finder | undefined {
  if (first === 0x0b) return ac3Frame;
  if (first === 0x56) return loasFrame;
  return (second & 0xf6) === 0xf0 ? adtsFrame : second >= 0xe0 ? mpegFrame : undefined;
}

/** Number of frames of one stream in a row that are not a coincidence; decoders require seven. */
const framesInRow = 4;
/** Words of four bytes that begin each frame of DTS. */
const dtsWords = ['7ffe8001', 'fe7f0180', '1fffe800', 'ff1f00e8'].map((word) => Buffer.from(word, 'hex'));

/** Returns true if frames of audio follow each other anywhere in the bytes. */
export function* hidesFrames(bytes: Buffer): Generator<void, boolean> {
  for (let at = 0; at < bytes.length; at += 1) {
    if (at % stepsPerTurn === 0) yield;
    const byte = bytes[at];
    if (byte !== 0xff && byte !== 0x0b && byte !== 0x56) continue;
    const finder = finderOf(byte, bytes[at + 1] ?? 0);
    if (finder !== undefined && isRow(finder, bytes, at)) return true;
  }
  for (const word of dtsWords) if ((yield* occurrencesOf(word, bytes, 2)) === 2) return true;
  return false;
}

function isRow(finder: Finder, bytes: Buffer, from: number): boolean {
  const first = finder(bytes, from);
  let frame = first;
  let at = from;
  for (let count = 1; count < framesInRow; count += 1) {
    if (frame === undefined || frame.bytes === 0) return false;
    at += frame.bytes;
    frame = finder(bytes, at);
    if (frame?.kind !== first?.kind) return false;
  }
  return frame !== undefined;
}
