// Audio files are measured by the time that they play, with bounded work, whatever their heads claim.
import { describe, expect, it, jest } from '#jest';
import { spokenPieces } from '../../../infra/local/simulator/formats/openai-speech.ts';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import { audioSeconds } from '../../../shared/protocol/interfaces/transcriptions/audio-length.ts';
import { walkMp4 } from '../../../shared/protocol/interfaces/transcriptions/mp4-length.ts';
import { hidesFrames } from '../../../shared/protocol/interfaces/transcriptions/mpeg-frames.ts';
import { occurrencesOf } from '../../../shared/protocol/interfaces/transcriptions/walk.ts';
import {
  type AudioFile,
  adts,
  cutParent,
  flac,
  forgeries,
  longPacket,
  mp3,
  mp3Counted,
  mp4,
  oggOpus,
  oggPage,
  wav,
  webm,
} from '../../support/audio-files.ts';

const bytesPerSecond = 1_000;

describe('the length of a file', () => {
  it.each<[string, AudioFile]>([
    ['WAV', wav(3)],
    ['WAV of floats in four channels', wav(3, { encoding: 3, bits: 32, channels: 4 }, 384_000)],
    ['MP3', mp3(200)],
    ['MP3 that counts its frames', mp3Counted(200, 200)],
    ['AAC in ADTS', adts(200)],
    ['FLAC', flac(20, 4_096)],
    ['Ogg with Opus', oggOpus(400)],
    ['M4A with AAC', mp4(200)],
    ['M4A in fragments', mp4(200, { isFragmented: true, ticks: 0 })],
    ['WebM with Opus, as a browser records it', webm(400, { isOpen: true })],
    [
      'WebM with AAC',
      webm(200, { codec: 'A_AAC', codecHead: Buffer.from([0x12, 0x10]), packetSeconds: 1_024 / 44_100 }),
    ],
  ])('%s is what it plays, after titles too', async (_name, { bytes, plays }) => {
    expect(await audioSeconds(bytes)).toBeCloseTo(plays, 1);
    const picture = Buffer.alloc(300_000, 0xd8);
    const tag = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 18, 39, 96]);
    expect(await audioSeconds(Buffer.concat([tag, picture, bytes]))).toBeCloseTo(plays, 1);
  });

  it.each(Object.entries(forgeries))('%s: never counts as shorter than it plays', async (_name, { bytes, plays }) => {
    const seconds = (await audioSeconds(bytes)) ?? bytes.length / bytesPerSecond;
    expect(seconds).toBeGreaterThanOrEqual(plays - 1e-6);
    // The result is a measure of the file and not a guess far above it.
    expect(seconds).toBeLessThan(3 * plays);
  });

  it('is that of its head if this says more', async () => {
    expect(await audioSeconds(mp3Counted(200, 4_000).bytes)).toBeCloseTo((4_000 * 1_152) / 44_100, 1);
    expect(await audioSeconds(flac(20, 4_096, { says: 441_000 }).bytes)).toBeCloseTo(10, 1);
    expect(await audioSeconds(oggOpus(50, { says: 90 }).bytes)).toBeCloseTo(90, 1);
    expect(await audioSeconds(mp4(50, { ticks: 441_000 }).bytes)).toBeCloseTo(10, 1);
    expect(await audioSeconds(webm(50, { says: 70_000 }).bytes)).toBeCloseTo(70, 1);
    expect(await audioSeconds(wav(1, { says: 96_000 }).bytes)).toBeCloseTo(2, 1);
  });

  it('is that of its data if a head was written before its end was known', async () => {
    const [head, ...data] = spokenPieces('one two three', 'wav') as readonly [Buffer, ...Buffer[]];
    const unknown = Buffer.from(head);
    unknown.writeUInt32LE(0xffff_ffff, 40);
    const seconds = Buffer.concat(data).length / 48_000;
    expect(await audioSeconds(Buffer.concat([unknown, ...data]))).toBeCloseTo(seconds, 2);
  });
});

const name = (text: string, length = 64): Buffer => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(length)]);

describe('is not known', () => {
  it.each<[string, Buffer]>([
    ['text', Buffer.from('one two three')],
    ['AIFF', name('FORM\0\0\0\x40AIFFCOMM')],
    ['ASF', name('\x30\x26\xb2\x75\x8e\x66\xcf\x11')],
    ['WavPack', name('wvpk')],
    ['Musepack', name('MPCK')],
    ['Monkey’s Audio', name('MAC ')],
    ['DSF', name('DSD ')],
    ['DSDIFF', name('FRM8')],
    ['WAV without samples', wav(0).bytes],
    ['WAV of no bytes a second', wav(1, { rate: 0 }).bytes],
    ['WAV of another codec', wav(1, { encoding: 0x11 }).bytes],
    ['MP4 of another codec', mp4(10, { format: 'ac-3' }).bytes],
    ['WebM of another codec', webm(10, { codec: 'A_MPEG/L3' }).bytes],
    ['WebM with Opus in laces', webm(10, { lacing: 4, packet: longPacket }).bytes],
    ['WebM whose cluster is longer than what holds it', webm(10, { wrap: cutParent }).bytes],
    [
      'FLAC that is described twice',
      Buffer.concat([flac(1, 192).bytes.fill(0, 4, 5).subarray(0, 42), flac(1, 192).bytes.subarray(4)]),
    ],
    ['an MP3 of one frame', mp3(1).bytes],
  ])('of %s', async (_name, bytes) => {
    expect(await audioSeconds(bytes)).toBeUndefined();
  });
});

/** This is far more than a single turn reads. */
const manyBytes = 1024 * 1024;
const filled = (head: Buffer, piece: Buffer): Buffer => {
  const file = Buffer.alloc(manyBytes);
  file.fill(piece, head.length);
  head.copy(file);
  return file;
};
const ogg = oggOpus(50).bytes;
const oggHead = ogg.subarray(0, 47);
const webmHead = webm(0, { isOpen: true }).bytes;
const mp4Head = name('\0\0\0\x10ftypM4A \0\0\0\0', 0);

describe('a hostile file', () => {
  it.each<[string, Buffer]>([
    ['bytes that each may begin a frame', filled(wav(0).bytes, Buffer.from([0xff]))],
    ['heads of frames', filled(flac(1, 192).bytes, Buffer.from([0xff, 0xf8]))],
    ['empty packets', filled(oggHead, oggPage({ packets: new Array<Buffer>(255).fill(Buffer.alloc(0)) }))],
    ['empty elements', filled(webmHead, Buffer.from('ec80', 'hex'))],
  ])('of %s gives others their turn', async (_name, bytes) => {
    const waits = jest.spyOn(globalThis, 'setImmediate');
    await audioSeconds(bytes);
    const count = waits.mock.calls.length;
    waits.mockRestore();
    expect(count).toBeGreaterThanOrEqual(8);
  });

  it.each<[string, Buffer]>([
    ['streams', filled(oggHead, oggHead)],
    [
      'pages that share their bytes',
      filled(oggHead, oggPage({ packets: new Array<Buffer>(255).fill(Buffer.alloc(0)) }).subarray(0, 27)),
    ],
    ['boxes', filled(mp4Head, name('\0\0\0\x08free', 0))],
    ['boxes in an index', filled(Buffer.concat([mp4Head, name('\0\x0f\xff\xf0moov', 0)]), name('\0\0\0\x08free', 0))],
    ['elements in elements', filled(webmHead, Buffer.from('1853806701ffffffffffffff', 'hex'))],
    ['tracks', filled(webmHead, Buffer.from('1654ae6b8bae88d78101838101e080ec', 'hex'))],
    ['chunks', filled(name('RIFF\xf8\xff\x0f\0WAVE', 0), name('junk\0\0\0\0', 0))],
  ])('of many %s has no length', async (_name, bytes) => {
    expect(await audioSeconds(bytes)).toBeUndefined();
  });
});

describe('a search of a whole file', () => {
  const size = 8 * 1024 * 1024;

  it('gives others a turn after each piece of it, and counts what lies across two of them', () => {
    const count = (steps: Generator<void, unknown>) => {
      let turns = 0;
      for (;;) {
        const { done, value } = steps.next();
        if (done === true) return { turns, value };
        turns += 1;
      }
    };
    const almost = Buffer.alloc(size, 'sts');
    almost.writeUInt32BE(16, 0);
    almost.write('ftyp', 4, 'latin1');
    const pieces = size / inOneTurn.passedBytes;
    expect(count(walkMp4(almost)).turns).toBeGreaterThanOrEqual(5 * pieces);
    expect(count(hidesFrames(Buffer.alloc(size))).turns).toBeGreaterThanOrEqual(4 * pieces);
    const word = Buffer.from('cmov');
    const bytes = Buffer.alloc(size);
    for (let at = 0; at + 4 <= size; at += 1_022) word.copy(bytes, at);
    expect(count(occurrencesOf(word, bytes))).toEqual({ turns: pieces, value: Math.ceil((size - 3) / 1_022) });
    expect(count(occurrencesOf(word, bytes, 2)).value).toBe(2);
  });
});
