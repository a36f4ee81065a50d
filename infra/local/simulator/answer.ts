// Declares a finished answer before a format writes it, as one JSON value or as the frames of a stream.
import { tokensOf } from './tokens.ts';

export interface SimulatedToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON text. */
  readonly arguments: string;
}

export interface Choice {
  readonly content: string | null;
  /** The content as a stream splits it, if that differs from one piece for each token. */
  readonly pieces?: readonly string[];
  readonly reasoning?: string;
  /** Whether only its provider can read a part of the reasoning. */
  readonly hasRedactedReasoning?: boolean;
  readonly refusal?: string;
  readonly toolCalls: readonly SimulatedToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter' | null;
  /** The stop sequence that ended the content. */
  readonly stopSequence?: string;
}

/**
 * Usage of an answer. Each count includes the counts that are listed after it, because cached and written tokens are
 * input.
 */
export interface TokenCounts {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly writtenForHour: number;
  readonly output: number;
  readonly reasoning: number;
  /** Whether the reasoning is not part of the output. */
  readonly isReasoningBeside?: boolean;
}

export interface SimulatedCompletion {
  readonly id: string;
  readonly createdEpochSeconds: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  /** Undefined when the provider reports none; a string for a malformed report. */
  readonly usage: TokenCounts | string | undefined;
  /** Set if the report comes with the last content of a stream, if the format permits both. */
  readonly isUsageOnContent?: boolean;
}

export interface Frame {
  /** Content of the frame. `role` precedes any output; `done` is an end marker without other content. */
  readonly carries: 'role' | 'output' | 'finish' | 'usage' | 'done' | 'other';
  /** The name of the event, if the format has names. */
  readonly event?: string;
  /** The output, as JSON. */
  readonly text: string;
}

export const tokenCounts = (input: number, output: number, more: Partial<TokenCounts> = {}): TokenCounts => ({
  ...{ input, cached: 0, written: 0, writtenForHour: 0, output, reasoning: 0 },
  ...more,
});

export const totalTokens = ({ input, output, reasoning, isReasoningBeside }: TokenCounts): number =>
  input + output + (isReasoningBeside ? reasoning : 0);

/** Returns the choice of a format that has only one choice. */
export const choiceOf = ({ choices }: SimulatedCompletion): Choice => choices[0] as Choice;

/** Returns the field `name` with the usage as `write` makes it; no field if no usage is reported. */
export function usageMember(
  name: string,
  { usage }: SimulatedCompletion,
  write: (counts: TokenCounts) => unknown,
): object {
  if (usage === undefined) return {};
  return { [name]: typeof usage === 'string' ? usage : write(usage) };
}

/** Returns the text in the pieces of a stream. */
export const piecesOf = ({ pieces, content }: Pick<Choice, 'pieces' | 'content'>): readonly string[] =>
  pieces ?? tokensOf(content ?? '');
