// What a provider says of its failure, for the operator's log alone: cut, and without what looks like a credential or
// like text of the client's. Clients never get a word of it.
import { maskSecrets, maskSecretsAcross, redact } from '../../foundation/log/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';

/** Some providers repeat the whole prompt. Of a body so much is looked at: characters, and members of an object at each depth. */
const lookedAtMaxCharacters = 16_000;
const membersMax = 100;
const depthMax = 8;
/** Patterns work on this much at most. */
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
  // First in the texts of the body, which may hold one piece each, then in its words as they are shown.
  const words = maskSecrets(wordsOf(maskTexts(body, secrets)), secrets);
  const start = cut(words, readMaxCharacters);
  const text = redact(start)
    .replace(markup, ' ')
    .replace(quotedSentence, '"…"')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (text === '') return undefined;
  return text.length <= textMaxCharacters ? text : `${text.slice(0, textMaxCharacters - 1)}…`;
}

/** The word at the cut may be half of a key. */
const cut = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : text.slice(0, maxCharacters).replace(/\S*$/, '');

/** The body, cut, without the secrets that its texts hold each or together. */
function maskTexts(body: unknown, secrets: readonly string[]): unknown {
  const texts: string[] = [];
  let left = lookedAtMaxCharacters;
  mapTexts(body, (text) => {
    const start = cut(text, left);
    left -= start.length;
    texts.push(start);
    return start;
  });
  const masked = maskSecretsAcross(texts, secrets).values();
  return mapTexts(body, () => masked.next().value ?? '');
}

function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === depthMax) return undefined;
  const changeInside = (each: unknown) => mapTexts(each, change, depth + 1);
  if (Array.isArray(value)) return value.slice(0, membersMax).map(changeInside);
  const members = Object.entries(value).slice(0, membersMax);
  return Object.fromEntries(members.map(([name, each]) => [name, changeInside(each)]));
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
