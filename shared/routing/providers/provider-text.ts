// Reads a provider's text about its failure, without anything that looks like a credential. The text for the operator's
// log is shortened, and without the client's text. The text for the client is without details of the gateway's
// accounts.
import { maskCharacter, maskSecrets, maskSecretsAcross, redact } from '../../foundation/log/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';
import { innerError } from './error-bodies.ts';

/** The texts, which are undefined if the provider's answer has no text. */
export interface ProviderText {
  readonly forOperator: string | undefined;
  /** Text for a request that was rejected for its own content. */
  readonly forClient: string | undefined;
}

interface TextReading {
  /** Secrets of the call. */
  readonly secrets: readonly string[];
  /** Host of the provider. */
  readonly hostname: string;
  /** Returns the request as its client sent it, because the request's contents are not a secret to the client. */
  readonly requestText: () => string;
}

/** Reads the texts. `body` is the JSON value or the text of the answer. */
export function readProviderText(body: unknown, { secrets, hostname, requestText }: TextReading): ProviderText {
  const known = maskTexts(innerError(body), secrets);
  return {
    forOperator: describe(known, secrets),
    forClient: tellClient(known, secrets, { hostname, requestText }),
  };
}

/**
 * Bound of the part of an error body that is searched, in characters and in fields of an object at each depth, because
 * some providers repeat the whole prompt.
 */
const lookedAtMaxCharacters = 16_000;
const membersMax = 100;
const depthMax = 8;
/** Maximum characters to which patterns are applied. */
const readMaxCharacters = 2_000;
const textMaxCharacters = 300;

/**
 * Matches quotes. A quoted name is a field or a model, but a quoted sentence may be text of the client. An apostrophe
 * opens no quote.
 */
const quotes = /"[^"]*"?|`[^`]*`?|(?<!\w)'[^']*'(?!\w)/g;
const withoutSentences = (text: string): string => text.replace(quotes, (quote) => (/\s/.test(quote) ? '"…"' : quote));
const markup = /<[^>]*>/g;
const codeShape = /^[\w.-]{1,64}$/;

/** Returns the text for an operator. `secrets` are the secrets of the call. */
export const describeProviderText = (body: unknown, secrets: readonly string[]): string | undefined =>
  describe(maskTexts(body, secrets), secrets);

function describe(body: unknown, secrets: readonly string[]): string | undefined {
  const { code, words } = wordsOf(body);
  // The texts of the body, each of which may contain a piece of a secret, are masked before the shown text.
  const start = cut(maskSecrets(code === undefined ? words : `${code}: ${words}`, secrets), readMaxCharacters);
  const text = inOneLine(withoutSentences(redact(start).replace(markup, ' ')));
  if (text === '') return undefined;
  return text.length <= textMaxCharacters ? text : `${text.slice(0, textMaxCharacters - 1)}…`;
}

const inOneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

/** Match ids of accounts. */
const accounts: readonly (readonly [RegExp, string])[] = [
  [/\borg-(?=[A-Za-z-]*\d)[\w-]{4,}|\borg-\w{16,}/g, `org-${maskCharacter}`],
  [/\bproj_\w{4,}/g, `proj_${maskCharacter}`],
  [/\bprojects\/[^\s/"'`,;)]+/g, `projects/${maskCharacter}`],
  [/\b(project(?:[ _](?:number|id))?["']?[ :=]+["']?)\d{6,}/gi, `$1${maskCharacter}`],
  [/\b(arn:[\w-]*:[\w-]*:[\w-]*:)\d{12}\b/g, `$1${maskCharacter}`],
];

function tellClient(
  body: unknown,
  secrets: readonly string[],
  { hostname, requestText }: Pick<TextReading, 'hostname' | 'requestText'>,
): string | undefined {
  const { words } = wordsOf(body);
  const start = cut(maskSecrets(words, secrets), readMaxCharacters);
  const isPage = /^\s*</.test(start);
  const unnamed = [...accounts, [hostPattern(hostname), maskCharacter] as const].reduce(
    (cleanText, [pattern, replacement]) => cleanText.replace(pattern, replacement),
    isPage ? start.replace(markup, ' ') : start,
  );
  const text = redact(unnamed, (run) => requestText().includes(run))
    // Removes characters that control a terminal, or hide text from a reader.
    .replace(/[^\S\n]+|(?!\n)[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return text === '' ? undefined : text;
}

const hostPattern = (hostname: string): RegExp => new RegExp(`${hostname.replace(/[^\w-]/g, '\\$&')}(?::\\d+)?`, 'gi');

/** Cuts a text at a word, because the word at the cut may be half of a key. */
const cut = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : text.slice(0, maxCharacters).replace(/\S*$/, '');

/** Returns the body, shortened, without secrets that its texts contain, separately or together. */
function maskTexts(body: unknown, secrets: readonly string[]): unknown {
  const texts: string[] = [];
  let budget = lookedAtMaxCharacters;
  mapTexts(body, (text) => {
    const start = cut(text, budget);
    budget -= start.length;
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

interface Words {
  readonly code: string | undefined;
  readonly words: string;
}

const nothing: Words = { code: undefined, words: '' };

const isEmpty = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/**
 * Reads the error format of OpenAI, similar formats, or the whole text. Google answers some calls with a list of one
 * error.
 */
function wordsOf(body: unknown): Words {
  if (typeof body === 'string') return { code: undefined, words: body };
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (first === undefined || first === null) return nothing;
  const whole = { code: undefined, words: JSON.stringify(body) };
  if (!isJsonObject(first)) return whole;
  const error = isJsonObject(first.error) ? first.error : first;
  const message = [error.message, first.error, first.message, first.detail].find((text) => typeof text === 'string');
  if (message === undefined) return isEmpty(first) || isEmpty(first.error) ? nothing : whole;
  const code = [error.code, error.type].find((text) => typeof text === 'string' && codeShape.test(text));
  return { code: code as string | undefined, words: message as string };
}
