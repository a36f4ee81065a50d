// Collects the cache marks of a call: marks of the client, marks of the operator, and no more than targets accept.
import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { cachePlaces, isJsonObject, type JsonObject } from '../wire/index.ts';
import {
  hasTtl,
  isControl,
  isMarked,
  longTtl,
  type Marked,
  markOf,
  ttlOfAnthropic,
  withMark,
  withoutMark,
} from './cache-mark.ts';
import type { HubCall } from './hub-call.ts';

type Prompt = HubCall['prompt'];

/**
 * Adds the marks that top-level fields request: `cache_control` marks the last part, and so does
 * `prompt_cache_options`, unless only marked parts count. Its lifetime applies to marks without a lifetime.
 */
export function withTopMarks(
  call: HubCall,
  { cache_control: control, prompt_cache_options: options }: JsonObject,
): HubCall {
  const { mode, ttl } = isJsonObject(options) ? options : {};
  const lasting = ttlOfAnthropic(ttl) === undefined ? call : mapMarked(call, withLongTtl);
  const marksEnd = isControl(control) || (isJsonObject(options) && mode !== 'explicit');
  if (!marksEnd) return lasting;
  const end = call.prompt.length - 1;
  const lifetime = isControl(control) ? control.ttl : ttlOfAnthropic(ttl);
  return { ...lasting, prompt: withMarksAt(lasting.prompt, [end], markOf(lifetime)) };
}

const withLongTtl = <Part extends Marked>(part: Part): Part => (hasTtl(part) ? part : withMark(part, markOf(longTtl)));

/** Adds marks at tools, instructions and both ends of the last turn, if its client sets none. */
export function withMarksOfOurs(call: HubCall): HubCall {
  if (markedIn(call).length > 0) return call;
  const { prompt, tools } = call;
  const { instructions, turn } = cachePlaces(prompt.map(({ role }) => role));
  return {
    ...call,
    prompt: withMarksAt(prompt, [instructions, ...turn], markOf()),
    ...(tools === undefined
      ? {}
      : { tools: withLast(tools, (tool) => withMark(tool as Marked, markOf()) as typeof tool) }),
  };
}

/** Marks the last part of the message, because not every package reads the mark of a message. */
const withMarksAt = (prompt: Prompt, places: readonly number[], mark: SharedV4ProviderOptions): Prompt =>
  prompt.map((message, at) => {
    if (!places.includes(at)) return message;
    if (message.role === 'system') return withMark(message, mark);
    return { ...message, content: withLast(partsOf(message), (part) => withMark(part, mark)) } as typeof message;
  });

const withLast = <Item>(items: readonly Item[], change: (item: Item) => Item): Item[] =>
  items.map((item, at) => (at === items.length - 1 ? change(item) : item));

/** Maximum number of marks. Anthropic, Bedrock and OpenAI refuse more. */
const cacheMarksMax = 4;

/**
 * Keeps the marks that save most: the last marks of tools and instructions, which stay the same from turn to turn, and
 * the marks of the latest messages.
 */
export function withCacheMarksMax(call: HubCall): HubCall {
  const marks = markedIn(call);
  if (marks.length <= cacheMarksMax) return call;
  const markedTools = new Set<unknown>(call.tools);
  const isLasting = (one: Marked) => markedTools.has(one) || ('role' in one && one.role === 'system');
  const lasting = marks.filter(isLasting);
  const later = marks.filter((one) => !isLasting(one)).slice(-(cacheMarksMax - Math.min(lasting.length, 1)));
  const markedParts = new Set([...lasting.slice(-(cacheMarksMax - later.length)), ...later]);
  return mapMarked(call, (part) => (markedParts.has(part) ? part : withoutMark(part)));
}

/** Removes all marks, for a target that refuses them. */
export const withoutCacheMarks = (call: HubCall): HubCall =>
  markedIn(call).length === 0 ? call : mapMarked(call, withoutMark);

/** Removes marks of tools, for a target without marks of tools. */
export function withoutToolMarks(call: HubCall): HubCall {
  if (call.tools === undefined) return call;
  const tools = (call.tools as readonly Marked[]).map((tool) => (isMarked(tool) ? withoutMark(tool) : tool));
  return { ...call, tools: tools as NonNullable<HubCall['tools']> };
}

/** Returns everything with a mark. A tool that a provider runs has no mark. */
const markedIn = ({ prompt, tools = [] }: HubCall): readonly Marked[] =>
  [...(tools as readonly Marked[]), ...prompt.flatMap((message) => [...partsOf(message), message])].filter(isMarked);

function mapMarked(call: HubCall, change: <Part extends Marked>(part: Part) => Part): HubCall {
  const map = <Part extends Marked>(part: Part): Part => (isMarked(part) ? change(part) : part);
  return {
    ...call,
    prompt: call.prompt.map((message) =>
      message.role === 'system'
        ? map(message)
        : ({ ...map(message), content: partsOf(message).map(map) } as typeof message),
    ),
    ...(call.tools === undefined
      ? {}
      : { tools: (call.tools as readonly Marked[]).map(map) as NonNullable<HubCall['tools']> }),
  };
}

const partsOf = ({ content }: Prompt[number]): readonly Marked[] => (typeof content === 'string' ? [] : content);
