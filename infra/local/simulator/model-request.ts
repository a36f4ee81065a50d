// Declares a request to a simulated model, in terms of no format.

/** A part of the conversation: a message, or one of the tool results in a message. */
export interface RequestTurn {
  /** `system`, `user`, `assistant`, `tool` (the result of a tool), or another word of the format. */
  readonly role: string;
  readonly text: string;
  readonly images?: number;
  /** Arguments of an assistant's tool calls, as JSON texts. */
  readonly toolArguments?: readonly string[];
}

export interface SimulatorTool {
  readonly name: string;
  /** A JSON Schema; undefined for a tool without parameters. */
  readonly parameters?: unknown;
}

export interface ModelRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly turns: readonly RequestTurn[];
  readonly tools: readonly SimulatorTool[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Whether an answer may have several tool calls. */
  readonly isParallel: boolean;
  readonly outputTokensMax: number | undefined;
  readonly stopSequences: readonly string[];
  readonly choiceCount: number;
  /** Kind of the answer: text, any JSON object, or an instance of a schema. */
  readonly output: 'text' | 'object' | { readonly schema: unknown };
  /** Whether the request asks the model to think and to show its thinking. */
  readonly isThinking: boolean;
}

/** A request that asks only for text. */
export const plainRequest = {
  isStream: false,
  tools: [],
  toolChoice: 'auto',
  isParallel: true,
  outputTokensMax: undefined,
  stopSequences: [],
  choiceCount: 1,
  output: 'text',
  isThinking: false,
} satisfies Partial<ModelRequest>;
