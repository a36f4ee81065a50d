// Makes a small PNG for the answers of image models. The same prompt has the same colours.
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const trueColour = 2;
const bitsPerSample = 8;
const samples = 3;

export function pngOf(prompt: string, widthPx = 64, heightPx = 64): Buffer {
  const colour = createHash('sha256').update(prompt).digest();
  const rows = Array.from({ length: heightPx }, (_, y) => {
    const row = Buffer.alloc(1 + widthPx * samples);
    for (let x = 0; x < widthPx; x += 1) {
      for (let sample = 0; sample < samples; sample += 1) {
        row[1 + x * samples + sample] =
          ((colour[sample] ?? 0) + 2 * x + (colour[sample + samples] ?? 0) * (y / heightPx)) % 256;
      }
    }
    return row;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(heightPx, 4);
  header[8] = bitsPerSample;
  header[9] = trueColour;
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const typedContent = Buffer.concat([Buffer.from(type), content]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(typedContent));
  return Buffer.concat([length, typedContent, check]);
}
