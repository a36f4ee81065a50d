// Files of audio are measured with bounded work, whatever they say of themselves.
import { describe, expect, it } from '#jest';
import { spokenPieces } from '../../../infra/local/simulator/formats/openai-speech.ts';
import { audioSeconds } from '../../../shared/protocol/interfaces/transcriptions/audio-length.ts';

/** Counts the pieces that are taken of a file. */
function counted(bytes: Buffer) {
  const count = { reads: 0 };
  bytes.subarray = (start, end) => {
    count.reads += 1;
    return Buffer.from(bytes.buffer, bytes.byteOffset + (start ?? 0), (end ?? bytes.length) - (start ?? 0));
  };
  return { bytes, count };
}

const fileBytes = 1024 * 1024;

/** A head, and empty pieces of eight bytes without an end. */
function ofEmptyPieces(head: Buffer, piece: Buffer): Buffer {
  const file = Buffer.alloc(fileBytes);
  file.fill(piece, head.length);
  head.copy(file);
  return file;
}

const hostile: readonly (readonly [string, Buffer, string])[] = [
  ['bytes that each may begin a frame', Buffer.alloc(fileBytes, 0xff), 'audio/mpeg'],
  [
    'empty atoms',
    ofEmptyPieces(Buffer.from('\0\0\0\x10ftypM4A \0\0\0\0', 'latin1'), Buffer.from('\0\0\0\x08free', 'latin1')),
    'audio/mp4',
  ],
  [
    'empty chunks',
    ofEmptyPieces(Buffer.from('RIFF\xf8\xff\x0f\0WAVE', 'latin1'), Buffer.from('junk\0\0\0\0', 'latin1')),
    'audio/wav',
  ],
];

/** Of 128 kbit/s: 1,152 samples of 44.1 kHz in 417 bytes. */
const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), Buffer.alloc(413)]);
const thousandFrames = Buffer.concat(new Array(1_000).fill(frame));

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const atom = (type: string, ...parts: Buffer[]) => {
  const inner = Buffer.concat(parts);
  return Buffer.concat([u32(8 + inner.length), Buffer.from(type, 'latin1'), inner]);
};

/** 24,000 samples a second of 16 bits. */
function wav(seconds: number, bytes: number): Buffer {
  const head = Buffer.from(spokenPieces('one', 'wav')[0] as Buffer);
  head.writeUInt32LE(48_000 * seconds, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

/** The same of 32 bits, floating, which counts its samples before them. */
function floatWav(seconds: number, bytes: number): Buffer {
  const file = wav(2 * seconds, bytes);
  file.writeUInt16LE(3, 20);
  file.writeUInt32LE(96_000, 28);
  file.writeUInt16LE(4, 32);
  file.writeUInt16LE(32, 34);
  const count = Buffer.from('fact\x04\0\0\0\0\0\0\0', 'latin1');
  count.writeUInt32LE(24_000 * seconds, 8);
  return Buffer.concat([file.subarray(0, 36), count, file.subarray(36)]);
}

/** A first frame that counts frames and bytes. */
function mp3(seconds: number, bytes: number): Buffer {
  const first = Buffer.concat([frame]);
  first.write('Xing', 36);
  first.writeUInt32BE(3, 40);
  first.writeUInt32BE(Math.round((seconds * 44_100) / 1_152), 44);
  first.writeUInt32BE(bytes, 48);
  return Buffer.concat([first, ...new Array(Math.ceil(bytes / frame.length)).fill(frame)]);
}

interface Beside {
  readonly hasPictures?: boolean;
  readonly coverBytes?: number;
}

const coverOf = (bytes: number) =>
  atom(
    'udta',
    atom('meta', Buffer.alloc(4), atom('ilst', atom('covr', atom('data', u32(13), u32(0), Buffer.alloc(bytes))))),
  );

/** A track of this codec, and one of pictures. */
function mp4(codec: string, { hasPictures, coverBytes }: Beside, seconds: number, bytes: number): Buffer {
  const times = (scale: number) => [Buffer.alloc(12), u32(scale), u32(seconds * scale)];
  const trackOf = (name: string, handler: string) => {
    const entry = Buffer.concat([u32(36), Buffer.from(name), Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), Buffer.alloc(20)]);
    entry.set([0, 2, 0, 16, 0, 0, 0, 0, 0xac, 0x44], 24);
    const samples = atom('stbl', atom('stsd', Buffer.alloc(4), u32(1), entry));
    const handled = atom('hdlr', Buffer.alloc(8), Buffer.from(handler), Buffer.alloc(13));
    const media = atom('mdia', atom('mdhd', ...times(44_100), Buffer.alloc(4)), handled, atom('minf', samples));
    return atom('trak', atom('tkhd', Buffer.alloc(12), Buffer.from(handler), Buffer.alloc(68)), media);
  };
  return Buffer.concat([
    atom('ftyp', Buffer.from('M4A \0\0\0\0M4A mp42', 'latin1')),
    atom(
      'moov',
      atom('mvhd', ...times(1_000), Buffer.alloc(80)),
      trackOf(codec, 'soun'),
      ...(hasPictures ? [trackOf('avc1', 'vide')] : []),
      ...(coverBytes === undefined ? [] : [coverOf(coverBytes)]),
    ),
    atom('mdat', Buffer.alloc(bytes)),
  ]);
}

/** 48,000 samples a second of one channel and 32 bits. */
function webm(codec: string, seconds: number, bytes: number): Buffer {
  const element = (id: string, ...parts: Buffer[]) => {
    const inner = Buffer.concat(parts);
    return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x10]), u32(inner.length).subarray(1), inner]);
  };
  const double = (value: number) => {
    const inner = Buffer.alloc(8);
    inner.writeDoubleBE(value);
    return inner;
  };
  const audio = [element('b5', double(48_000)), element('9f', Buffer.from([1])), element('6264', Buffer.from([32]))];
  const track = [element('d7', Buffer.from([1])), element('83', Buffer.from([2])), element('86', Buffer.from(codec))];
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    element(
      '18538067',
      element('1549a966', element('2ad7b1', u32(1_000_000)), element('4489', double(seconds * 1_000))),
      element('1654ae6b', element('ae', ...track, element('e1', ...audio))),
      element('1f43b675', element('e7', Buffer.from([0])), Buffer.alloc(bytes)),
    ),
  ]);
}

/** 44,100 samples a second of two channels and 16 bits. */
function flac(seconds: number, bytes: number): Buffer {
  const stream = Buffer.alloc(34);
  stream.set([16, 0, 16, 0]);
  const samples = BigInt(Math.round(seconds * 44_100));
  stream.writeBigUInt64BE((44_100n << 44n) | (1n << 41n) | (15n << 36n) | samples, 10);
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, 34]), stream, Buffer.alloc(bytes)]);
}

/** Opus, in pages that count samples. */
function ogg(seconds: number, bytes: number): Buffer {
  const page = (flags: number, samples: number, data: Buffer) => {
    const segments = [...new Array(Math.floor(data.length / 255)).fill(255), data.length % 255];
    const head = Buffer.alloc(27);
    head.write('OggS');
    head[5] = flags;
    head.writeBigUInt64LE(BigInt(Math.round(samples)), 6);
    head[26] = segments.length;
    return Buffer.concat([head, Buffer.from(segments), data]);
  };
  const pieces = Math.ceil(bytes / 60_000);
  const audio = Array.from({ length: pieces }, (_, at) =>
    page(at === pieces - 1 ? 4 : 0, (seconds * 48_000 * (at + 1)) / pieces, Buffer.alloc(bytes / pieces)),
  );
  const head = Buffer.from('OpusHead\x01\x02\0\0\x80\xbb\0\0\0\0\0', 'latin1');
  return Buffer.concat([page(2, 0, head), page(0, 0, Buffer.from('OpusTags\x02\0\0\0gw\0\0\0\0', 'latin1')), ...audio]);
}

describe('the length of a file of audio', () => {
  /** Bytes that ten seconds can have at most, and 64 KiB beside them. */
  const beside = 64 * 1024 - 1_024;
  it.each<[string, (seconds: number, bytes: number) => Buffer, string, number]>([
    ['WAV', wav, 'audio/wav', 480_000],
    ['WAV of floats', floatWav, 'audio/wav', 960_000],
    ['WebM with Opus', (...sizes) => webm('A_OPUS', ...sizes), 'audio/webm', 800_000],
    ['WebM with PCM', (...sizes) => webm('A_PCM/FLOAT/IEEE', ...sizes), 'audio/webm', 1_920_000],
    ['Matroska with FLAC', (...sizes) => webm('A_FLAC', ...sizes), 'audio/webm', 1_920_000],
    ['MP3', mp3, 'audio/mpeg', 800_000],
    ['M4A with AAC', (...sizes) => mp4('mp4a', {}, ...sizes), 'audio/mp4', 800_000],
    ['M4A with ALAC', (...sizes) => mp4('alac', {}, ...sizes), 'audio/mp4', 1_764_000],
    ['FLAC', flac, 'audio/flac', 1_764_000],
    ['Ogg', ogg, 'audio/ogg', 780_000],
    ['MP4 with video', (...sizes) => mp4('mp4a', { hasPictures: true }, ...sizes), 'video/mp4', 25_000_000],
  ])('that %s says is taken where so many bytes can be as short, else there is none', async (_name, of, type, most) => {
    expect(await audioSeconds(of(10, most), type)).toBeCloseTo(10, 1);
    expect(await audioSeconds(of(10, most + beside - 8 * 1_024), type)).toBeCloseTo(10, 1);
    const cheap = of(10, most + 2 * 64 * 1024);
    expect(await audioSeconds(cheap, type)).toBeUndefined();
    expect(await audioSeconds(of(1, most), type)).toBeUndefined();
  });

  it('is read beside a cover of a megabyte', async () => {
    const bytes = 3 * 1024 * 1024;
    expect(await audioSeconds(mp4('mp4a', { coverBytes: 1024 * 1024 }, 60, bytes), 'audio/mp4')).toBeCloseTo(60, 1);
  });

  it.each(hostile)('is given up after a bounded number of reads: %s', async (_what, file, type) => {
    const { bytes, count } = counted(file);
    expect(await audioSeconds(bytes, type)).toBeUndefined();
    expect(count.reads).toBeLessThan(10_000);
  });

  it('is that of its frames, with titles and pictures of any length before them', async () => {
    const seconds = (1_000 * 1_152) / 44_100;
    expect(await audioSeconds(thousandFrames, 'audio/mpeg')).toBeCloseTo(seconds, 0);
    const picture = Buffer.alloc(300_000, 0xff);
    const tag = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 18, 39, 96]);
    expect(await audioSeconds(Buffer.concat([tag, picture, thousandFrames]), 'audio/mpeg')).toBeCloseTo(seconds, 0);
  });
});
