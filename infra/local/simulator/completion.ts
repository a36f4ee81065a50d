// A finished answer before it is written to the wire: the same one is sent as a JSON object (here) or as chunks (frames.ts).
import { answerText } from './answer-text.ts';
import type { Call } from './call.ts';
import { countTokens, promptTokens, tokensOf } from './tokens.ts';
import { type ToolCall, toolCallsFor } from './tool-calls.ts';

export interface Choice {
  readonly content: string | null;
  /** The content as a stream cuts it, where that is not one chunk for each token. */
  readonly pieces?: readonly string[];
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
}

export interface Completion {
  readonly id: string;
  readonly createdEpochSeconds: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  /** Undefined: the provider reports none. */
  readonly usage: Readonly<Record<string, unknown>> | undefined;
}

/** A request for more than this is a mistake; OpenAI refuses it too. */
const choicesHardLimit = 128;

/** The answer to a call. What is `given` replaces that part of each choice as it is; usage is counted from what is said. */
export function complete(call: Call, given: Partial<Choice> = {}, choiceCount = call.request.n ?? 1): Completion {
  const natural: Choice =
    given.content === undefined ? naturalChoice(call) : { content: null, toolCalls: [], finishReason: 'stop' };
  const choices = Array.from({ length: Math.min(choiceCount, choicesHardLimit) }, () => ({ ...natural, ...given }));
  return {
    id: call.newId('chatcmpl-'),
    createdEpochSeconds: call.createdEpochSeconds,
    model: call.request.model,
    choices,
    usage: usageOf(call, choices),
  };
}

function naturalChoice(call: Call): Choice {
  const toolCalls = toolCallsFor(call);
  if (toolCalls.length > 0) return { content: null, toolCalls, finishReason: 'tool_calls' };
  return { ...withinLimits(call, answerText(call)), toolCalls: [] };
}

/** Ends a text before the first stop sequence and after the token limit, whichever comes first. */
function withinLimits(call: Call, text: string): { content: string; finishReason: string } {
  const { stop, max_tokens: older, max_completion_tokens: newer } = call.request;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => text.includes(sequence));
  const stopped = stops.reduce((shortest, sequence) => shortest.split(sequence, 1)[0] ?? '', text);
  const limit = newer ?? older ?? Number.POSITIVE_INFINITY;
  const tokens = tokensOf(stopped);
  if (tokens.length <= limit) return { content: stopped, finishReason: 'stop' };
  return { content: tokens.slice(0, limit).join(''), finishReason: 'length' };
}

function usageOf(call: Call, choices: readonly Choice[]): Record<string, unknown> {
  const reasoning = sum(choices, (choice) => countTokens(choice.reasoning ?? ''));
  const spoken = sum(
    choices,
    (choice) =>
      countTokens(choice.content ?? '') +
      countTokens(choice.refusal ?? '') +
      choice.toolCalls.reduce((tokens, toolCall) => tokens + countTokens(`${toolCall.name} ${toolCall.arguments}`), 0),
  );
  return usage(promptTokens(call.request), spoken + reasoning, { reasoning });
}

const sum = (choices: readonly Choice[], tokens: (choice: Choice) => number) =>
  choices.reduce((total, choice) => total + tokens(choice), 0);

/** A usage object as OpenAI writes it. */
export function usage(
  prompt: number,
  completion: number,
  details: { cached?: number; reasoning?: number; written?: number } = {},
) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: details.cached ?? 0,
      audio_tokens: 0,
      ...(details.written ? { cache_write_tokens: details.written } : {}),
    },
    completion_tokens_details: { reasoning_tokens: details.reasoning ?? 0, audio_tokens: 0 },
  };
}

export const toolCallJson = ({ id, name, arguments: text }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

/** The `chat.completion` object. */
export function completionJson(completion: Completion) {
  return {
    id: completion.id,
    object: 'chat.completion',
    created: completion.createdEpochSeconds,
    model: completion.model,
    system_fingerprint: 'fp_simulator',
    choices: completion.choices.map((choice, index) => ({
      index,
      message: {
        role: 'assistant',
        content: choice.content,
        refusal: choice.refusal ?? null,
        ...(choice.reasoning === undefined ? {} : { reasoning_content: choice.reasoning }),
        ...(choice.toolCalls.length === 0 ? {} : { tool_calls: choice.toolCalls.map(toolCallJson) }),
      },
      logprobs: null,
      finish_reason: choice.finishReason,
    })),
    ...(completion.usage === undefined ? {} : { usage: completion.usage }),
  };
}
