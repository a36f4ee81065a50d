// Measures the length of one packet, by its codec.
import { aacFrameSamples, aacRates } from './mpeg-frames.ts';

/** Returns an upper bound for a packet that has bytes. */
export type PacketSeconds = (bytes: Buffer, at: number) => number;

/** Longest packet of Opus (RFC 6716). */
const opusMaxSeconds = 0.12;
const opusFrameMs = { silk: [10, 20, 40, 60], hybrid: [10, 20], celt: [2.5, 5, 10, 20] };

/** Returns the length of an Opus packet, by its first bytes (RFC 6716, section 3.1). */
export const opusSeconds: PacketSeconds = (bytes, at) => {
  const first = bytes[at] ?? 0;
  const config = first >> 3;
  const ms =
    (config < 12
      ? opusFrameMs.silk[config & 3]
      : config < 16
        ? opusFrameMs.hybrid[config & 1]
        : opusFrameMs.celt[config & 3]) ?? 0;
  const frames = [1, 2, 2, (bytes[at + 1] ?? 0) & 0x3f][first & 3] ?? 0;
  return Math.min((ms * frames) / 1_000, opusMaxSeconds);
};

const vorbisHeadBytes = 30;

/** Returns the length. A packet has at most half a long block. `head` is the first packet of its stream. */
export function vorbisSeconds(head: Buffer): number | undefined {
  if (head.length < vorbisHeadBytes || head.toString('latin1', 0, 7) !== '\x01vorbis') return undefined;
  const rate = head.readUInt32LE(12);
  const longBlock = 2 ** ((head[28] ?? 0) >> 4);
  return rate === 0 ? undefined : longBlock / 2 / rate;
}

/** Types of AAC: main, low complexity, scalable rate, long-term prediction, and additional bands or stereo. */
const aacTypes = new Set([1, 2, 3, 4, 5, 29]);
const ownRate = 15;

/**
 * Returns the length, by the slower of the rates in the file and in the codec's own head. `head` is an
 * AudioSpecificConfig.
 */
export function aacSeconds(head: Buffer, fileRate: number): number | undefined {
  if (head.length < 2) return undefined;
  const bits = head.readUInt16BE(0);
  const [type, rateIndex] = [bits >> 11, (bits >> 7) & 15];
  const rate = rateIndex === ownRate ? Math.floor(head.readUIntBE(1, 4) / 128) % 2 ** 24 : aacRates[rateIndex];
  const slower = Math.min(rate ?? 0, fileRate);
  if (!aacTypes.has(type) || slower === 0) return undefined;
  return aacFrameSamples / slower;
}

const alacHeadBytes = 24;

/** Returns the length. `head` is the head of an ALAC stream, from its samples per frame on. */
export function alacSeconds(head: Buffer, fileRate: number): number | undefined {
  if (head.length < alacHeadBytes) return undefined;
  const slower = Math.min(head.readUInt32BE(20), fileRate || Number.POSITIVE_INFINITY);
  const samples = head.readUInt32BE(0);
  return slower === 0 ? undefined : samples / slower;
}
