// Marks up to which a prompt is kept in the cache of its provider.
import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject } from '../../../../protocol/wire/index.ts';
import type { HubCall } from './hub-call.ts';

/** `cache_control` of a part, of a tool, or of a message, in the words of the packages that have some. */
export function cacheMark(control: unknown): { providerOptions?: SharedV4ProviderOptions } {
  if (!isJsonObject(control) || control.type !== 'ephemeral') return {};
  const ttl = typeof control.ttl === 'string' ? { ttl: control.ttl } : {};
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral', ...ttl } },
      amazonBedrock: { cachePoint: { type: 'default', ...ttl } },
    },
  };
}

/** More of them Anthropic and Bedrock refuse. */
const cacheMarksMax = 4;

interface Marked {
  readonly providerOptions?: SharedV4ProviderOptions;
}

/**
 * The call with the marks that bring most: of tools and instructions the last, which stay the same from turn to turn, and those of
 * the latest messages.
 */
export function withCacheMarksMax(call: HubCall): HubCall {
  const { prompt } = call;
  // A tool that a provider runs has no mark: it is one without.
  const tools = (call.tools ?? []) as readonly Marked[];
  const marked: readonly Marked[] = [...tools, ...prompt.flatMap((message) => [...partsOf(message), message])].filter(
    isMarked,
  );
  if (marked.length <= cacheMarksMax) return call;
  const markedTools = new Set(tools);
  const isLasting = (one: Marked) => markedTools.has(one) || ('role' in one && one.role === 'system');
  const lasting = marked.filter(isLasting);
  const later = marked.filter((one) => !isLasting(one)).slice(-(cacheMarksMax - Math.min(lasting.length, 1)));
  const kept = new Set([...lasting.slice(-(cacheMarksMax - later.length)), ...later]);
  const trim = <Part extends Marked>(part: Part): Part =>
    isMarked(part) && !kept.has(part) ? withoutMark(part) : part;
  const trimmed = prompt.map((message) =>
    message.role === 'system'
      ? trim(message)
      : ({ ...trim(message), content: partsOf(message).map(trim) } as typeof message),
  );
  return {
    ...call,
    prompt: trimmed,
    ...(call.tools === undefined ? {} : { tools: tools.map(trim) as NonNullable<HubCall['tools']> }),
  };
}

const partsOf = ({ content }: HubCall['prompt'][number]): readonly Marked[] =>
  typeof content === 'string' ? [] : content;

const isMarked = ({ providerOptions }: Marked): boolean => providerOptions?.anthropic?.cacheControl !== undefined;

function withoutMark<Part extends Marked>(part: Part): Part {
  const { anthropic: _anthropic, amazonBedrock: _bedrock, ...others } = part.providerOptions ?? {};
  return { ...part, providerOptions: others };
}
