// Makes the answer of a simulated model, once for all formats.
import {
  type Choice,
  type SimulatedCompletion,
  type SimulatedToolCall,
  type TokenCounts,
  tokenCounts,
} from './answer.ts';
import { answerText, lastUserText } from './answer-text.ts';
import type { SimulatorCall } from './call.ts';
import type { SimulatorTool } from './model-request.ts';
import { schemaInstance } from './schema-instance.ts';
import { countTokens, promptTokens, tokensOf } from './tokens.ts';

/** Maximum number of choices; OpenAI refuses more choices too. */
const choicesHardLimit = 128;

export const thought = 'The user wants an answer. I should give a short one.';

/** Returns the answer to a call. `given` replaces parts of each choice; usage is counted from the text. */
export function complete(
  call: SimulatorCall,
  overrides: Partial<Choice> = {},
  choiceCount = call.request.choiceCount,
): SimulatedCompletion {
  const natural: Choice =
    overrides.content === undefined ? naturalChoice(call) : { content: null, toolCalls: [], finishReason: 'stop' };
  const choices = Array.from({ length: Math.min(choiceCount, choicesHardLimit) }, () => ({ ...natural, ...overrides }));
  return {
    id: call.newId(call.format.idPrefix),
    createdEpochSeconds: call.createdEpochSeconds,
    model: call.request.model,
    choices,
    usage: usageOf(call, choices),
  };
}

function naturalChoice(call: SimulatorCall): Choice {
  const reasoning = call.request.isThinking ? { reasoning: thought } : {};
  const toolCalls = toolCallsFor(call);
  if (toolCalls.length > 0) return { ...reasoning, content: null, toolCalls, finishReason: 'tool_calls' };
  return { ...reasoning, ...withinLimits(call, answerText(call)), toolCalls: [] };
}

/** Ends a text before the first stop sequence or after the token limit, whichever comes first. */
function withinLimits(
  { request }: SimulatorCall,
  text: string,
): Pick<Choice, 'content' | 'finishReason' | 'stopSequence'> {
  const { stopSequences, outputTokensMax: limit = Number.POSITIVE_INFINITY, isThinking } = request;
  const stopped = stopSequences
    .filter((stopSequence) => text.includes(stopSequence))
    .map((stopSequence) => ({ stopSequence, content: text.slice(0, text.indexOf(stopSequence)) }))
    .sort((one, other) => one.content.length - other.content.length)[0] ?? { content: text };
  const tokens = tokensOf(stopped.content);
  const budget = Math.max(0, limit - (isThinking ? countTokens(thought) : 0));
  if (tokens.length <= budget) return { ...stopped, finishReason: 'stop' };
  return { content: tokens.slice(0, budget).join(''), finishReason: 'length' };
}

function usageOf(call: SimulatorCall, choices: readonly Choice[]): TokenCounts {
  const reasoning = sum(choices, (choice) => countTokens(choice.reasoning ?? ''));
  const output = sum(
    choices,
    (choice) =>
      countTokens(choice.content ?? '') +
      countTokens(choice.refusal ?? '') +
      choice.toolCalls.reduce((tokens, toolCall) => tokens + countTokens(`${toolCall.name} ${toolCall.arguments}`), 0),
  );
  return tokenCounts(promptTokens(call.request), output + reasoning, { reasoning });
}

const sum = (choices: readonly Choice[], tokens: (choice: Choice) => number) =>
  choices.reduce((total, choice) => total + tokens(choice), 0);

// Decides whether the simulated model calls tools, and with which arguments.

/** Number of calls in an answer; it is two, so that clients meet parallel calls. */
const parallelCalls = 2;

/**
 * Returns the tool calls of this turn. The list is empty if the request offers no tools, forbids calls, does not ask
 * for a call, or brings results without requiring another call.
 */
function toolCallsFor(call: SimulatorCall): readonly SimulatedToolCall[] {
  const { tools, toolChoice, turns, isParallel } = call.request;
  if (tools.length === 0 || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object')
    return tools.filter(({ name }) => name === toolChoice.name).map((tool) => callOf(call, tool));
  const isRequired = toolChoice === 'required';
  const hasResults = turns.at(-1)?.role === 'tool';
  // Clients that request JSON through a tool place this tool last. It is the answer, once the other tools have been
  // called.
  if (hasResults) return isRequired ? tools.slice(-1).map((tool) => callOf(call, tool)) : [];
  if (!isRequired && call.name !== 'tools' && !asksForTool(call, tools)) return [];
  // A model that must call its only tool calls it once, because clients request JSON in this way.
  const isSingle = !isParallel || (isRequired && tools.length === 1);
  const count = isSingle ? 1 : parallelCalls;
  return Array.from({ length: count }, (_, index) => callOf(call, tools[index % tools.length] as SimulatorTool));
}

/** Returns whether a person asks for a tool, by its name or by the word "tool". */
function asksForTool(call: SimulatorCall, tools: readonly SimulatorTool[]): boolean {
  const text = lastUserText(call.request).toLowerCase();
  return /\b(tools?|functions?)\b/.test(text) || tools.some(({ name }) => text.includes(name.toLowerCase()));
}

const callOf = (call: SimulatorCall, { name, parameters }: SimulatorTool): SimulatedToolCall => ({
  id: call.newId('call_'),
  name,
  arguments: JSON.stringify(schemaInstance(parameters ?? { type: 'object' })),
});
