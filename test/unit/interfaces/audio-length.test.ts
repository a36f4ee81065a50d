// Files of audio are measured with bounded work, whatever they say of themselves.
import { describe, expect, it } from '#jest';
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

describe('the length of a file of audio', () => {
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
