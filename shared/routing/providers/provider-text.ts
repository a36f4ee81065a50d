// What a provider says of its failure, for the operator's log alone: cut, and without what looks like a credential or
// like text of the client's. Clients never get a word of it.
import { maskSecrets, redact } from '../../foundation/log/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';

/** Some providers repeat the whole prompt. Patterns work on this much at most. */
const readMaxCharacters = 2_000;
const textMaxCharacters = 300;

/** A quoted name is a member or a model; a quoted sentence may be the client's. An apostrophe opens no quote. */
const quotedSentence = /"[^"]*\s[^"]*"?|`[^`]*\s[^`]*`?|(?<!\w)'[^']*\s[^']*'(?!\w)/g;
const markup = /<[^>]*>/g;
const codeShape = /^[\w.-]{1,64}$/;

/**
 * `body`: the JSON value or the text of the answer. `secrets`: what the provider was called with. Undefined: it says
 * nothing.
 */
export function describeProviderText(body: unknown, secrets: readonly string[]): string | undefined {
  // Before anything is cut: half of a secret would not be found.
  const whole = maskSecrets(wordsOf(body), secrets);
  // The word at the cut may be half of a key.
  const start = whole.length <= readMaxCharacters ? whole : whole.slice(0, readMaxCharacters).replace(/\S*$/, '');
  const text = redact(start)
    .replace(markup, ' ')
    .replace(quotedSentence, '"…"')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (text === '') return undefined;
  return text.length <= textMaxCharacters ? text : `${text.slice(0, textMaxCharacters - 1)}…`;
}

/** OpenAI's form, those that look like it, or the whole text. */
function wordsOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (!isJsonObject(body)) return body === undefined ? '' : JSON.stringify(body);
  const error = isJsonObject(body.error) ? body.error : body;
  const message = [error.message, body.error, body.message, body.detail].find((text) => typeof text === 'string');
  if (message === undefined) return JSON.stringify(body);
  const code = [error.code, error.type].find((text) => typeof text === 'string' && codeShape.test(text));
  return code === undefined ? String(message) : `${code}: ${message}`;
}
