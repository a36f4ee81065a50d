// A request to a simulated model, whatever its format.

/** Part of the conversation: a message, or one of the tool results in a message. */
export interface RequestTurn {
  /** `system`, `user`, `assistant`, `tool` (the result of a tool), or another word of the format. */
  readonly role: string;
  readonly text: string;
  readonly images?: number;
  /** JSON texts of the tool calls of an assistant. */
  readonly toolArguments?: readonly string[];
}

export interface SimulatorTool {
  readonly name: string;
  /** A JSON Schema; undefined: no parameters. */
  readonly parameters?: unknown;
}

export interface ModelRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly turns: readonly RequestTurn[];
  readonly tools: readonly SimulatorTool[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Several tool calls in one answer are welcome. */
  readonly isParallel: boolean;
  readonly outputTokensMax: number | undefined;
  readonly stopSequences: readonly string[];
  readonly choiceCount: number;
  /** The answer has to be JSON: any object, or an instance of a schema. */
  readonly output: 'text' | 'object' | { readonly schema: unknown };
  /** The request asks the model to think and to show it. */
  readonly isThinking: boolean;
}

/** A request that asks for nothing but text. */
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
