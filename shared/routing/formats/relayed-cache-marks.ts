// Decides whether the gateway marks a prompt for the cache of its provider, and marks a relayed prompt.
import { type Candidate, modelNames } from '../../configuration/catalogue/index.ts';
import { bodyDepthMax } from '../../foundation/constants/index.ts';
import {
  type CallSize,
  cachePlaces,
  findMember,
  type JsonText,
  parseJson,
  replaceValues,
  scanJson,
} from '../../protocol/wire/index.ts';
import { estimateInputTokens } from '../billing/index.ts';

/**
 * The fewest tokens of a prompt that Claude caches, by its models: Anthropic's "Prompt caching", as quoted in
 * https://dev.to/creeta/claudes-prompt-cache-fails-silently-below-1024-tokens-1ch1, read on 2026-11-26; no installed
 * package has them. Marks in a shorter prompt are not refused, and do nothing.
 */
const leastTokens: readonly (readonly [RegExp, number])[] = [
  [/claude-(opus|fable|mythos)-5/, 512],
  [/claude-opus-4-7/, 2_048],
  [/claude-(opus-4-[56]|haiku-4-5)/, 4_096],
  [/claude-(haiku-3|3-5-haiku|3-haiku)/, 2_048],
  [/claude-(opus-4-(0|1|8|2025)|sonnet-(4|5)|haiku-5|3-7-sonnet)/, 1_024],
];
/** Value for a Claude that is in no row. A test fails if the installed package has a value for a model. */
const leastTokensOfOthers = 1_024;

/**
 * Returns the fewest tokens; undefined for a model that is not a Claude. `names` are the names of the model at its
 * provider and in the catalogue.
 */
export function leastCachedTokens(
  names: readonly string[],
): { readonly tokens: number; readonly isListed: boolean } | undefined {
  const plain = names.map((name) => name.toLowerCase().replaceAll('.', '-'));
  const row = leastTokens.find(([pattern]) => plain.some((name) => pattern.test(name)));
  if (row !== undefined) return { tokens: row[1], isListed: true };
  return plain.some((name) => name.includes('claude-')) ? { tokens: leastTokensOfOthers, isListed: false } : undefined;
}

/** True if the operator enables it, the provider bills marked parts, and the prompt is long enough. */
export function addsCacheMarks(candidate: Candidate, size: CallSize): boolean {
  const { entry } = candidate;
  if (entry.prompt_cache !== 'auto') return false;
  const least = leastCachedTokens(modelNames(candidate));
  return least !== undefined && estimateInputTokens(candidate, size) >= least.tokens;
}

const mark = '"cache_control":{"type":"ephemeral"}';
/** Matches a mark of the client. Inside a client's string the second quote has a backslash before it. */
const ownMark = /"(?:cache_control|prompt_cache_breakpoint|prompt_cache_options)"\s*:/;

/** True if a client marks parts of its prompt for the cache of its provider. `text` is that of its body. */
export const marksItsCache = (text: string): boolean => ownMark.test(text);

/**
 * Returns the body with marks at its tools, if tools can be marked, at its instructions and at both ends of its last
 * turn, if its client marks nothing.
 */
export function withRelayedMarks(text: string, onTools: boolean): string {
  const scanned = marksItsCache(text) ? undefined : scanJson(text, { depthMax: bodyDepthMax });
  if (scanned?.kind !== 'json') return text;
  const { json } = scanned;
  const list = (name: string) => {
    const value = findMember(json, name);
    return value === undefined || !json.isArray(value) ? [] : [...json.inside(value)];
  };
  const messages = list('messages');
  const roleOf = (message: number): string => textOf(json, findMember(json, 'role', message)).slice(1, -1);
  const { instructions, turn } = cachePlaces(messages.map(roleOf));
  const markedAt = (place: number) => {
    const message = messages[place];
    return message === undefined ? [] : markedContent(json, findMember(json, 'content', message));
  };
  // Instructions among the messages follow the other instructions, so one mark covers both.
  const first = markedAt(instructions);
  const tool = onTools
    ? list('tools').findLast((at) => textOf(json, findMember(json, 'defer_loading', at)) !== 'true')
    : undefined;
  const markedPlaces: (readonly [number, string])[] = [
    ...(first.length > 0 ? first : markedContent(json, findMember(json, 'system'))),
    ...turn.flatMap(markedAt),
    ...(tool === undefined ? [] : [[tool, withMember(json.slice(tool))] as const]),
  ].sort(([a], [b]) => json.start(a) - json.start(b));
  return replaceValues(json, markedPlaces);
}

const textOf = (json: JsonText, value: number | undefined): string => (value === undefined ? '' : json.slice(value));

/** Blocks that accept no mark. */
const unmarkable: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** Returns the marked content; a plain text becomes a block. */
function markedContent(json: JsonText, content: number | undefined): (readonly [number, string])[] {
  if (content === undefined) return [];
  if (json.isString(content)) {
    const written = json.slice(content);
    return /^"\s*"$/.test(written) ? [] : [[content, `[{"type":"text","text":${written},${mark}}]`]];
  }
  const last = json.isArray(content) ? [...json.inside(content)].at(-1) : undefined;
  if (last === undefined || !json.isObject(last)) return [];
  const type = findMember(json, 'type', last);
  const words = findMember(json, 'text', last);
  const isEmpty = words !== undefined && /^"\s*"$/.test(json.slice(words));
  return isEmpty || (type !== undefined && unmarkable.has(parseJson(json.slice(type))))
    ? []
    : [[last, withMember(json.slice(last))]];
}

const withMember = (object: string): string => (/^\{\s*\}$/.test(object) ? object : `${object.slice(0, -1)},${mark}}`);
