// Describes an error for the log. Messages of other libraries' errors quote their input (a JSON text, a header value),
// so quoted text and anything that looks like a token is masked; of causes only names and codes are logged.
import { maskCharacter } from './mask-secrets.ts';

interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  /** Frames of the stack only, because its head repeats the message. */
  readonly stack?: string;
  /** Names or codes of the causes, nearest first. */
  readonly causes?: string;
}

const messageMaxCharacters = 300;
const stackMaxFrames = 20;
/** Maximum number of causes. Chains are two or three long, and a cycle of causes must end too. */
const causesMax = 5;

const quotedText = /"[^"]*"?/g;

export function describeError(error: unknown): ErrorDescription {
  if (!isErrorLike(error)) return { name: typeof error, message: 'a value that is not an error was thrown' };
  const code = codeOf(error);
  const stack = framesOf(error);
  const causes = causesOf(error);
  return {
    name: nameOf(error),
    ...(code === undefined ? {} : { code }),
    message: cleanMessage(error),
    ...(stack === '' ? {} : { stack }),
    ...(causes === '' ? {} : { causes }),
  };
}

/** True for errors of other realms too, for which `instanceof` is false. */
const isErrorLike = (error: unknown): error is { message: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error;

const member = (error: object, name: string): unknown => (error as Record<string, unknown>)[name];

const nameOf = (error: object): string => {
  const name = member(error, 'name');
  return typeof name === 'string' ? name : 'Error';
};

const codeOf = (error: object): string | undefined => {
  const code = member(error, 'code');
  return typeof code === 'string' ? code : undefined;
};

function cleanMessage(error: object): string {
  const message = member(error, 'message');
  if (typeof message !== 'string') return '';
  // The message is cut first, so that the patterns do not process megabytes.
  return redact(message.slice(0, messageMaxCharacters).replaceAll(quotedText, '"…"'));
}

function framesOf(error: object): string {
  const stack = member(error, 'stack');
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, stackMaxFrames)
    .map((frame) => frame.trim())
    .join(' | ');
}

function causesOf(error: object): string {
  const names: string[] = [];
  let cause = member(error, 'cause');
  while (isErrorLike(cause) && names.length < causesMax) {
    const code = codeOf(cause);
    names.push(code === undefined ? nameOf(cause) : `${nameOf(cause)} ${code}`);
    cause = member(cause, 'cause');
  }
  return names.join(' < ');
}

// Masks everything in a foreign text that looks like a credential.

/** Rules in the sequence of their application. Each rule sees the text that the rules before it have changed. */
const rules: readonly (readonly [RegExp, string])[] = [
  // `https://user:password@host`, and the values of query parameters: some providers take their key there.
  [/\/\/[^/\s@]+@/g, `//${maskCharacter}@`],
  [/([?&][\w.-]+=)[^\s&"'<>]+/g, `$1${maskCharacter}`],
  [/\b(?:bearer|basic)\s+\S+/gi, maskCharacter],
  // Prefixes of well-known keys, also of keys that a provider has masked in part.
  [/\b(?:sk|pk|rk|gsk|csk|xai|hf|ghp|pplx|nvapi)[-_][^\s"',;)]{4,}|\bAIza[\w-]{8,}|\bAKIA\w{8,}/g, maskCharacter],
  // A value whose name says that it is a secret. A count of tokens is not a secret, and neither is a sentence about too
  // many tokens.
  [
    /(?<!too many )\b((?:api[-_ ]?key|token|secret|password|authorization|credential)s?["']?(?:\s+(?:provided|is|was))?\s*[:=]\s*["']?)(?!\d+\b)[^\s"',;]+/gi,
    `$1${maskCharacter}`,
  ],
];

/**
 * Matches runs of 20 or more characters with a digit, and longer runs without: keys, hashes, signatures, but also ids
 * and names of models.
 */
const runs = /(?=[\w+=-]*\d)[\w+=-]{20,}|[A-Za-z0-9+/=]{32,}/g;

/** Matches ids that an interface assigns to items of a conversation. */
const conversationIds = /^(?:toolu|srvtoolu|tooluse|call|fc|msg|rs|resp|chatcmpl|req|file|item|ws|thread)[_-]\w/;

/**
 * Matches a part of a key, which mixes letters and digits, or is a long number. Parts of a model's name are words,
 * short sizes and dates.
 */
const keyPieces = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{8,}$|^\d{16,}$/;
const wordPieces = /^[a-z]{0,20}\d{0,3}$/;

function isName(run: string): boolean {
  if (conversationIds.test(run)) return true;
  const pieces = run.split(/[-_+=/]/);
  return /[-_]/.test(run)
    ? !pieces.some((piece) => keyPieces.test(piece))
    : pieces.every((piece) => wordPieces.test(piece));
}

const keyLike = /\bsk-[\w-]{16,}/g;

/** Masks API keys alone, for names and ids of clients, some of which contain their key. */
export const maskKeys = (text: string): string => text.replaceAll(keyLike, `sk-${maskCharacter}`);

/**
 * Masks everything that looks like a credential. The time grows with the square of the text's length, so callers cut it
 * first. `isKnown` is true for a run of characters that the reader of the text knows already.
 */
export function redact(text: string, isKnown: (run: string) => boolean = () => false): string {
  const maskedText = rules.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
  return maskedText.replace(runs, (run) => (isName(run) || isKnown(run) ? run : maskCharacter));
}
