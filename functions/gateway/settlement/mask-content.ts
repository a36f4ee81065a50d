// Masks credentials in the bodies of a call before they are kept. Work grows with the text alone.
import { masked, maskKeys } from '../../../shared/foundation/log/index.ts';

/** Keys of well-known providers begin so. A word without a digit is none. */
const keyShape = /\b(?:(?:sk|pk|rk|gsk|csk|xai|hf|ghp|pplx|nvapi)[-_][\w-]{16,}|AIza[\w-]{20,}|A[KS]IA[A-Z0-9]{12,})/g;
/** `https://user:password@host`, and parameters of a URL that sign it or hold a key. */
const userInUrl = /:\/\/[^/\s@"'\\:]{1,256}:[^/\s@"'\\]{1,256}@/g;
const keyInUrl =
  /([?&](?:[\w-]{0,32}(?:api_?key|token|signature|secret|password)|key|sig|x-goog-credential|x-amz-credential)=)[^\s&"'<>\\#]{1,4096}/gi;

/** Longer than a credential of a known shape. */
const tailMinCharacters = 8_192;

/** For a text that was cut behind its end here: without the last part, in which the beginning of a credential may lie. */
export function maskCutContent(text: string, secrets: ReadonlySet<string>): string {
  const lengths = [...secrets].flatMap(formsOf).map(({ length }) => length);
  const tail = text.slice(-Math.max(tailMinCharacters, ...lengths));
  const maskedText = maskContent(text, secrets);
  const keptCharacters = Math.max(0, maskedText.length - maskContent(tail, secrets).length);
  return maskedText.slice(0, keptCharacters).replace(/[\uD800-\uDBFF]$/, '');
}

const formsOf = (secret: string): string[] => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])];

/** `secrets`: credentials of this call's own provider calls, as they are and as JSON writes them. */
export function maskContent(text: string, secrets: Iterable<string>): string {
  let maskedText = maskKeys(text)
    .replace(keyShape, (key) => (/\d/.test(key) ? masked : key))
    .replace(userInUrl, `://${masked}@`)
    .replace(keyInUrl, `$1${masked}`);
  for (const secret of secrets) {
    for (const spelling of formsOf(secret)) maskedText = maskedText.replaceAll(spelling, masked);
  }
  return maskedText;
}
