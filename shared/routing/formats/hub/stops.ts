// Ends an answer where a stop of the client comes that its provider could not be told. The provider is read to its end, so that
// what the model wrote is paid as it was reported.
import type { LanguageModelV4Content, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { HubCall, HubPart, HubResult } from './middle/index.ts';

/** More of them are refused: each is looked for in every piece of an answer. */
export const stopsMax = 64;

/** One without a character would end every answer at once: providers refuse it. */
export const withoutEmptyStops = (call: HubCall): HubCall =>
  call.stopSequences === undefined
    ? call
    : { ...call, stopSequences: call.stopSequences.filter((stop) => stop !== '') };

const ending = (stop: string, metadata: SharedV4ProviderMetadata | undefined) => ({
  finishReason: { unified: 'stop', raw: 'stop_sequence' } as const,
  providerMetadata: { ...metadata, gw: { ...metadata?.gw, stopSequence: stop } },
});

/** The stop that comes first. */
function firstStop(text: string, stops: readonly string[]): { readonly stop: string; readonly at: number } | undefined {
  let first: { stop: string; at: number } | undefined;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first === undefined || at < first.at)) first = { stop, at };
  }
  return first;
}

export function endedAtStop(result: HubResult, stops: readonly string[]): HubResult {
  const content: LanguageModelV4Content[] = [];
  for (const part of result.content) {
    const found = part.type === 'text' ? firstStop(part.text, stops) : undefined;
    if (found === undefined || part.type !== 'text') {
      content.push(part);
      continue;
    }
    if (found.at > 0) content.push({ ...part, text: part.text.slice(0, found.at) });
    return { ...result, content, ...ending(found.stop, result.providerMetadata) };
  }
  return result;
}

export interface StopWatch {
  /** The parts that go on in place of this one. */
  readonly next: (part: HubPart) => readonly HubPart[];
  /** What ends the answer where its provider breaks off behind the stop. Undefined: there was none. */
  readonly end: () => HubPart | undefined;
}

/** For one stream. */
export function watchStops(stops: readonly string[]): StopWatch {
  /** The end of a text that may be the beginning of a stop. */
  let held: { readonly id: string; readonly text: string } | undefined;
  let stopped: string | undefined;

  const flush = (): HubPart[] => {
    const parts: HubPart[] = held === undefined ? [] : [{ type: 'text-delta', id: held.id, delta: held.text }];
    held = undefined;
    return parts;
  };

  function readText(part: Extract<HubPart, { type: 'text-delta' }>): readonly HubPart[] {
    const before = held?.id === part.id ? [] : flush();
    const text = (held?.text ?? '') + part.delta;
    held = undefined;
    const found = firstStop(text, stops);
    if (found !== undefined) {
      stopped = found.stop;
      const last: HubPart[] = found.at > 0 ? [{ ...part, delta: text.slice(0, found.at) }] : [];
      return [...before, ...last, { type: 'text-end', id: part.id }];
    }
    const heldLength = beginningLength(text, stops);
    if (heldLength > 0) held = { id: part.id, text: text.slice(-heldLength) };
    const sure = text.slice(0, text.length - heldLength);
    return sure === '' ? before : [...before, { ...part, delta: sure }];
  }

  return {
    next(part) {
      if (stopped === undefined) {
        return part.type === 'text-delta' ? readText(part) : [...flush(), part];
      }
      return part.type === 'finish' ? [{ ...part, ...ending(stopped, part.providerMetadata) }] : [];
    },
    end: () => (stopped === undefined ? undefined : { type: 'finish', usage: noUsage, ...ending(stopped, undefined) }),
  };
}

const noTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const noUsage = { inputTokens: noTokens, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

/** Behind a stop its provider may break off: the answer is whole. */
export async function* partsToStop(
  stream: AsyncIterable<HubPart>,
  gavePart: () => void,
  stops: readonly string[],
): AsyncGenerator<HubPart, void, undefined> {
  const watch = watchStops(stops);
  try {
    for await (const part of stream) {
      gavePart();
      yield* watch.next(part);
    }
  } catch (error) {
    if (watch.end() === undefined) throw error;
  }
  const end = watch.end();
  if (end !== undefined) yield end;
}

/** How many characters at the end of a text are the beginning of a stop. */
function beginningLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}
