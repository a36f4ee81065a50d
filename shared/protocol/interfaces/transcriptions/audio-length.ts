// The length of an audio file, read from its bytes. Loaded with the first file.
import { type IFormat, parseBuffer } from 'music-metadata';

/** Longer than this no file of 25 MiB is, whatever its head says. */
const secondsMax = 24 * 60 * 60;
/** No usual codec takes more for sound: MP3 320 kbit/s, Opus 510, AAC 576 for two channels, AC-3 640. */
const lossyMaxBitsPerSecond = 640_000;
/** Sound whose every sample is kept, whether the package says so or not. */
const losslessCodec = /^(PCM|non-PCM|IEEE_FLOAT|FLAC)/;
/** Of pictures and sound: phones write 17 Mbit/s at 1080p and 60 pictures a second. */
const videoMaxBitsPerSecond = 20_000_000;
/** Titles and small pictures beside them. */
const besideMaxBytes = 64 * 1024;
/** Bounds of what is read of a file, which together takes some milliseconds: the parser never gives others a turn. */
const readsMax = 8 * 1024;
const readsMaxBytes = 2 * 1024 * 1024;

/**
 * Undefined where its format is unknown, or says none that a file of so many bytes can have: a wrong length would be
 * cheap. Of the file only what describes it is read.
 */
export async function audioSeconds(bytes: Uint8Array, mediaType: string | undefined): Promise<number | undefined> {
  try {
    const audio = withoutTag(bytes);
    const known = { size: audio.byteLength, ...(mediaType === undefined ? {} : { mimeType: mediaType }) };
    const { format } = await parseBuffer(boundedReads(audio), known, { duration: false, skipCovers: true });
    const seconds = format.duration;
    const isPossible = seconds !== undefined && seconds < secondsMax && fits(audio.byteLength, seconds, format);
    return isPossible ? seconds : undefined;
  } catch {
    return undefined;
  }
}

const bitsPerByte = 8;

/** Whether the format can need so many bytes for so many seconds. */
const fits = (bytes: number, seconds: number, format: IFormat): boolean =>
  (bytes - besideMaxBytes) * bitsPerByte <= seconds * maxBitsPerSecond(format) && seconds > 0;

function maxBitsPerSecond({ hasVideo, lossless, codec = '', ...format }: IFormat): number {
  if (hasVideo === true) return videoMaxBitsPerSecond;
  if (lossless !== true && !losslessCodec.test(codec)) return lossyMaxBitsPerSecond;
  const { sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 } = format;
  return sampleRate * numberOfChannels * bitsPerSample;
}

const tagHeadBytes = 10;

/** Titles and pictures before a file say nothing of its length (ID3v2, whose length has seven bits a byte). */
function withoutTag(bytes: Uint8Array): Uint8Array {
  if (bytes.length < tagHeadBytes || Buffer.from(bytes.subarray(0, 3)).toString('latin1') !== 'ID3') return bytes;
  const length = bytes.subarray(6, tagHeadBytes).reduce((sum, byte) => sum * 0x80 + (byte & 0x7f), 0);
  return bytes.subarray(tagHeadBytes + length);
}

/** The same bytes, of which the parser takes each piece by `subarray`: too many of them, and it fails. */
function boundedReads(bytes: Uint8Array): Uint8Array {
  let reads = 0;
  let bytesRead = 0;
  const view = bytes.subarray();
  view.subarray = (start, end) => {
    const piece = bytes.subarray(start, end);
    reads += 1;
    bytesRead += piece.length;
    if (reads > readsMax || bytesRead > readsMaxBytes) throw new RangeError('the description of the file is too long');
    return piece;
  };
  return view;
}
