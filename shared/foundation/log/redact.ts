// Masks what looks like a credential in a text that others wrote, for the operator's log.
import { masked } from './mask-secrets.ts';

/** In this order: a rule may see what the ones before it have left. */
const rules: readonly (readonly [RegExp, string])[] = [
  // https://user:password@host, and the values of query parameters: some providers take their key there.
  [/\/\/[^/\s@]+@/g, `//${masked}@`],
  [/([?&][\w.-]+=)[^\s&"'<>]+/g, `$1${masked}`],
  [/\b(?:bearer|basic)\s+\S+/gi, masked],
  // Prefixes of well-known keys, also of those that a provider has masked in part.
  [/\b(?:sk|pk|rk|gsk|csk|xai|hf|ghp|pplx|nvapi)[-_][^\s"',;)]{4,}|\bAIza[\w-]{8,}|\bAKIA\w{8,}/g, masked],
  // A value that is said to be one. A count of tokens is none.
  [
    /\b((?:api[-_ ]?key|token|secret|password|authorization|credential)s?["']?(?:\s+(?:provided|is|was))?\s*[:=]\s*["']?)(?!\d+\b)[^\s"',;]+/gi,
    `$1${masked}`,
  ],
  // Runs of 20 or more that hold a digit, and longer ones without: keys, hashes, signatures.
  [/(?=[\w+=-]*\d)[\w+=-]{20,}|[A-Za-z0-9+/=]{32,}/g, masked],
];

const keyLike = /\bsk-[\w-]{16,}/g;

/** API keys alone: for names and ids of clients, some of which put their key there. */
export const maskKeys = (text: string): string => text.replaceAll(keyLike, `sk-${masked}`);

/** Takes time that grows with the square of the text: it is cut before. */
export const redact = (text: string): string =>
  rules.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text);
