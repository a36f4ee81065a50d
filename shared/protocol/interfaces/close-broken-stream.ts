/**
 * What closes a stream that was broken off anywhere. `tail`: the last characters that were written; `end`: the text with
 * which it had ended, empty where it had not; `broken`: how it ends otherwise. Nothing where the end was already written: SDKs
 * would not see what follows it. They take a stream that just stops for a success.
 */
export function closeBrokenStream(tail: string, end: string, broken: string): string {
  if (end !== '' && tail !== '' && (tail.endsWith(end) || end.endsWith(tail))) return '';
  // A line cut in the middle must not swallow the error line.
  const gap = tail === '' || tail.endsWith('\n\n') ? '' : '\n\n';
  return gap + broken;
}
