// Whether the simulated model calls tools, and with which arguments.
import { lastUserText } from './answer-text.ts';
import type { Call, Tool } from './call.ts';
import { schemaInstance } from './schema-instance.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Two calls, so that clients meet parallel ones. */
const parallelCalls = 2;

/** The calls of this turn: none where the request offers no tool, forbids them, does not ask, or brings results. */
export function toolCallsFor(call: Call): readonly ToolCall[] {
  const { tools, tool_choice: choice, messages } = call.request;
  if (!Array.isArray(tools) || tools.length === 0 || choice === 'none' || messages.at(-1)?.role === 'tool') return [];
  const named = typeof choice === 'object' ? choice?.function?.name : undefined;
  if (named !== undefined)
    return tools.filter((tool) => tool.function.name === named).map((tool) => callOf(call, tool));
  if (choice !== 'required' && call.name !== 'tools' && !asksForTool(call, tools)) return [];
  const count = call.request.parallel_tool_calls === false ? 1 : parallelCalls;
  return Array.from({ length: count }, (_, index) => callOf(call, tools[index % tools.length]));
}

/** A person asks for a tool by its name or by the word. */
function asksForTool(call: Call, tools: readonly Tool[]): boolean {
  const text = lastUserText(call.request).toLowerCase();
  return /\b(tools?|functions?)\b/.test(text) || tools.some((tool) => text.includes(tool.function.name.toLowerCase()));
}

const callOf = (call: Call, tool: Tool): ToolCall => ({
  id: call.newId('call_'),
  name: tool.function.name,
  arguments: JSON.stringify(schemaInstance(tool.function.parameters ?? { type: 'object' })),
});
