// The stateful reader of a stream: what of it has finished.
import type { EventReader } from '../index.ts';
import { readStreamChunk } from './provider-answer.ts';
import { doneText } from './stream-ending.ts';

/** A stream is complete where every choice has finished, with or without its end marker. */
export function openChunkReader(choices: number): EventReader {
  const finished = new Map<number, boolean>();
  return {
    read({ text }) {
      if (text.trim() === doneText) return { kind: 'end' };
      const chunk = readStreamChunk(text);
      if (chunk === undefined) return { kind: 'unreadable' };
      const { details } = chunk;
      if (details.error !== undefined) return { kind: 'error', error: details.error };
      for (const choice of details.choices) {
        finished.set(choice.index, choice.finished || (finished.get(choice.index) ?? false));
      }
      return { kind: 'event', event: chunk };
    },
    isComplete: () => finished.size >= choices && [...finished.values()].every((isFinished) => isFinished),
  };
}
