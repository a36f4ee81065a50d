// Batches the log lines of a process that serves many calls at once. Lines of the same moment are one write.
import type { Clock } from '../time/index.ts';

/**
 * Longest delay of a line, and the maximum number of characters that wait. The line of a call has some 1,800
 * characters.
 */
const lateMaxMs = 100;
const waitingMaxCharacters = 64 * 1024;

interface LineBatches {
  /** Adds one line, its line feed included. */
  readonly add: (line: string) => void;
  /** Writes the waiting lines at once. */
  readonly flush: () => void;
}

export function createLineBatches(clock: Clock, write: (text: string) => void): LineBatches {
  let waiting: string[] = [];
  let characters = 0;
  let cancel: (() => void) | undefined;
  const flush = () => {
    cancel?.();
    cancel = undefined;
    if (waiting.length === 0) return;
    const text = waiting.join('');
    waiting = [];
    characters = 0;
    write(text);
  };
  return {
    add(line) {
      waiting.push(line);
      characters += line.length;
      if (characters >= waitingMaxCharacters) flush();
      else cancel ??= clock.after(lateMaxMs, flush);
    },
    flush,
  };
}
