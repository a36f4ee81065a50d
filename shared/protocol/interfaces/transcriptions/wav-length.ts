// WAV: samples of one size each.
import { hidesFrames } from './mpeg-frames.ts';
import type { Walk } from './walk.ts';

const firstChunk = 12;
const chunkHeadBytes = 8;
/** PCM, floats, A-law, µ-law: every other form may have any number of seconds in a byte. */
const sampleForms = new Set([1, 3, 6, 7]);
/** The form is in the first bytes of an identifier. */
const extensible = 0xfffe;
const extensibleBytes = 40;
/** No recorder is faster. */
const rateMax = 768_000;
/** Written by what does not know the length yet. */
const openLengthFrom = 0x7fff_0000;

/** All that follows the head counts: decoders differ in where they end. */
export function* walkWav(bytes: Buffer): Walk {
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

/** The slowest of three: readers go by one of them or another. */
function bytesPerSecondOf(chunk: Buffer): number | undefined {
  const written = chunk.readUInt16LE(0);
  const encoding = written === extensible && chunk.length >= extensibleBytes ? chunk.readUInt16LE(24) : written;
  const [channels, rate] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4)];
  const rates = [chunk.readUInt32LE(8), rate * chunk.readUInt16LE(12), (rate * channels * chunk.readUInt16LE(14)) / 8];
  const slowest = Math.min(...rates);
  return sampleForms.has(encoding) && rate <= rateMax && slowest > 0 ? slowest : undefined;
}
