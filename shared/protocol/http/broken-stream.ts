// The end of an event stream that broke off in our hands: a nested error line, then the end marker (spec 6). SDKs read
// a stream that just stops as a success, and an error behind [DONE] not at all.
import { errorCatalogue } from '../../errors/index.ts';

const endMarker = 'data: [DONE]\n\n';
const brokeOff = 'The stream broke off before its end.';
/** How much of what was written decides the ending. */
export const tailCharacters = endMarker.length;

/** The two of the mid-stream codes (contract 4) that an adapter can know of. */
export type BrokenStreamCode = 'no_available_provider' | 'request_deadline_exceeded';

/** What is missing behind `tail`, the last characters written. Nothing, when the end marker was among them. */
export function brokenStreamEnding(tail: string, code: BrokenStreamCode): string {
  if (tail.endsWith(endMarker)) return '';
  // A line cut in the middle must not swallow ours.
  const gap = tail === '' || tail.endsWith('\n\n') ? '' : '\n\n';
  const message = code === 'no_available_provider' ? brokeOff : errorCatalogue[code].message;
  const error = { error: { code, message } };
  return `${gap}data: ${JSON.stringify(error)}\n\n${endMarker}`;
}
