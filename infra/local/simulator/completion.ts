// What a simulated model answers: made once, whatever the format.
import { type Choice, type Completion, type TokenCounts, tokenCounts } from './answer.ts';
import { answerText } from './answer-text.ts';
import type { Call } from './call.ts';
import { countTokens, promptTokens, tokensOf } from './tokens.ts';
import { toolCallsFor } from './tool-calls.ts';

/** A request for more than this is a mistake; OpenAI refuses it too. */
const choicesHardLimit = 128;

export const thought = 'The user wants an answer. I should give a short one.';

/** The answer to a call. What is `given` replaces that part of each choice as it is; usage is counted from what is said. */
export function complete(call: Call, given: Partial<Choice> = {}, choiceCount = call.request.choiceCount): Completion {
  const natural: Choice =
    given.content === undefined ? naturalChoice(call) : { content: null, toolCalls: [], finishReason: 'stop' };
  const choices = Array.from({ length: Math.min(choiceCount, choicesHardLimit) }, () => ({ ...natural, ...given }));
  return {
    id: call.newId(call.format.idPrefix),
    createdEpochSeconds: call.createdEpochSeconds,
    model: call.request.model,
    choices,
    usage: usageOf(call, choices),
  };
}

function naturalChoice(call: Call): Choice {
  const reasoning = call.request.isThinking ? { reasoning: thought } : {};
  const toolCalls = toolCallsFor(call);
  if (toolCalls.length > 0) return { ...reasoning, content: null, toolCalls, finishReason: 'tool_calls' };
  return { ...reasoning, ...withinLimits(call, answerText(call)), toolCalls: [] };
}

/** Ends a text before the first stop sequence and after the token limit, whichever comes first. */
function withinLimits({ request }: Call, text: string): Pick<Choice, 'content' | 'finishReason' | 'stopSequence'> {
  const { stopSequences, outputTokensMax: limit = Number.POSITIVE_INFINITY, isThinking } = request;
  const stopped = stopSequences
    .filter((stopSequence) => text.includes(stopSequence))
    .map((stopSequence) => ({ stopSequence, content: text.slice(0, text.indexOf(stopSequence)) }))
    .sort((one, other) => one.content.length - other.content.length)[0] ?? { content: text };
  const tokens = tokensOf(stopped.content);
  const left = Math.max(0, limit - (isThinking ? countTokens(thought) : 0));
  if (tokens.length <= left) return { ...stopped, finishReason: 'stop' };
  return { content: tokens.slice(0, left).join(''), finishReason: 'length' };
}

function usageOf(call: Call, choices: readonly Choice[]): TokenCounts {
  const reasoning = sum(choices, (choice) => countTokens(choice.reasoning ?? ''));
  const spoken = sum(
    choices,
    (choice) =>
      countTokens(choice.content ?? '') +
      countTokens(choice.refusal ?? '') +
      choice.toolCalls.reduce((tokens, toolCall) => tokens + countTokens(`${toolCall.name} ${toolCall.arguments}`), 0),
  );
  return tokenCounts(promptTokens(call.request), spoken + reasoning, { reasoning });
}

const sum = (choices: readonly Choice[], tokens: (choice: Choice) => number) =>
  choices.reduce((total, choice) => total + tokens(choice), 0);
