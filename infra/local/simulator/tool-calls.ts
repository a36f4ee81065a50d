// Whether the simulated model calls tools, and with which arguments.
import type { ToolCall } from './answer.ts';
import { lastUserText } from './answer-text.ts';
import type { Call } from './call.ts';
import type { Tool } from './model-request.ts';
import { schemaInstance } from './schema-instance.ts';

/** Two calls, so that clients meet parallel ones. */
const parallelCalls = 2;

/** The calls of this turn: none where the request offers no tool, forbids them, does not ask, or brings results and leaves it open. */
export function toolCallsFor(call: Call): readonly ToolCall[] {
  const { tools, toolChoice, turns, isParallel } = call.request;
  if (tools.length === 0 || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object')
    return tools.filter(({ name }) => name === toolChoice.name).map((tool) => callOf(call, tool));
  const isRequired = toolChoice === 'required';
  const hasResults = turns.at(-1)?.role === 'tool';
  // Clients that ask for JSON by a tool put it behind the others: the answer, once these have been called.
  if (hasResults) return isRequired ? tools.slice(-1).map((tool) => callOf(call, tool)) : [];
  if (!isRequired && call.name !== 'tools' && !asksForTool(call, tools)) return [];
  // Who has to call the only tool calls it once: clients ask for JSON so.
  const isSingle = !isParallel || (isRequired && tools.length === 1);
  const count = isSingle ? 1 : parallelCalls;
  return Array.from({ length: count }, (_, index) => callOf(call, tools[index % tools.length] as Tool));
}

/** A person asks for a tool by its name or by the word. */
function asksForTool(call: Call, tools: readonly Tool[]): boolean {
  const text = lastUserText(call.request).toLowerCase();
  return /\b(tools?|functions?)\b/.test(text) || tools.some(({ name }) => text.includes(name.toLowerCase()));
}

const callOf = (call: Call, { name, parameters }: Tool): ToolCall => ({
  id: call.newId('call_'),
  name,
  arguments: JSON.stringify(schemaInstance(parameters ?? { type: 'object' })),
});
