// How long a file of audio plays, found by a walk over its frames, packets or PCM data. What the file says of itself counts
// only where it says more. Loaded with the first file.
import { nextTurn } from '../../../foundation/time/index.ts';
import { walkFlac } from './flac-length.ts';
import { walkMp4 } from './mp4-length.ts';
import { hidesFrames, walkFrames } from './mpeg-frames.ts';
import { walkOgg } from './ogg-length.ts';
import type { Walk } from './walk.ts';
import { walkWav } from './wav-length.ts';
import { walkWebm } from './webm-length.ts';

/** A head that says more is wrong: no file of 25 MiB is longer, unless its packets are. */
const headMaxSeconds = 24 * 60 * 60;

/**
 * Undefined where its frames cannot be walked. The format is decided by the bytes, as decoders do: a name or a type of the
 * client's says nothing.
 */
export async function audioSeconds(file: Uint8Array): Promise<number | undefined> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const begin = tagsEnd(bytes);
  try {
    if (await inTurns(hidesFrames(bytes.subarray(0, begin)))) return undefined;
    const played = await inTurns(walkOf(bytes.subarray(begin)));
    if (played === undefined || !Number.isFinite(played.walked)) return undefined;
    const { walked, head = 0 } = played;
    const seconds = head < headMaxSeconds ? Math.max(walked, head) : walked;
    return seconds > 0 ? seconds : undefined;
  } catch {
    // It ends in the middle of a head.
    return undefined;
  }
}

function walkOf(bytes: Buffer): Walk {
  const magic = bytes.toString('latin1', 0, 12);
  if (/^(RIFF|RF64).{4}WAVE/s.test(magic)) return walkWav(bytes);
  if (magic.startsWith('fLaC')) return walkFlac(bytes);
  if (magic.startsWith('OggS')) return walkOgg(bytes);
  if (magic.startsWith('\x1a\x45\xdf\xa3')) return walkWebm(bytes);
  return magic.startsWith('ftyp', 4) ? walkMp4(bytes) : walkFrames(bytes);
}

async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

const tagHeadBytes = 10;
const footerFlag = 0x10;

/** The end of the titles and pictures before a file (ID3v2, whose length has seven bits a byte). */
function tagsEnd(bytes: Buffer): number {
  let end = 0;
  while (bytes.toString('latin1', end, end + 3) === 'ID3' && end + tagHeadBytes <= bytes.length) {
    const sizes = bytes.subarray(end + 6, end + tagHeadBytes);
    if (sizes.some((byte) => byte > 0x7f)) return end;
    const length = sizes.reduce((sum, byte) => sum * 0x80 + byte, 0);
    const hasFooter = ((bytes[end + 5] ?? 0) & footerFlag) !== 0;
    end += tagHeadBytes + length + (hasFooter ? tagHeadBytes : 0);
  }
  return Math.min(end, bytes.length);
}
