// Formats values as text for people and for programs. Characters that control a terminal are escaped: control
// characters and marks of text direction.
import { escapeControls } from '../../../shared/foundation/log/index.ts';

/**
 * Returns one indented JSON document. Integers beyond 2^53 become text, so that no digit is lost; control characters
 * that JSON allows are escaped, because some terminals obey them.
 */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? exact(member) : member), 2);
  return escapeControls(text);
}

const exact = (value: bigint): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

const lineMaxCharacters = 400;

/** Returns the first line of a message. */
export const oneLine = (text: string): string =>
  (text.split('\n', 1)[0] ?? '').replace(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, lineMaxCharacters);

/** Returns a text, in which every control character except line feeds and tabs is replaced. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, '·');

/** Formats a length of time in its two largest units: 3d 4h, 2m 5s, 12s. */
export function formatAge(durationMs: number): string {
  let seconds = Math.max(0, Math.round(durationMs / 1000));
  const parts: string[] = [];
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Returns a horizontal bar, of `width` characters for the share 1. A share above 0 shows at least an eighth of a
 * character.
 */
export function bar(share: number, width: number): string {
  if (!(share > 0)) return '';
  const parts = Math.max(1, Math.round(Math.min(1, share) * width * 8));
  return '█'.repeat(Math.floor(parts / 8)) + eighths[parts % 8];
}
