// Ogg: pages of packets, of one stream or several. Opus, Vorbis and FLAC play by their packets.
import { flacRate, flacSeconds } from './flac-length.ts';
import { opusSeconds, type PacketSeconds, vorbisSeconds } from './sound-packets.ts';
import { stepsPerTurn, type Walk } from './walk.ts';

interface Stream {
  readonly secondsOf: PacketSeconds;
  readonly isFlac?: boolean;
  /** Of the positions that its pages say. */
  readonly rate: number;
  position: number;
}

const pageHeadBytes = 27;
const continued = 1;
const first = 2;
const segmentMaxBytes = 255;
/** Songs one behind the other, or a film's sound in some languages. */
const streamsMax = 256;

/** Every page counts, also one in another: a decoder that dislikes a page looks for the next within it. */
export function* walkOgg(bytes: Buffer): Walk {
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
    // Pages that share their bytes with each other without an end.
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
  /** It begins with the rest of a packet that has counted. */
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

/** By its first packet. */
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
  // Pictures, and an index.
  return /^(\x80theora|fishead\0)/.test(name)
    ? { secondsOf: silent, rate: Number.POSITIVE_INFINITY, position: 0 }
    : undefined;
}

const opusHead = Buffer.from('OpusHead');

/** Packets of the head begin with the letter O, which as sound would be longer than a packet can be. */
const opusPacket: PacketSeconds = (bytes, at) =>
  bytes[at] === opusHead[0] && bytes.toString('latin1', at, at + 4) === 'Opus' ? 0 : opusSeconds(bytes, at);
