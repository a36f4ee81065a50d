// Converts a mark up to which a provider caches a prompt, between the fields of clients and of packages.
import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../wire/index.ts';
import type { OptionalMember } from './hub-call.ts';

export interface Marked {
  readonly providerOptions?: SharedV4ProviderOptions;
}

/**
 * Reads `cache_control` (Anthropic) or `prompt_cache_breakpoint` (OpenAI) of a part, of a tool, or of a message, and
 * returns the fields of the packages.
 */
export function cacheMark(marked: JsonObject): Marked {
  const { cache_control: control, prompt_cache_breakpoint: breakpoint } = marked;
  if (isControl(control)) return { providerOptions: markOf(control.ttl) };
  return isJsonObject(breakpoint) ? { providerOptions: markOf(ttlOfAnthropic(breakpoint.ttl)) } : {};
}

export const isControl = (control: unknown): control is JsonObject =>
  isJsonObject(control) && control.type === 'ephemeral';

/** The longer of the two lifetimes that each vendor has. */
export const longTtl = '1h';
const longTtlOfOpenAi = '12h';
export const ttlOfAnthropic = (ttl: unknown): string | undefined => (ttl === longTtlOfOpenAi ? longTtl : undefined);

export function markOf(lifetime?: unknown): SharedV4ProviderOptions {
  const ttl = typeof lifetime === 'string' ? { ttl: lifetime } : {};
  return {
    anthropic: { cacheControl: { type: 'ephemeral', ...ttl } },
    amazonBedrock: { cachePoint: { type: 'default', ...ttl } },
    openai: { promptCacheBreakpoint: { mode: 'explicit', ...(lifetime === longTtl ? { ttl: longTtlOfOpenAi } : {}) } },
  };
}

export const isMarked = ({ providerOptions }: Marked): boolean =>
  providerOptions?.anthropic?.cacheControl !== undefined;

export function hasTtl({ providerOptions }: Marked): boolean {
  const control = providerOptions?.anthropic?.cacheControl;
  return isJsonObject(control) && control.ttl !== undefined;
}

/** Adds the mark to the part, which keeps its other options. */
export function withMark<Part extends Marked>(part: Part, mark: SharedV4ProviderOptions): Part {
  const before = part.providerOptions ?? {};
  const merged = Object.entries(mark).map(([name, options]) => [name, { ...before[name], ...options }] as const);
  return { ...part, providerOptions: { ...before, ...Object.fromEntries(merged) } };
}

/** Returns the part with the mark of its source. */
export function markedAs<Part extends Marked>(part: Part, source: JsonObject): Part {
  const { providerOptions: mark } = cacheMark(source);
  return mark === undefined ? part : withMark(part, mark);
}

export function withoutMark<Part extends Marked>(part: Part): Part {
  const { anthropic: _anthropic, amazonBedrock: _bedrock, openai = {}, ...others } = part.providerOptions ?? {};
  const { promptCacheBreakpoint: _breakpoint, ...signed } = openai;
  return { ...part, providerOptions: { ...others, ...(Object.keys(signed).length === 0 ? {} : { openai: signed }) } };
}

/**
 * Returns three first marks as fields that a target may drop: in lists of messages or items, in a call without text,
 * and in a tool.
 */
export function markedMembers(lists: Readonly<Record<string, unknown>>, tools: unknown): OptionalMember[] {
  const [first] = Object.entries(lists).flatMap(([path, list]) => firstMark(path, list));
  const [call] = Object.entries(lists).flatMap(([path, list]) => firstOfCall(path, list));
  const [tool] = firstMark('tools', tools);
  return [
    ...(first === undefined ? [] : [{ name: 'cache_marks', member: first, value: true } as const]),
    ...(call === undefined ? [] : [{ name: 'call_cache_marks', member: call, value: true } as const]),
    ...(tool === undefined ? [] : [{ name: 'tool_cache_marks', member: tool, value: true } as const]),
  ];
}

function firstMark(path: string, list: unknown): string[] {
  for (const [at, one] of (Array.isArray(list) ? list : []).entries()) {
    if (!isJsonObject(one)) continue;
    const place = `${path}[${at}]`;
    if (isMarked(cacheMark(one))) return [pathOfMark(place, one)];
    const inside = [...firstMark(`${place}.content`, one.content), ...firstMark(`${place}.output`, one.output)];
    if (inside.length > 0) return inside;
  }
  return [];
}

const pathOfMark = (place: string, one: JsonObject): string =>
  `${place}.${isJsonObject(one.cache_control) ? 'cache_control' : 'prompt_cache_breakpoint'}`;

/**
 * Returns the path of a call's mark. A chat message has the mark itself, a message of Messages its blocks. If there
 * is a text, it carries the mark.
 */
function firstOfCall(path: string, list: unknown): string[] {
  for (const [at, message] of (Array.isArray(list) ? list : []).entries()) {
    if (!isJsonObject(message) || message.role !== 'assistant' || hasText(message.content)) continue;
    const place = `${path}[${at}]`;
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
    if (calls.length > 0 && isMarked(cacheMark(message))) return [pathOfMark(place, message)];
    for (const [index, block] of blocksOf(message.content).entries()) {
      const isCall = isJsonObject(block) && block.type === 'tool_use';
      if (isCall && isMarked(cacheMark(block))) return [pathOfMark(`${place}.content[${index}]`, block)];
    }
  }
  return [];
}

const blocksOf = (content: unknown): readonly unknown[] => (Array.isArray(content) ? content : []);
const isText = (text: unknown): boolean => typeof text === 'string' && text.trim() !== '';
const hasText = (content: unknown): boolean =>
  isText(content) || blocksOf(content).some((block) => isJsonObject(block) && isText(block.text));
