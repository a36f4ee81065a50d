// One answer as a client finally has it, in terms of no format.

export interface RecordedTurn {
  readonly text: string;
  readonly thinking: string;
  /** Calls of the client's own tools. */
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  /** `stop`, `length`, `tool-calls`, `content-filter`, or another value of the format. */
  readonly end: string;
  /** Number of tokens; cached tokens are included in those of the input. */
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
}

/** The turn of an answer, or the error in its place or after its first output. */
export type RecordedOutcome = RecordedTurn | { readonly error: string };

export type Aspect = keyof RecordedTurn | 'error';

/** Parses arguments; a text that is not JSON is returned unchanged. */
export function argsOf(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface TurnDifference {
  readonly aspect: Aspect;
  readonly expected: string;
  readonly actual: string;
}

const aspects = ['text', 'thinking', 'calls', 'end', 'tokens'] as const;

export function differences(expected: RecordedOutcome, actual: RecordedOutcome): TurnDifference[] {
  const [wantedError, found] = [expected, actual].map((outcome) => ('error' in outcome ? outcome.error : undefined));
  if (wantedError !== undefined && found !== undefined) return [];
  if ('error' in expected || 'error' in actual) {
    return [{ aspect: 'error', expected: wantedError ?? 'an answer', actual: found ?? 'an answer' }];
  }
  return aspects.flatMap((aspect) => {
    const texts = [expected, actual].map((turn) => JSON.stringify(turn[aspect]));
    const [before = '', after = ''] = texts;
    return before === after ? [] : [{ aspect, expected: before, actual: after }];
  });
}
