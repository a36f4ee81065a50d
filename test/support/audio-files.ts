// Audio files made of real frames, packets or samples, so that a test knows for how long a decoder plays them, whatever
// their headers say.

export interface AudioFile {
  readonly bytes: Buffer;
  /** Seconds for which the most tolerant decoder plays it. */
  readonly plays: number;
}

const repeated = (piece: Buffer, count: number): Buffer => Buffer.concat(new Array<Buffer>(count).fill(piece));
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u32le = (value: number): Buffer => u32(value).reverse();
const u16le = (value: number): Buffer => u16(value).reverse();

const mp3Frame = (head: readonly number[], length: number): Buffer =>
  Buffer.concat([Buffer.from(head), Buffer.alloc(length - head.length)]);
/** Frames of 128 kbit/s at 44.1 kHz, of 320 at 48, and of 8 at 8, the slowest. */
const usual = { frame: mp3Frame([0xff, 0xfb, 0x90, 0], 417), seconds: 1_152 / 44_100 };
const fast = { frame: mp3Frame([0xff, 0xfb, 0xe4, 0], 960), seconds: 1_152 / 48_000 };
const slow = { frame: mp3Frame([0xff, 0xe3, 0x18, 0], 72), seconds: 576 / 8_000 };

export const mp3 = (frames: number): AudioFile => ({
  bytes: repeated(usual.frame, frames),
  plays: frames * usual.seconds,
});

/** Returns a file whose first frame declares the number of frames. */
export function mp3Counted(frames: number, statedFrames: number): AudioFile {
  const first = Buffer.from(usual.frame);
  first.write('Xing', 36);
  first.writeUInt32BE(1, 40);
  first.writeUInt32BE(statedFrames, 44);
  return { bytes: Buffer.concat([first, mp3(frames).bytes]), plays: (frames + 1) * usual.seconds };
}

export const mp3OfTwoRates = (frames: number): AudioFile => ({
  bytes: Buffer.concat([repeated(fast.frame, 8), repeated(slow.frame, frames)]),
  plays: 8 * fast.seconds + frames * slow.seconds,
});

/** Returns slow frames in groups of three, each group after another byte. */
export const mp3InPieces = (frames: number): AudioFile => ({
  bytes: Buffer.concat([
    repeated(fast.frame, 8),
    repeated(Buffer.concat([Buffer.alloc(1), repeated(slow.frame, 3)]), frames / 3),
  ]),
  plays: 8 * fast.seconds + frames * slow.seconds,
});

/** Returns frames in a part that readers of titles skip. */
export function mp3InTitles(frames: number): AudioFile {
  const hidden = repeated(slow.frame, frames);
  const sizes = [21, 14, 7, 0].map((shift) => (hidden.length >> shift) & 0x7f);
  const tag = Buffer.concat([latin('ID3\x03\0\0'), Buffer.from(sizes), hidden]);
  return { bytes: Buffer.concat([tag, repeated(fast.frame, 8)]), plays: frames * slow.seconds };
}

export function adts(frames: number): AudioFile {
  const head = Buffer.from([0xff, 0xf1, 0x50, 0x80, 0, 0, 0xfc]);
  const length = 100;
  head[4] = length >> 3;
  head[5] = ((length & 7) << 5) | 0x1f;
  return {
    bytes: repeated(Buffer.concat([head, Buffer.alloc(length - head.length)]), frames),
    plays: (frames * 1_024) / 44_100,
  };
}

interface WavHead {
  readonly encoding?: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly bytesPerSecond?: number;
  /** Number of bytes that the header declares. */
  readonly says?: number;
  /** A second format chunk. */
  readonly more?: Buffer;
}

export function wavHead(
  { encoding = 1, rate = 24_000, channels = 1, bits = 16, ...more }: WavHead,
  length: number,
): Buffer {
  const block = (channels * bits) / 8;
  const perSecond = more.bytesPerSecond ?? rate * block;
  return Buffer.concat([
    ...[latin('RIFF'), u32le(36 + length), latin('WAVEfmt '), u32le(16), u16le(encoding), u16le(channels)],
    ...[u32le(rate), u32le(Math.min(perSecond, 0xffff_ffff)), u16le(block), u16le(bits), more.more ?? Buffer.alloc(0)],
    ...[latin('data'), u32le(more.says ?? length)],
  ]);
}

/** Returns a WAV file. `byteRate` is that of the slowest reading of the header. */
export const wav = (seconds: number, head: WavHead = {}, byteRate = 48_000): AudioFile => {
  const samples = Buffer.alloc(seconds * byteRate);
  return { bytes: Buffer.concat([wavHead(head, samples.length), samples]), plays: seconds };
};

export const mp3InWav = (frames: number, head: WavHead): AudioFile => {
  const data = repeated(slow.frame, frames);
  return { bytes: Buffer.concat([wavHead(head, data.length), data]), plays: frames * slow.seconds };
};

/** Returns a file with a second description of its samples, by which they last longer. */
export const wavOfTwoForms = (seconds: number): AudioFile =>
  wav(
    seconds,
    {
      rate: 768_000,
      channels: 8,
      bits: 32,
      more: Buffer.concat([latin('fmt '), wavHead({ rate: 1_000, bits: 8 }, 0).subarray(16, 36)]),
    },
    1_000,
  );

const flacChecksum = (bytes: Buffer): number =>
  bytes.reduce((former, byte) => {
    let sum = former ^ byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum & 0x80 ? 0x107 : 0)) & 0xff;
    return sum;
  }, 0);

/** Returns frames of silence, of this many samples each. `says` is the number of samples that the header declares. */
export function flac(
  frames: number,
  samples: number,
  { rate = 44_100, frameRateCode = 0, says = frames * samples } = {},
): AudioFile {
  const info = Buffer.alloc(34);
  info.set([16, 0, 16, 0]);
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (15n << 36n) | BigInt(says), 10);
  const pieces = Array.from({ length: frames }, (_, index) => {
    const head = Buffer.concat([Buffer.from([0xff, 0xf8, 0x70 | frameRateCode, 8, index & 0x7f]), u16(samples - 1)]);
    return Buffer.concat([head, Buffer.from([flacChecksum(head), 0, 0, 0, 0, 0])]);
  });
  const frameRate = frameRateCode === 4 ? 8_000 : rate;
  return {
    bytes: Buffer.concat([latin('fLaC'), Buffer.from([0x80, 0, 0, 34]), info, ...pieces]),
    plays: (frames * samples) / frameRate,
  };
}

interface Page {
  readonly serial?: number;
  readonly flags?: number;
  readonly position?: number;
  readonly packets: readonly Buffer[];
}

export function oggPage({ serial = 1, flags = 0, position = 0, packets }: Page): Buffer {
  const segments = packets.flatMap(({ length }) => [
    ...new Array<number>(Math.floor(length / 255)).fill(255),
    length % 255,
  ]);
  const head = Buffer.alloc(27);
  head.write('OggS');
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(Math.round(position)), 6);
  head.writeUInt32LE(serial, 14);
  head[26] = segments.length;
  return Buffer.concat([head, Buffer.from(segments), ...packets]);
}

const opusHead = latin('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0');
const opusTags = latin('OpusTags\x02\0\0\0gw\0\0\0\0');
/** Silence of six frames of 20 ms; and an ordinary packet of one frame. */
export const longPacket = Buffer.from([0x0b, 0x86]);
const usualPacket = Buffer.concat([Buffer.from([0x08]), Buffer.alloc(60)]);

interface OggOpus {
  readonly packet?: Buffer;
  readonly packetSeconds?: number;
  readonly serial?: number;
  /** Seconds that its last page declares. */
  readonly says?: number;
}

export function oggOpus(packets: number, options: OggOpus = {}): AudioFile {
  const { packet = usualPacket, packetSeconds = 0.02, serial = 1 } = options;
  const plays = packets * packetSeconds;
  const pages = [
    oggPage({ serial, flags: 2, packets: [opusHead] }),
    oggPage({ serial, packets: [opusTags] }),
    ...Array.from({ length: packets / 50 }, (_, index) =>
      oggPage({
        serial,
        position: ((options.says ?? plays) * 48_000 * (index + 1)) / (packets / 50),
        packets: new Array<Buffer>(50).fill(packet),
      }),
    ),
  ];
  return { bytes: Buffer.concat(pages), plays };
}

/** Returns pages of another stream within a page of the first one, whose checksum makes some decoders skip them. */
export function oggInOgg(packets: number): AudioFile {
  const inner = oggOpus(packets, { packet: longPacket, packetSeconds: 0.12, serial: 2 });
  const parts = [];
  for (let at = 0; at < inner.bytes.length; at += 60_000) parts.push(inner.bytes.subarray(at, at + 60_000));
  const outer = oggOpus(50).bytes;
  return { bytes: Buffer.concat([outer, ...parts.map((part) => oggPage({ packets: [part] }))]), plays: inner.plays };
}

export function oggVorbis(packets: number, says: number): AudioFile {
  const head = Buffer.concat([
    latin('\x01vorbis'),
    Buffer.alloc(5),
    u32le(8_000),
    Buffer.alloc(12),
    Buffer.from([0xdd, 1]),
  ]);
  head[11] = 1;
  const pages = Array.from({ length: packets / 50 }, () =>
    oggPage({ position: says * 8_000, packets: new Array<Buffer>(50).fill(Buffer.from([2, 0])) }),
  );
  return { bytes: Buffer.concat([oggPage({ flags: 2, packets: [head] }), ...pages]), plays: (packets * 4_096) / 8_000 };
}

const atom = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const inner = Buffer.concat(parts);
  return Buffer.concat([u32(8 + inner.length), latin(type), inner]);
};

interface Mp4 {
  /** Ticks a second, and ticks, of its own clock. */
  readonly scale?: number;
  readonly ticks?: number;
  readonly handler?: string;
  readonly format?: string;
  /** Rate that its entry declares; the codec's own header declares 44.1 kHz. */
  readonly rate?: number;
  /** Whether the packets are in fragments in place of a table. */
  readonly isFragmented?: boolean;
  /** Wraps the index. */
  readonly wrap?: (moov: Buffer) => Buffer;
  readonly tracks?: number;
  readonly bytesEach?: number;
}

const full = Buffer.alloc(4);

/** Returns AAC of low complexity, 1,024 samples of 44.1 kHz a packet. */
export function mp4(packets: number, options: Mp4 = {}): AudioFile {
  const {
    scale = 44_100,
    ticks = packets * 1_024,
    handler = 'soun',
    format = 'mp4a',
    rate = 44_100,
    tracks = 1,
  } = options;
  const config = Buffer.from([5, 2, 0x12, 0x10]);
  const decoder = Buffer.concat([Buffer.from([4, 13 + config.length, 0x40, 0x15]), Buffer.alloc(11), config]);
  const esds = atom('esds', full, Buffer.from([3, 3 + decoder.length, 0, 1, 0]), decoder);
  const entry = atom(format, Buffer.alloc(16), u16(2), u16(16), Buffer.alloc(4), u16(rate), u16(0), esds);
  const sizes = options.isFragmented ? [] : [atom('stsz', full, u32(options.bytesEach ?? 170), u32(packets))];
  const trak = (id: number) =>
    atom(
      'trak',
      atom('tkhd', full, Buffer.alloc(8), u32(id), Buffer.alloc(68)),
      atom(
        'mdia',
        atom('mdhd', full, Buffer.alloc(8), u32(scale), u32(ticks), Buffer.alloc(4)),
        atom('hdlr', full, full, latin(handler), Buffer.alloc(13)),
        atom('minf', atom('stbl', atom('stsd', full, u32(1), entry), ...sizes)),
      ),
    );
  const moov = atom(
    'moov',
    atom('mvhd', Buffer.alloc(100)),
    ...Array.from({ length: tracks }, (_, index) => trak(index + 1)),
  );
  const fragment = atom(
    'moof',
    atom('mfhd', full, u32(1)),
    atom('traf', atom('tfhd', full, u32(1)), atom('trun', full, u32(packets))),
  );
  return {
    bytes: Buffer.concat([
      atom('ftyp', latin('M4A \0\0\0\0M4A mp42')),
      options.wrap?.(moov) ?? moov,
      ...(options.isFragmented ? [fragment] : []),
      atom('mdat', Buffer.alloc(packets * (options.bytesEach ?? 170) * tracks)),
    ]),
    plays: (packets * tracks * 1_024) / Math.min(rate, 44_100),
  };
}

export const inFree = (moov: Buffer): Buffer => atom('free', moov);

const element = (id: string, ...parts: readonly Buffer[]): Buffer => {
  const inner = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x10]), u32(inner.length).subarray(1), inner]);
};

interface Webm {
  readonly codec?: string;
  readonly codecHead?: Buffer;
  readonly packet?: Buffer;
  readonly packetSeconds?: number;
  /** Milliseconds that its header declares; a recorder writes none. */
  readonly says?: number;
  /** Whether its elements declare no length, as a recorder writes them. */
  readonly isOpen?: boolean;
  readonly lacing?: number;
  /** Wraps the cluster. */
  readonly wrap?: (cluster: Buffer) => Buffer;
}

export const cutParent = (cluster: Buffer): Buffer =>
  Buffer.concat([Buffer.from('1f43b67584', 'hex'), Buffer.from('ec40ffff', 'hex'), cluster]);

export function webm(packets: number, options: Webm = {}): AudioFile {
  const { codec = 'A_OPUS', packet = usualPacket, packetSeconds = 0.02, says, lacing = 0 } = options;
  const double = Buffer.alloc(8);
  double.writeDoubleBE(says ?? 0);
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(44_100);
  const track = element(
    'ae',
    ...[element('d7', Buffer.from([1])), element('83', Buffer.from([2])), element('86', latin(codec))],
    ...(options.codecHead === undefined ? [] : [element('63a2', options.codecHead)]),
    element('e1', element('b5', rate)),
  );
  const laces = lacing === 0 ? Buffer.alloc(0) : Buffer.from([lacing - 1]);
  const block = element('a3', Buffer.from([0x81, 0, 0, lacing === 0 ? 0x80 : 0x84]), laces, packet);
  const blocks = [element('e7', Buffer.from([0])), repeated(block, packets)];
  const cluster = options.isOpen
    ? Buffer.concat([Buffer.from('1f43b67501ffffffffffffff', 'hex'), ...blocks])
    : element('1f43b675', ...blocks);
  const inner = [
    element('1549a966', element('2ad7b1', u32(1_000_000)), ...(says === undefined ? [] : [element('4489', double)])),
    element('1654ae6b', track),
    options.wrap?.(cluster) ?? cluster,
  ];
  const segment = options.isOpen
    ? Buffer.concat([Buffer.from('1853806701ffffffffffffff', 'hex'), ...inner])
    : element('18538067', ...inner);
  return {
    bytes: Buffer.concat([element('1a45dfa3', element('4282', latin('webm'))), segment]),
    plays: packets * packetSeconds * Math.max(1, lacing),
  };
}

/** Files whose headers declare less than they play, by the kind of fault. */
export const forgeries: Readonly<Record<string, AudioFile>> = {
  'WAV: MP3 by its form, at 24 MB/s by its head': mp3InWav(900, {
    encoding: 0x55,
    rate: 768_000,
    channels: 8,
    bits: 32,
  }),
  'WAV: PCM by its form, MP3 inside': mp3InWav(900, { rate: 768_000, channels: 8, bits: 32 }),
  'WAV: a rate that no recorder has': wav(60, { rate: 100_000_000, bits: 8 }, 1_000),
  'WAV: more bytes a second than its samples have': wav(8, { rate: 8_000, bits: 8, bytesPerSecond: 3_000_000 }, 8_000),
  'WAV: less data than follows': wav(8, { rate: 8_000, bits: 8, says: 800 }, 8_000),
  'WAV: two descriptions': wavOfTwoForms(60),
  'MP3: a rate that changes': mp3OfTwoRates(900),
  'MP3: pieces with bytes between them': mp3InPieces(900),
  'MP3: a count that is too low': mp3Counted(2_400, 40),
  'MP3: frames inside of titles': mp3InTitles(900),
  'FLAC: frames that its head does not count': flac(60, 65_535, { says: 44_100 }),
  'FLAC: frames slower than its head': flac(12, 65_535, { rate: 655_350, frameRateCode: 4, says: 655_350 }),
  'Ogg: packets longer than its positions': oggOpus(600, { packet: longPacket, packetSeconds: 0.12, says: 1 }),
  'Ogg: pages in pages': oggInOgg(600),
  'Ogg: Vorbis of long blocks': oggVorbis(200, 1),
  'Ogg: streams one behind the other': {
    bytes: Buffer.concat([1, 2].map((serial) => oggOpus(1_500, { serial, says: 1 }).bytes)),
    plays: 60,
  },
  'MP4: a short clock': mp4(2_600, { ticks: 44_100, bytesEach: 24 }),
  'MP4: a fast clock': mp4(2_600, { scale: 4_000_000_000, bytesEach: 24 }),
  'MP4: a slow codec below a fast entry': mp4(2_600, { rate: 64_000, ticks: 44_100, bytesEach: 24 }),
  'MP4: fragments': mp4(2_600, { isFragmented: true, ticks: 0, bytesEach: 24 }),
  'MP4: sound that says it is a text': mp4(2_600, { handler: 'text', ticks: 44_100, bytesEach: 24 }),
  'MP4: an index in what is free': mp4(2_600, { wrap: inFree, ticks: 44_100, bytesEach: 24 }),
  'MP4: several tracks': mp4(650, { tracks: 4, ticks: 44_100, bytesEach: 24 }),
  'WebM: a short length': webm(600, { packet: longPacket, packetSeconds: 0.12, says: 1_000 }),
  'WebM: no length': webm(600, { packet: longPacket, packetSeconds: 0.12, isOpen: true }),
  'WebM: AAC in laces': webm(650, {
    codec: 'A_AAC',
    codecHead: Buffer.from([0x12, 0x10]),
    packetSeconds: 1_024 / 44_100,
    lacing: 4,
    says: 1_000,
  }),
};
