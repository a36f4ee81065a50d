// What a behaviour knows of the request it answers.
import type { Steps } from './step.ts';

export interface Message {
  readonly role: string;
  readonly content?: string | null | readonly ContentPart[];
  readonly tool_calls?: readonly { readonly function?: { readonly name?: string; readonly arguments?: string } }[];
}

interface ContentPart {
  readonly type: string;
  readonly text?: string;
}

export interface Tool {
  readonly function: { readonly name: string; readonly parameters?: unknown };
}

/** The members of a chat completion request that the simulator looks at. Anything else may be there too. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly n?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly tools?: readonly Tool[] | null;
  readonly tool_choice?: string | { readonly function?: { readonly name?: string } } | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly response_format?: { readonly type?: string; readonly json_schema?: { readonly schema?: unknown } } | null;
}

export interface Call {
  readonly provider: string;
  /** The name of the behaviour, `slow` in `large/slow:2000`. */
  readonly name: string;
  /** What follows the name, `['3', 'rate_limit_exceeded']` in `error-after-chunks:3:rate_limit_exceeded`. */
  readonly parameters: readonly string[];
  readonly request: ChatRequest;
  readonly bodyText: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds between two chunks of a stream. */
  readonly paceMs: number;
  /** Calls with the same provider and whole model name before this one. */
  readonly earlierCalls: number;
  /** Requests on the same connection before this one. */
  readonly earlierOnConnection: number;
  readonly createdEpochSeconds: number;
  /** A fresh id, `chatcmpl-…`. */
  readonly newId: (prefix: string) => string;
}

/** Answers one call. To add one: write it, name it in its family's table, describe it in README.md. */
export type Behaviour = (call: Call) => Steps;

export type Behaviours = Readonly<Record<string, Behaviour>>;

/** The parameter at `position` as a number not below zero, or `otherwise`. */
export function numberParameter(call: Call, position: number, otherwise: number): number {
  const value = Number(call.parameters[position] ?? Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/** The first parameter that is a word, not a number. */
export const wordParameter = (call: Call): string | undefined =>
  call.parameters.find((parameter) => !/^\d*$/.test(parameter));
