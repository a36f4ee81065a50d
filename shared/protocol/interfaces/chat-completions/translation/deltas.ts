// Deltas of a chat completion, as far as the gateway writes them. Types only.

/** A piece of a detail, or a whole one. */
export interface DetailDelta {
  readonly type: 'reasoning.text' | 'reasoning.encrypted';
  readonly text?: string;
  readonly data?: string;
  readonly signature?: string;
  /** Id of a tool call. */
  readonly id?: string;
  readonly format?: string;
  readonly index: number;
  readonly phase?: string;
}

export interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly DetailDelta[];
  readonly tool_calls?: readonly CallDelta[];
  readonly images?: readonly object[];
}

interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
  readonly extra_content?: object;
}
