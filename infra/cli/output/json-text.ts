/**
 * One indented JSON document. Integers beyond 2^53 keep their digits; control characters that JSON leaves alone are
 * escaped, as some terminals obey them.
 */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? exact(member) : member), 2);
  return text.replace(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A number where it is exact, else its digits as text. */
const exact = (value: bigint): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};
