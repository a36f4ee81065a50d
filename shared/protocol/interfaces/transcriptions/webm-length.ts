// Measures WebM and Matroska files, which have blocks of packets, each of a track that states its codec.
import { aacSeconds, opusSeconds, type PacketSeconds, vorbisSeconds } from './sound-packets.ts';
import { stepsPerTurn, type Walk } from './walk.ts';

const ids = {
  segment: 0x18538067,
  info: 0x1549a966,
  timeScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  number: 0xd7,
  type: 0x83,
  codec: 0x86,
  codecHead: 0x63a2,
  encodings: 0x6d80,
  audio: 0xe1,
  rate: 0xb5,
  cluster: 0x1f43b675,
  group: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;
const holders = new Set<number>([ids.segment, ids.info, ids.tracks, ids.track, ids.audio, ids.cluster, ids.group]);
/** Elements without a length, written while recording. They end where the next element of their kind begins. */
const openEnded = new Set<number>([ids.segment, ids.cluster]);
/** Deepest level, at which a block is in a group, in a cluster, in a segment. */
const depthMax = 4;
/** Maximum number of tracks, which may be the audio of a video in many languages. */
const tracksMax = 256;
const fieldsMax = 1_024;
const audioType = 2;
const defaultRate = 8_000;
const defaultTimeScale = 1_000_000;
const nanosPerSecond = 1e9;

interface Element {
  readonly id: number;
  readonly begin: number;
  readonly end: number;
}

interface File {
  readonly bytes: Buffer;
  /** Codecs of the tracks; `null` for a track without audio. */
  readonly tracks: Map<number, Codec | null>;
  walked: number;
  steps: number;
  timeScale: number;
  duration: number;
}

export function* walkWebm(bytes: Buffer): Walk {
  const file: File = { bytes, tracks: new Map(), walked: 0, steps: 0, timeScale: defaultTimeScale, duration: 0 };
  yield* walkWithin(file, { id: 0, begin: 0, end: bytes.length }, 0);
  return { walked: file.walked, head: (file.duration * file.timeScale) / nanosPerSecond };
}

/** Walks the elements inside an element. Throws if a decoder would search for the next cluster by itself. */
function* walkWithin(file: File, holder: Element, depth: number): Generator<void, void> {
  if (depth > depthMax) throw new RangeError('elements are nested too deeply');
  for (let at = holder.begin; at < holder.end; ) {
    const element = elementAt(file.bytes, at, holder.end);
    if (element === undefined) return;
    if (element.id === ids.track) addTrack(file, element);
    else if (holders.has(element.id)) yield* walkWithin(file, element, depth + 1);
    else readElement(file, element);
    at = element.end;
    file.steps += 1;
    if (file.steps % stepsPerTurn === 0) yield;
  }
}

function readElement(file: File, element: Element): void {
  if (element.id === ids.simpleBlock || element.id === ids.block) file.walked += blockSeconds(file, element);
  if (element.id === ids.timeScale) file.timeScale = numberOf(file.bytes, element);
  if (element.id === ids.duration) file.duration = floatOf(file.bytes, element);
}

/** The seconds of every packet, or a function that returns them for each. */
type Codec = number | PacketSeconds;

/** Returns the length of a number, which its leading zeros state. */
const lengthAt = (bytes: Buffer, at: number): number => Math.clz32(bytes.readUInt8(at)) - 23;

/** Returns undefined if the file ends within the element's head. */
function elementAt(bytes: Buffer, at: number, end: number): Element | undefined {
  const idLength = lengthAt(bytes, at);
  if (idLength > 4) throw new RangeError('no element begins here');
  const sizeAt = at + idLength;
  if (sizeAt >= bytes.length || sizeAt + lengthAt(bytes, sizeAt) > bytes.length) return undefined;
  const id = bytes.readUIntBE(at, idLength);
  const sizeLength = lengthAt(bytes, sizeAt);
  if (sizeLength > 8) throw new RangeError('no length begins here');
  const begin = sizeAt + sizeLength;
  const size = varint(bytes, sizeAt, sizeLength);
  if (size === undefined) {
    if (!openEnded.has(id)) throw new RangeError('only a segment and a cluster end anywhere');
    return { id, begin, end };
  }
  // The last element may be cut off. Any other element would hide the elements after its parent.
  if (begin + size > end && end < bytes.length) throw new RangeError('longer than what holds it');
  return { id, begin, end: Math.min(begin + size, end) };
}

/** Returns the number; undefined if all of its bits are set. */
function varint(bytes: Buffer, at: number, length: number): number | undefined {
  let value = bytes.readUInt8(at) & (0xff >> length);
  let isOpen = value === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes.readUInt8(at + index);
    isOpen &&= byte === 0xff;
    value = value * 0x100 + byte;
  }
  return isOpen ? undefined : value;
}

const numberOf = (bytes: Buffer, { begin, end }: Element): number =>
  end - begin > 6
    ? Number(`0x${bytes.toString('hex', begin, end)}`)
    : end > begin
      ? bytes.readUIntBE(begin, end - begin)
      : 0;

function floatOf(bytes: Buffer, { begin, end }: Element): number {
  const value = end - begin === 4 ? bytes.readFloatBE(begin) : end - begin === 8 ? bytes.readDoubleBE(begin) : 0;
  return Math.max(value, 0);
}

/** Adds a track. Throws for audio whose packets do not state how long they play. */
function addTrack({ bytes, tracks }: File, track: Element): void {
  const fields = new Map<number, Element>();
  for (let at = track.begin, count = 0; at < track.end; count += 1) {
    if (count === fieldsMax || tracks.size === tracksMax) throw new RangeError('the tracks have too many fields');
    const element = elementAt(bytes, at, track.end);
    if (element === undefined) throw new RangeError('a track is cut');
    fields.set(element.id, element);
    // The element's own fields come next.
    at = element.id === ids.audio ? element.begin : element.end;
  }
  const [number, type, rate] = [fields.get(ids.number), fields.get(ids.type), fields.get(ids.rate)];
  if (number === undefined || type === undefined) throw new RangeError('a track has no number or no type');
  const trackNumber = numberOf(bytes, number);
  if (tracks.has(trackNumber)) throw new RangeError('two tracks have one number');
  if (numberOf(bytes, type) !== audioType) {
    tracks.set(trackNumber, null);
    return;
  }
  const textOf = (element: Element | undefined) => bytes.subarray(element?.begin ?? 0, element?.end ?? 0);
  const name = textOf(fields.get(ids.codec)).toString('latin1').replace(/\0+$/, '');
  const known = codecOf(name, textOf(fields.get(ids.codecHead)), rate ? floatOf(bytes, rate) : defaultRate);
  if (known === undefined || fields.has(ids.encodings)) throw new RangeError('sound of another codec');
  tracks.set(trackNumber, known);
}

function codecOf(codec: string, head: Buffer, rate: number): Codec | undefined {
  if (codec === 'A_OPUS') return opusSeconds;
  if (codec === 'A_AAC') return aacSeconds(head, rate);
  // Vorbis has three packets in its head, after a byte with their number and their lengths.
  return codec === 'A_VORBIS'
    ? vorbisSeconds(head.subarray(Math.max(0, head.indexOf('\x01vorbis', 0, 'latin1'))))
    : undefined;
}

const blockHeadBytes = 3;

function blockSeconds({ bytes, tracks }: File, { begin, end }: Element): number {
  const numberLength = lengthAt(bytes, begin);
  const codec = tracks.get(varint(bytes, begin, numberLength) ?? 0);
  if (codec === null) return 0;
  if (codec === undefined) throw new RangeError('a block of no track');
  const at = begin + numberLength + blockHeadBytes;
  const isLaced = (bytes.readUInt8(at - 1) & 6) !== 0;
  if (typeof codec === 'number') return isLaced ? (bytes.readUInt8(at) + 1) * codec : codec;
  if (isLaced) throw new RangeError('packets whose beginnings are not known');
  return end > at ? codec(bytes, at) : 0;
}
