// The length of an audio file, read from its bytes. Loaded with the first file.
import { parseBuffer } from 'music-metadata';

/** Longer than this no file of 25 MiB is, whatever its head says. */
const secondsMax = 24 * 60 * 60;

/** Undefined where its format is unknown, or does not say it. Of the file only what describes it is read. */
export async function audioSeconds(bytes: Uint8Array, mediaType: string | undefined): Promise<number | undefined> {
  try {
    const known = { size: bytes.byteLength, ...(mediaType === undefined ? {} : { mimeType: mediaType }) };
    const { format } = await parseBuffer(bytes, known, { duration: false, skipCovers: true });
    const seconds = format.duration;
    return seconds !== undefined && seconds > 0 && seconds < secondsMax ? seconds : undefined;
  } catch {
    return undefined;
  }
}
