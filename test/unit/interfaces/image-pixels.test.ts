import { describe, expect, it } from '#jest';
import { measureImage, pixelsOf, sumOfMedia } from '../../../shared/protocol/interfaces/index.ts';
import { mediaOf } from '../../../shared/protocol/interfaces/messages/message-media.ts';
import { png } from '../../support/png.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const segment = (marker: string, bytes: number) => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes + 2);
  return Buffer.concat([hex(`ff ${marker}`), length, Buffer.alloc(bytes, 0xff)]);
};
const webp = (kind: string, sizes: string) =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(kind), hex(`00000000 ${sizes}`), Buffer.alloc(4)]);
const frame = (width: string, height: string) => hex(`ff c2 0011 08 ${height} ${width} 03 00000000`);
const jpeg = (...parts: Buffer[]) => Buffer.concat([hex('ffd8'), ...parts]);
const dataOf = (url: string) => Buffer.from(url.split(',')[1] ?? '', 'base64');

const images: readonly (readonly [string, Buffer])[] = [
  ['PNG', dataOf(png(640, 480))],
  ['GIF', Buffer.concat([Buffer.from('GIF89a'), hex('8002 e001 000000')])],
  ['WebP', webp('VP8 ', '000000 9d012a 8002 e001')],
  ['lossless WebP', webp('VP8L', '2f 7fc27700 0000000000')],
  ['extended WebP', webp('VP8X', '00000000 7f0200 df0100')],
  ['JPEG', jpeg(segment('e0', 14), segment('e1', 60_000), segment('c4', 30), frame('0280', '01e0'))],
];

describe('the size of an image', () => {
  it.each(images)('is read from the first bytes of a %s, and is unknown where they end too early', (_name, bytes) => {
    expect(pixelsOf(bytes.toString('base64'))).toEqual({ width: 640, height: 480 });
    for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 200)) {
      const pixels = pixelsOf(bytes.subarray(0, length).toString('base64'));
      if (pixels !== undefined) expect(pixels).toEqual({ width: 640, height: 480 });
    }
  });

  it.each([
    ['a PNG of no width', dataOf(png(0, 480))],
    ['a PNG of nothing', dataOf(png(0, 0))],
    ['a JPEG of no height', jpeg(frame('0280', '0000'))],
    ['a WebP of nothing', webp('VP8 ', '000000 9d012a 0000 0000')],
    ['a JPEG of empty segments without end', jpeg(...new Array<Buffer>(40_000).fill(segment('e1', 0)))],
    [
      'a JPEG of more segments than one has',
      jpeg(...new Array<Buffer>(20_000).fill(segment('e1', 0)), frame('0280', '01e0')),
    ],
    ['a JPEG whose segments lead nowhere', jpeg(hex('ffe1 0000 00112233445566778899'))],
    ['another format', Buffer.from('II*\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')],
    ['no bytes', Buffer.alloc(0)],
  ])('is unknown for %s, which counts as the largest', (_name, bytes) => {
    const data = bytes.toString('base64');
    expect(pixelsOf(data)).toBeUndefined();
    const largest = sumOfMedia([measureImage({ url: 'https://images.example/1.png', detail: 'auto' })]).tokens;
    expect(sumOfMedia([measureImage({ url: `data:image/png;base64,${data}`, detail: 'auto' })]).tokens).toBe(largest);
    const source = { type: 'base64', media_type: 'image/png', data };
    expect(mediaOf([{ role: 'user', content: [{ type: 'image', source }] }]).tokens).toBe(4_784);
  });
});
