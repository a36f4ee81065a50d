// FLAC: each frame has a head with a checksum, which says how many samples it plays, in however few bytes.
import { stepsPerTurn, type Walk } from './walk.ts';

const streamInfo = { at: 8, bytes: 34 };
const frameRates = [
  ...[undefined, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000],
];

export function* walkFlac(bytes: Buffer): Walk {
  const info = bytes.subarray(streamInfo.at, streamInfo.at + streamInfo.bytes);
  const rate = flacRate(info);
  if (rate === 0 || !isFirstOfItsKind(bytes)) return undefined;
  const head = ((info.readUInt8(13) & 15) * 2 ** 32 + info.readUInt32BE(14)) / rate;
  return { walked: yield* flacSeconds(bytes, rate), head };
}

const lastBlock = 0x80;

/** Whether what describes the stream comes first, and no second time. */
function isFirstOfItsKind(bytes: Buffer): boolean {
  for (let at = 4, count = 0; at + 4 <= bytes.length; count += 1) {
    const type = bytes[at] ?? 0;
    if ((type & ~lastBlock) === 0 ? count > 0 : count === 0) return false;
    if (type & lastBlock) return true;
    at += 4 + bytes.readUIntBE(at + 1, 3);
  }
  return false;
}

/** Counts every head, wherever it is: a decoder finds no other frames. */
export function* flacSeconds(bytes: Buffer, rate: number): Generator<void, number> {
  let [seconds, steps] = [0, 0];
  for (let at = bytes.indexOf(0xff, 4); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    seconds += frameSeconds(bytes, at, rate);
    steps += 1;
    if (steps % stepsPerTurn === 0) yield;
  }
  return seconds;
}

/** `info`: what describes the stream, from its first field on. */
export const flacRate = (info: Buffer): number => info.readUIntBE(10, 3) >> 4;

/** Zero where no frame begins. A frame with a rate of its own counts by the slower one. */
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

/** The number of a frame is written as UTF-8 writes a character, of up to seven bytes. */
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
