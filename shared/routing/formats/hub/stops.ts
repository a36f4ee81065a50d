// Ends an answer at a client's stop that its provider does not support. The provider is read to its end, so that the
// model's output is paid for as reported.
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { HubCall, HubPart } from '../../../protocol/hub/index.ts';
import { createStopSearch, type StopSearch, searchStart } from './stop-search.ts';

/** Drops empty stop sequences, because they would end every answer at once, and providers refuse them. */
export const withoutEmptyStops = (call: HubCall): HubCall =>
  call.stopSequences === undefined
    ? call
    : { ...call, stopSequences: call.stopSequences.filter((stop) => stop !== '') };

const ending = (stop: string, metadata: SharedV4ProviderMetadata | undefined) => ({
  finishReason: { unified: 'stop', raw: 'stop_sequence' } as const,
  providerMetadata: { ...metadata, gw: { ...metadata?.gw, stopSequence: stop } },
});

interface Read {
  /** State after the last character that was read. */
  readonly state: number;
  /** The stop that ends first, of several the longest, if any. */
  readonly stop: string | undefined;
  /** Number of characters that were read, the stop's own included. */
  readonly length: number;
}

function readOn(search: StopSearch, from: number, text: string): Read {
  let state = from;
  for (let at = 0; at < text.length; at += 1) {
    state = search.next(state, text.charCodeAt(at));
    const stop = search.found(state);
    if (stop !== undefined) return { state, stop, length: at + 1 };
  }
  return { state, stop: undefined, length: text.length };
}

interface StopWatch {
  /** Returns the parts that replace this one. */
  readonly next: (part: HubPart) => readonly HubPart[];
  /** Returns the end of the answer if its provider breaks off after the stop; undefined when there was no stop. */
  readonly end: () => HubPart | undefined;
}

/** Watches one stream. */
export function watchStops(stops: readonly string[]): StopWatch {
  const search = createStopSearch(stops);
  /** The end of a text that may be the beginning of a stop. */
  let held: { readonly id: string; readonly text: string; readonly state: number } | undefined;
  let stopped: string | undefined;

  const flush = (): HubPart[] => {
    const parts: HubPart[] = held === undefined ? [] : [{ type: 'text-delta', id: held.id, delta: held.text }];
    held = undefined;
    return parts;
  };

  function readText(part: Extract<HubPart, { type: 'text-delta' }>): readonly HubPart[] {
    const before = held?.id === part.id ? [] : flush();
    const { text: begun, state: from } = held ?? { text: '', state: searchStart };
    held = undefined;
    const { state, stop, length } = readOn(search, from, part.delta);
    const text = begun + part.delta;
    if (stop !== undefined) {
      stopped = stop;
      const delta = text.slice(0, begun.length + length - stop.length);
      return [...before, ...(delta === '' ? [] : [{ ...part, delta }]), { type: 'text-end', id: part.id }];
    }
    const sureLength = text.length - search.beginningLength(state);
    if (sureLength < text.length) held = { id: part.id, text: text.slice(sureLength), state };
    return sureLength === 0 ? before : [...before, { ...part, delta: text.slice(0, sureLength) }];
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

/** Yields the parts. The answer is complete even if the provider breaks off after a stop sequence. */
export async function* partsToStop(
  parts: AsyncIterable<HubPart> | Iterable<HubPart>,
  partEmitted: () => void,
  stops: readonly string[],
): AsyncGenerator<HubPart, void, undefined> {
  const watch = watchStops(stops);
  try {
    for await (const part of parts) {
      partEmitted();
      for (const replaced of watch.next(part)) yield replaced;
    }
  } catch (error) {
    if (watch.end() === undefined) throw error;
  }
  const end = watch.end();
  if (end !== undefined) yield end;
}
