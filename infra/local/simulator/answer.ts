// A finished answer before a format writes it to the wire, as one JSON value or as the frames of a stream.
import { tokensOf } from './tokens.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface Choice {
  readonly content: string | null;
  /** The content as a stream cuts it, where that is not one piece for each token. */
  readonly pieces?: readonly string[];
  readonly reasoning?: string;
  /** Some of the reasoning can be read by its provider alone. */
  readonly hasRedactedReasoning?: boolean;
  readonly refusal?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter' | null;
  /** The stop sequence that ended the content. */
  readonly stopSequence?: string;
}

/** What an answer used. Each count includes those that it is followed by: cached and written ones are input. */
export interface TokenCounts {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly writtenForHour: number;
  readonly output: number;
  readonly reasoning: number;
  /** The reasoning is not part of the output. */
  readonly isReasoningBeside?: boolean;
}

export interface Completion {
  readonly id: string;
  readonly createdEpochSeconds: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  /** Undefined: the provider reports none. A string: a report that is none. */
  readonly usage: TokenCounts | string | undefined;
  /** The report comes with the last content of a stream, where the format leaves that open. */
  readonly isUsageOnContent?: boolean;
}

export interface Frame {
  /** `role`: what comes before any output. `done`: an end mark that says nothing else. */
  readonly carries: 'role' | 'output' | 'finish' | 'usage' | 'done' | 'other';
  /** The name of the event, where the format has names. */
  readonly event?: string;
  /** What is said, as JSON. */
  readonly text: string;
}

export const tokenCounts = (input: number, output: number, more: Partial<TokenCounts> = {}): TokenCounts => ({
  ...{ input, cached: 0, written: 0, writtenForHour: 0, output, reasoning: 0 },
  ...more,
});

export const totalTokens = ({ input, output, reasoning, isReasoningBeside }: TokenCounts): number =>
  input + output + (isReasoningBeside ? reasoning : 0);

/** Of a format that never has more than one answer. */
export const choiceOf = ({ choices }: Completion): Choice => choices[0] as Choice;

/** The member `name` with the usage as `write` makes it: none where none is reported. */
export function usageMember(name: string, { usage }: Completion, write: (counts: TokenCounts) => unknown): object {
  if (usage === undefined) return {};
  return { [name]: typeof usage === 'string' ? usage : write(usage) };
}

/** What is said as a stream cuts it. */
export const piecesOf = ({ pieces, content }: Pick<Choice, 'pieces' | 'content'>): readonly string[] =>
  pieces ?? tokensOf(content ?? '');
